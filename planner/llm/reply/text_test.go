package reply_test

import "testing"

func TestPlansAsTextAreRead(t *testing.T) {
	check(t, []reading{
		{"atoms, one a line", "drain(api)\nrestart(api)", "drain(api)\nrestart(api)"},
		{"PDDL", "(drain api)\n(restart api)", "drain(api)\nrestart(api)"},
		{"PDDL in one line", "(drain api) (restart api)", "drain(api)\nrestart(api)"},
		{"a temporal plan", "0.000: (drain api) [1.0]\n1.000: (restart api) [2.0]", "drain(api)\nrestart(api)"},
		{"actions without arguments", "fit\non", "fit\non"},
		{"a numbered list", "1. drain(api)\n2) restart(api)\n3: fit\n4- readd(api)\nStep 5: on", "drain(api)\nrestart(api)\nfit\nreadd(api)\non"},
		{"bullets and emphasis", "- **drain(api)**\n* `restart(api)`\n• readd(api)", "drain(api)\nrestart(api)\nreadd(api)"},
		{"a numbered list with emphasis", "1. **drain(api)**\n2. `restart(api)`.\n**Step 3:** readd(api)", "drain(api)\nrestart(api)\nreadd(api)"},
		{"a list with explanations", "1. drain(api) - out of the balancer\n2. restart(api): frees its memory\n3. readd(api) — and back", "drain(api)\nrestart(api)\nreadd(api)\ntolerated: explanations of steps"},
		{"a list with explanations below", "The plan:\n\n1. drain(api)\n   - Takes it out.\n2. restart(api)\n   Its memory is freed.\n\n3. readd(api)\n\nDone.", "drain(api)\nrestart(api)\nreadd(api)\ntolerated: explanations of steps\ntolerated: text around the plan"},
		{"markers", "[QUERY_PLAN]\n(drain api)\n(restart api)\n[QUERY PLAN_END]", "drain(api)\nrestart(api)"},
		{"tags", "<plan>\ndrain(api)\n</plan>", "drain(api)"},
		{"a wrapper", "(plan\n  (drain api)\n  (restart api)\n)", "drain(api)\nrestart(api)\ntolerated: (plan …) around the steps"},
		{"a wrapper that closes with the last step", "(:plan (drain api)\n(restart api))", "drain(api)\nrestart(api)\ntolerated: (plan …) around the steps"},
		{"a wrapper in one line", "Plan: see below.\n(plan (drain api) (restart api))", "drain(api)\nrestart(api)\ntolerated: text around the plan\ntolerated: (plan …) around the steps"},
		{"comments", "; the plan\n(drain api) ; out\n# then\n(restart api)", "drain(api)\nrestart(api)"},
		{"prose around a list", "Here is a plan for (api):\n\ndrain(api)\nrestart(api)\n\nIt reaches the goal.", "drain(api)\nrestart(api)\ntolerated: text around the plan"},
		{"the plan written twice", "1. drain(api)\n2. restart(api)\n\nIn PDDL:\n(drain api)\n(restart api)", "drain(api)\nrestart(api)\ntolerated: the plan is written 2 times\ntolerated: text around the plan"},
		{"the plan written twice, once with explanations", "1. (drain api): so that (in_lb api) goes\n2. (restart api)\n\nIn short:\n(drain api)\n(restart api)", "drain(api)\nrestart(api)\ntolerated: the plan is written 2 times\ntolerated: text around the plan"},
		{"two fences with the same steps", "```\ndrain(api)\n```\nIn PDDL:\n```\n(drain api)\n```", "drain(api)\ntolerated: the plan is written 2 times\ntolerated: a code fence\ntolerated: text around the plan"},
		{"an intro with a numbered list", "The state:\n1. api is out\n2. db is in\n\nThe plan:\n1. drain(db)", "drain(db)\ntolerated: text around the plan"},
		{"an explanation behind the plan", "1. drain(api)\n2. restart(api)\n\nWhy:\n1. It is out.\n2. It is fresh.", "drain(api)\nrestart(api)\ntolerated: text around the plan"},
		{"words among steps, which may be actions", "fit\ndrain(api)\n\nrelease", "fit\ndrain(api)\nrelease"},
		{"words of prose around steps", "Plan:\ndrain(api)\nDone.", "drain(api)\ntolerated: text around the plan"},
		{"windows line ends", "drain(api)\r\nrestart(api)\r\n", "drain(api)\nrestart(api)"},
		{"a fence with a command, then a list", "```sh\n./lbctl drain api\n```\ndrain(api)", "drain(api)\ntolerated: text around the plan"},
		{"a quoted name", "drain('web-1 (old)')\n- restart(\"web-1 (old)\"): its memory", "drain('web-1 (old)')\nrestart('web-1 (old)')\ntolerated: explanations of steps"},
	})
}

