#!/bin/sh
# Plays the planner of planner.fettle.hcl on a fresh copy of the example: what a
# language model would be asked, a plan that the validator rejects, its repair
# after the critique, and the run. Fails unless all of it was seen. The replies
# are written by hand; no model is called and no key is needed.
set -eu
fettle=${FETTLE:-fettle}
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cp -R "$here" "$dir/coordinated"
cd "$dir/coordinated"
rm -rf .fettle world

say() { printf '\n== %s\n\n' "$1"; }
must() { grep -q "$1" "$2" || { echo "demo-llm: not seen: $1" >&2; exit 1; }; }

say "What a language model would be asked (the task; fettle plan --show-prompt has all of it)"
"$fettle" plan --show-prompt > prompt
sed -n '/^# The task/,/^# Objects/p' prompt | sed '$d'
must '^You write plans for fettle' prompt

say "The two recorded replies (written by hand)"
sed -n 's/^ *"text": //p' recorded/hand-written.json | cut -c 1-150 | sed 's/$/ …/'

say "The plan is rejected, the critique goes back, the next one is valid"
"$fettle" plan > found.plan 2> attempts
cat attempts found.plan
must 'step 4: drain(db) not applicable; missing capacity' attempts
must '8 steps, cost 8, valid' attempts

say "The same, run"
./incident.sh
"$fettle" run --approve > run.out || { cat run.out; exit 1; }
cat run.out
must '✗ step 4: drain(db) not applicable; missing capacity' run.out
must 'attempt 2  8 steps, cost 8, valid' run.out
must '^Succeeded: ' run.out
"$fettle" validate --plan found.plan > verdict
must '^valid: 8 steps' verdict
say "What was really done"
cut -d' ' -f1,2 world/log
