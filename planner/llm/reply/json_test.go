package reply_test

import "testing"

func TestAnswersAreReadStrictly(t *testing.T) {
	check(t, []reading{
		{"an answer as the schema has it", both, "drain(api)\nrestart(api)"},
		{"no plan, with the reason", `{"steps": [], "no_plan": "db is locked"}`, "no plan: db is locked"},
		{"no plan, without steps", `{"no_plan": "db is locked"}`, "no plan: db is locked"},
		{"no plan, said with true", `{"steps": [], "no_plan": true}`, "no plan:"},
		{"a plan, with an empty reason", `{"steps": ["fit"], "no_plan": ""}`, "fit"},
		{"a plan, with false", `{"steps": ["fit"], "no_plan": false}`, "fit"},
		{"the empty plan", `{"steps": [], "no_plan": null}`, ""},
		{"the empty list", "[]", ""},
		{"the empty plan in PDDL", "()", ""},
		{"both a plan and none", `{"steps": ["fit"], "no_plan": "it cannot be"}`, `unreadable: line 1: "steps" and "no_plan" exclude each other; ` + answerForm},
		{"a reason of the wrong sort", `{"steps": [], "no_plan": 7}`, `unreadable: line 1: "no_plan" says why there is no plan, or is null; ` + answerForm},
		{"a reason given twice", `{"steps": [], "no_plan": "a", "no_plan": null}`, `unreadable: line 1: "no_plan" is given twice; ` + answerForm},
		{"steps given twice", `{"steps": ["fit"], "steps": ["on"]}`, "fit\nunreadable: line 1: \"steps\" is given twice; " + stepsForm},
		{"neither", `{"no_plan": null}`, `unreadable: line 1: an answer without "steps" is no plan; ` + answerForm},
		{"steps of the wrong sort", `{"steps": "drain"}`, `unreadable: line 1: "steps" is not a list; ` + stepsForm},
		{"a step of the wrong sort", "{\"steps\": [{\"action\": \"drain\", \"args\": [\"api\"]},\n 7]}", "drain(api)\nunreadable: line 2: 7 is not a step; " + stepForm},
		{"arguments by name", `{"steps": [{"action": "drain", "args": {"s": "api"}}]}`, "drain(api)"},
		{"another key with a word", `{"thought": "first drain", "steps": [{"action": "fit", "args": [], "why": "needed"}], "no_plan": null}`, "fit\ntolerated: a key \"why\", which a step does not have\ntolerated: a key \"thought\", which an answer does not have"},
		{"another key that could hold steps", `{"steps": ["fit"], "then": ["on"]}`, `unreadable: line 1: "then" has no place in an answer; ` + answerForm},
		{"a step with a key that could hold steps", "{\"steps\": [\"fit\",\n {\"action\": \"on\", \"args\": [], \"then\": [{\"action\": \"off\"}]}]}", "fit\nunreadable: line 2: \"then\" has no place in a step; " + stepForm},
		{"a list of steps", `[{"action": "fit"}, {"action": "drain", "args": ["api"]}]`, "fit\ndrain(api)"},
		{"a list of atoms", `["fit", "drain(api)"]`, "fit\ndrain(api)"},
		{"steps one a line", "{\"action\": \"fit\"}\n{\"action\": \"drain\", \"args\": [\"api\"]}", "fit\ndrain(api)"},
		{"a step in JSON beside steps as text", "1. fit\n2. drain(api)\nand {\"action\": \"on\"}", "on\nunreadable: line 3: this step stands apart from the others; " + answerForm + "\ntolerated: text around the answer"},
		{"another document", `{"plan": ["drain(api)"]}`, `unreadable: line 1: a JSON object without "steps" is no plan; ` + stepsForm},
		{"trailing commas", `{"steps": [{"action": "drain", "args": ["a,]", ], }, ], "no_plan": null, }`, "drain('a,]')\ntolerated: trailing commas"},
		{"JSON with escaped quotes", `{\"steps\": [{\"action\": \"fit\"}]}`, "fit\ntolerated: JSON within JSON"},
		{"JSON that ends too early", `{"steps": [{"action": "drain", "args": ["api"]}, {"action": "re`, "unreadable: line 1: the plan is not well-formed JSON: it ends too early; " + stepsForm},
		{"JSON that ends too early, after a list", "1. drain(api)\n2. restart(api)\n```json\n{\"steps\": [{\"action\": \"dr", "unreadable: line 4: the plan is not well-formed JSON: it ends too early; " + stepsForm},
		{"JSON that is not well-formed", `{"steps": [{"action": "drain" "args": []}]}`, `unreadable: line 1: the plan is not well-formed JSON: invalid character '"' after object key:value pair; ` + stepsForm},
		{"JSON with single quotes", "{'steps': []}", "unreadable: line 1: there is no plan in the reply; " + answerForm + `, or with why there is none in "no_plan"`},
		{"words as a list", `["fit", "on"]`, "fit\non"},
		{"a list of objects in prose", `The services are ["api", "db"].`, "unreadable: line 1: a list without actions is no plan; " + answerForm},
		{"a refusal, in a fence, that speaks of thinking", "```json\n{\"steps\": [], \"no_plan\": \"a <think> tag\"}\n```", "no plan: a <think> tag\ntolerated: thinking before the answer"},
		{"a byte order mark", "\ufeff" + drainDB, "drain(db)"},
	})
}

