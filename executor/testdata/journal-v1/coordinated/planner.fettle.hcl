# Who proposes plans: first a language model, as this block plays it back, then
# the built-in search. The two replies in the recording are written by hand, and
# no language model said them: they show a plan that the validator rejects, and
# its repair once the critique has come back. README.md says how to put a real
# model in their place.

planner "replay" "main" { file = "recorded/hand-written.json" }

planner "search" "search" {}
