package prompt_test

import (
	"flag"
	"os"
	"testing"

	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/planner/llm/prompt"
	"github.com/fettleops/fettle/planner/search"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestTheExamplesAreAskedAboutAsTheyWere shows whole questions, at each degree
// of feedback.
func TestTheExamplesAreAskedAboutAsTheyWere(t *testing.T) {
	for _, tt := range []struct {
		name, example string
		plans         []string
		feedback      prompt.Feedback
	}{
		{"classic", "classic", nil, prompt.First},
		{"classic-first", "classic", []string{"restart(api)", swapped}, prompt.First},
		{"coordinated-explained", "coordinated", []string{swapped}, prompt.Explained},
		{"fleet-all", "fleet", []string{"restart(api) drain(api) restart(api) drain(db) readd(api) revert(db)"}, prompt.All},
		{"fleet-binary", "fleet", []string{"drain(api)", "drain(db)", "drain(api)"}, prompt.Binary},
		{"node-reboot", "node-reboot", nil, prompt.First},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := problem(t, "../../../examples/"+tt.example)
			in := prompt.Input{Problem: p, Goal: p.U.Goals[0].Doc, Feedback: tt.feedback, MaxPlanSteps: 30}
			in.Example = prompt.MakeExample(t.Context(), p, planner.NewSearch("search", search.Options{}))
			in.Attempts = attempts(t, p, tt.plans...)
			golden(t, "testdata/"+tt.name+".golden", render(t, in))
		})
	}
}

// swapped is the shortest plan of the examples with two steps in the wrong order.
const swapped = "drain(api) restart(api) take_lock(db) drain(db) readd(api) revert(db) readd(db) release(db)"

func golden(t *testing.T, file string, p prompt.Prompt) {
	t.Helper()
	got := "SYSTEM\n\n" + p.System + "\n\nUSER\n\n" + p.User + "\n"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got:\n%s\nwant:\n%s\n(-update rewrites %s)", got, want, file)
	}
}