func TestWhatStandsAroundAnAnswerIsTolerated(t *testing.T) {
	check(t, []reading{
		{"steps in prose", "First {\"action\": \"fit\"}, and later\n{\"action\": \"drain\", \"args\": [\"api\"]}.", "fit\nunreadable: line 2: this step stands apart from the others; " + answerForm + "\ntolerated: text around the answer"},
		{"a code fence", "```json\n" + both + "\n```", "drain(api)\nrestart(api)\ntolerated: a code fence"},
		{"a code fence in prose", "Here it is:\n\n```json\n" + both + "\n```\nGood luck!", "drain(api)\nrestart(api)\ntolerated: text around the answer\ntolerated: a code fence"},
		{"a fence in one line", "```" + drainDB + "```", "drain(db)\ntolerated: a code fence"},
		{"a fence that is never closed", "```json\n" + drainDB, "drain(db)\ntolerated: a code fence"},
		{"nested fences", "````markdown\n```json\n" + drainDB + "\n```\n````", "drain(db)\ntolerated: a code fence"},
		{"a fence within a fence of its own length", "```markdown\n```json\n" + drainDB + "\n```\n```", "drain(db)\ntolerated: a code fence"},
		{"a fence of tildes", "~~~\n" + drainDB + "\n~~~", "drain(db)\ntolerated: a code fence"},
		{"several fences, the first of which does not fit", "The state:\n```json\n{\"in_lb(api)\": true}\n```\nThe plan:\n```json\n" + drainDB + "\n```", "drain(db)\ntolerated: text around the answer\ntolerated: a code fence"},
		{"several answers", "```json\n" + both + "\n```\nor\n```json\n" + drainDB + "\n```", "drain(api)\nrestart(api)\ntolerated: text around the answer\ntolerated: a code fence\ntolerated: 2 answers, of which the first that can be read is used"},
		{"an answer in prose and one in a fence", "You rejected " + drainDB + ", so:\n```json\n" + both + "\n```", "drain(api)\nrestart(api)\ntolerated: text around the answer\ntolerated: a code fence\ntolerated: 2 answers, of which the first that can be read is used"},
		{"a broken answer, then one that can be read", "```json\n{\"steps\": [{\"action\": 1}]}\n```\n```json\n" + drainDB + "\n```", "drain(db)\ntolerated: text around the answer\ntolerated: a code fence\ntolerated: 2 answers, of which the first that can be read is used"},
		{"prose around JSON", "Sure! " + drainDB + " That is all.", "drain(db)\ntolerated: text around the answer"},
		{"JSON within a string", `"{\"steps\": [{\"action\": \"fit\", \"args\": []}], \"no_plan\": null}"`, "fit\ntolerated: JSON within JSON"},
		{"JSON within a string, in prose", `The answer is "{\"steps\": [{\"action\": \"fit\"}]}".`, "fit\ntolerated: JSON within JSON\ntolerated: text around the answer"},
		{"steps within a string", `{"steps": "[{\"action\": \"fit\"}]", "no_plan": null}`, "fit\ntolerated: JSON within JSON"},
		{"thinking before the answer", "<think>\nMaybe " + both + "?\nNo.\n</think>\n" + drainDB, "drain(db)\ntolerated: thinking before the answer"},
		{"thinking without its start", "Let me see: drain(api)\n</think>\n" + drainDB, "drain(db)\ntolerated: thinking before the answer"},
		{"thinking that is never closed, with an answer at its end", "<think>I would drain(api).\n" + drainDB, "drain(db)\ntolerated: thinking before the answer"},
		{"thinking that is never closed", "<think>\ndrain(api)\nrestart(api)", "unreadable: line 1: there is no plan in the reply; " + answerForm + ", or with why there is none in \"no_plan\"\ntolerated: thinking before the answer"},
	})
}
