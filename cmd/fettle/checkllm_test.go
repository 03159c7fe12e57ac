package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/planner/llm/llmtest"
	"github.com/fettleops/fettle/policy"
)

// asked is a model whose plans come from a language model, with the search
// behind it.
const asked = `
type "door" { objects = ["front"] }
fluent "open" {
  params = { d = door }
  observe "exec" {
    command = ["test", "-e", "open-${d}"]
    value   = "exit_code == 0"
  }
}
action "unlock" {
  params       = { d = door }
  precondition = ["!open(d)"]
  effect { add = ["open(d)"] }
  run "exec" { command = ["touch", "open-${d}"] }
}
goal "entry" {
  doc       = "Every door is open."
  condition = ["all(door, open(#))"]
}
planner %q "main" {
  model    = "m"
  base_url = %q
  api_key  = "key"
  timeout  = "400ms"
  %s
  price {
    input  = 1
    output = 2
  }
}
policy {
  mode                 = "auto"
  max_rounds           = 2
  max_attempts         = 4
  max_actions          = 3
  max_calls            = %d
  max_cost             = 1
  max_tokens           = 100
  deadline             = "5m"
  max_repeats          = 2
  same_failure_retries = 2
  no_evidence_rounds   = 2
  max_errors           = 1
}
`

const (
	goodReply = `{"steps": [{"action": "unlock", "args": ["front"]}], "no_plan": null}`
	badReply  = `{"steps": [{"action": "unlock", "args": ["back"]}], "no_plan": null}`
)

// asking is a run with a language model: what it printed, and what the server saw.
type asking struct {
	code                    int
	said                    string
	attempts                []executor.Attempt
	calls, allowed, refused int // told by attempts; by decisions of the policy
	seen                    []llmtest.Request
}