func TestWhatCouldBeAStepIsNeverPassedOver(t *testing.T) {
	check(t, []reading{
		{"prose between steps", "drain(api)\nThen restart it.\nreadd(api)", "drain(api)\nunreadable: line 2: \"Then restart it.\" stands between steps and is none; write one whole plan, with nothing between its steps\ntolerated: text around the plan"},
		{"a second plan", "drain(api)\n\nNo, that breaks capacity. Better:\n\ndrain(db)", "drain(api)\nunreadable: line 3: \"No, that breaks capacity. Better:\" stands between steps and is none; write one whole plan, with nothing between its steps\ntolerated: text around the plan"},
		{"a second plan behind a marker", "[PLAN]\ndrain(api)\n[PLAN_END]\ndrain(db)", "drain(api)\nunreadable: line 3: \"[PLAN_END]\" stands between steps and is none; write one whole plan, with nothing between its steps"},
		{"two plans under headings", "## First\n(drain api)\n## Second\n(drain db)", "drain(api)\nunreadable: line 3: \"## Second\" stands between steps and is none; write one whole plan, with nothing between its steps"},
		{"two fences with steps that differ", "```\ndrain(api)\n```\nthen\n```\nrestart(api)\n```", "drain(api)\nunreadable: line 6: \"restart(api)\" begins a second plan that differs from the first; write one whole plan\ntolerated: a code fence"},
		{"a step in words within a numbered list", "1. drain(api)\n2. Restart it\n3. readd(api)", "drain(api)\nunreadable: line 2: \"Restart it\" is not an action; write name(arg, …)"},
		{"a step in words at the start of a numbered list", "1. First drain it\n2. restart(api)", `unreadable: line 1: "First drain it" is not an action; write name(arg, …)`},
		{"a step in words at the end of a numbered list", "1. drain(api)\n   - Out it goes.\n2. Check that all is well", "drain(api)\nunreadable: line 3: \"Check that all is well\" is not an action; write name(arg, …)"},
		{"a step in words among bullets", "- drain(api)\n- then restart it", "drain(api)\nunreadable: line 2: \"then restart it\" is not an action; write name(arg, …)"},
		{"a step in square brackets", "(drain api)\n[restart api]\n(readd api)", "drain(api)\nunreadable: line 2: \"[restart api]\" is not an action; write name(arg, …)"},
		{"a step that cannot be read, before the others", "(drain api, now!)\n\nThen:\n(restart api)", "unreadable: line 1: \"(drain api, now!)\" is not an action: a space is missing before \"!\"; write name(arg, …)\ntolerated: text around the plan"},
		{"a step that cannot be read, behind the others", "(drain api)\n\nThen:\n(restart api, now!)", "drain(api)\nunreadable: line 3: \"Then:\" stands between steps and is none; write one whole plan, with nothing between its steps\ntolerated: text around the plan"},
		{"a step behind an explanation", "1. drain(api) - then restart(api)\n2. readd(api)", "drain(api)\nunreadable: line 1: \"1. drain(api) - then restart(api)\" is more than an action; write name(arg, …) and nothing behind it"},
		{"a step cut in its midst", "(drain api)\n(restart ap", "drain(api)\nunreadable: line 2: \"(restart ap\" is not an action: a closing parenthesis is missing; write name(arg, …)"},
		{"JSON between steps", "drain(api)\n{\"note\": 1}\nrestart(api)", "drain(api)\nunreadable: line 2: \"{\\\"note\\\": 1}\" stands between steps and is none; write one whole plan, with nothing between its steps\ntolerated: text around the plan"},
		{"explanations with an action between numbered steps", "1. drain(api)\n   restart(api) would be too early.\n2. readd(api)", "drain(api)\nunreadable: line 2: \"restart(api) would be too early.\" is not an action: \"would\" follows it; write name(arg, …)"},
		{"numbers that do not go on", "1. drain(api)\nThen:\n1. restart(api)", "drain(api)\nunreadable: line 2: \"Then:\" stands between steps and is none; write one whole plan, with nothing between its steps\ntolerated: text around the plan"},
	})
}