func ask(t *testing.T, kind, attributes string, maxCalls int, script ...llmtest.Play) asking {
	t.Helper()
	server := llmtest.Start(t, script...)
	dir := t.TempDir()
	text := fmt.Sprintf(asked, kind, server.URL, attributes, maxCalls)
	if err := os.WriteFile(filepath.Join(dir, "door.fettle.hcl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := fettle(t, "run", "--approve", "-o", "jsonl", dir)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, _ := cmd.Output()
	a := asking{code: cmd.ProcessState.ExitCode(), said: errs.String(), seen: server.Seen()}
	for line := range strings.Lines(string(out)) {
		var e struct {
			Kind string          `json:"kind"`
			Data json.RawMessage `json:"data"`
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		switch e.Kind {
		case executor.AttemptMade:
			var at executor.Attempt
			must(t, json.Unmarshal(e.Data, &at))
			a.attempts = append(a.attempts, at)
			a.calls += at.Calls
		case executor.Decided:
			var d executor.Decision
			must(t, json.Unmarshal(e.Data, &d))
			switch {
			case d.Point == policy.PointCall && d.Answer == policy.Continue:
				a.allowed++
			case d.Point == policy.PointCall:
				a.refused++
			}
		}
	}
	return a
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestCheckLLM promises that for every failure of a provider, with both APIs,
// the calls that the server saw are those that the policy allowed and those that
// the journal tells, and that the run comes to its goal where it should.
func TestCheckLLM(t *testing.T) {
	t.Parallel()
	text, half := llmtest.Text(goodReply), goodReply[:len(goodReply)/2]
	for _, c := range []struct {
		name   string
		script []llmtest.Play
		code   int
		calls  int
		want   []string // attempts: planner, verdict, kind
	}{
		{"a plan", []llmtest.Play{text}, exitDone, 1, []string{"main pass"}},
		{"a bad plan, then a good one", []llmtest.Play{llmtest.Text(badReply), text}, exitDone, 2, []string{"main fail unknown_object", "main pass"}},
		{"the same bad plan", []llmtest.Play{llmtest.Text(badReply)}, exitDone, 2, []string{"main fail unknown_object", "main fail unknown_object", "search pass"}},
		{"prose", []llmtest.Play{llmtest.Text("I would open the door, if I were you."), text}, exitDone, 2, []string{"main fail syntax", "main pass"}},
		{"incomplete JSON with stop", []llmtest.Play{llmtest.Text(half), text}, exitDone, 2, []string{"main fail syntax", "main pass"}},
		{"cut by its length, however whole it looks", []llmtest.Play{llmtest.Length(goodReply), text}, exitDone, 2, []string{"main fail length", "main pass"}},
		{"no finish reason, however whole it looks", []llmtest.Play{llmtest.NoFinish(goodReply), text}, exitDone, 2, []string{"main fail cut", "main pass"}},
		{"a refusal", []llmtest.Play{llmtest.Refusal("I must not."), text}, exitDone, 2, []string{"main fail refusal", "main pass"}},
		{"an empty answer", []llmtest.Play{llmtest.NoChoices(), text}, exitDone, 2, []string{"main fail empty", "main pass"}},
		{"a page with status 200", []llmtest.Play{llmtest.Page(200), text}, exitDone, 2, []string{"main fail not_an_answer", "main pass"}},
		{"no plan, it says", []llmtest.Play{llmtest.Text(`{"steps": [], "no_plan": "the door is stuck"}`), text}, exitDone, 2, []string{"main fail no_plan", "main pass"}},
		{"429, then a plan", []llmtest.Play{llmtest.Status(429, "1"), text}, exitDone, 2, []string{"main pass"}},
		{"429 for long", []llmtest.Play{llmtest.Status(429, "600")}, exitDone, 1, []string{"main error error", "search pass"}},
		{"500", []llmtest.Play{llmtest.Status(500, "")}, exitDone, 3, []string{"main error error", "search pass"}},
		{"no answer in time", []llmtest.Play{llmtest.Hang()}, exitDone, 3, []string{"main error error", "search pass"}},
		{"resets", []llmtest.Play{llmtest.Reset()}, exitDone, 3, []string{"main error error", "search pass"}},
		{"cut in its midst", []llmtest.Play{llmtest.Cut(half)}, exitDone, 3, []string{"main error error", "search pass"}},
		{"no schemas here", []llmtest.Play{llmtest.TextWithoutSchema(goodReply)}, exitDone, 2, []string{"main pass"}},
		{"400: the search is not asked in its place", []llmtest.Play{llmtest.Status(400, "")}, exitFailed, 1, []string{"main error error"}},
	} {
		for _, kind := range []string{"openai", "anthropic"} {
			t.Run(c.name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				a := ask(t, kind, "", 20, c.script...)
				var got []string
				for _, at := range a.attempts {
					got = append(got, strings.TrimSpace(at.Planner+" "+at.Verdict+" "+at.Kind))
				}
				if a.code != c.code || strings.Join(got, ", ") != strings.Join(c.want, ", ") {
					t.Errorf("exit status %d, attempts %q\nwant %d, %q\n%s", a.code, got, c.code, c.want, a.said)
				}
				if len(a.seen) != c.calls || a.calls != c.calls || a.allowed != c.calls {
					t.Errorf("the server saw %d calls, the journal tells %d, the policy allowed %d; want %d", len(a.seen), a.calls, a.allowed, c.calls)
				}
			})
		}
	}
}

// TestCallsEndWithTheBudget: a call for which the policy has no room is not made.
func TestCallsEndWithTheBudget(t *testing.T) {
	t.Parallel()
	a := ask(t, "openai", "", 1, llmtest.Text(badReply))
	if a.code != exitEscalated || len(a.seen) != 1 || a.allowed != 1 || a.refused != 1 {
		t.Errorf("exit status %d, %d calls, %d allowed, %d refused\n%s", a.code, len(a.seen), a.allowed, a.refused, a.said)
	}
}

// TestRequiredPlanner: the search does not stand in for it.
func TestRequiredPlanner(t *testing.T) {
	t.Parallel()
	a := ask(t, "openai", "required = true", 20, llmtest.Status(500, ""))
	for _, at := range a.attempts {
		if at.Planner != "main" {
			t.Errorf("%s was asked", at.Planner)
		}
	}
	if a.code != exitFailed || !strings.Contains(a.attempts[0].Critique, "HTTP 500") {
		t.Errorf("exit status %d: %+v", a.code, a.attempts)
	}
}

// TestCritiqueReachesTheModel: the second question has what was wrong with the
// first answer.
func TestCritiqueReachesTheModel(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"openai", "anthropic"} {
		a := ask(t, kind, "", 20, llmtest.Text(badReply), llmtest.Text(goodReply))
		critique, err := json.Marshal(a.attempts[0].Critique)
		must(t, err)
		if len(a.seen) != 2 || strings.Contains(a.seen[0].Prompt(), string(critique)) || !strings.Contains(a.seen[1].Prompt(), string(critique)) {
			t.Errorf("%s: %d questions, the second:\n%s", kind, len(a.seen), a.seen[len(a.seen)-1].Prompt())
		}
	}
}
