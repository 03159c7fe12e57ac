package planner

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/fettleops/fettle/validator"
)

// TestPlanFile: a plan that was written beforehand is proposed once, and what
// is wrong with it is the validator's to say.
func TestPlanFile(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"a valid plan", "fit\non\n", "plan file pass → done\nvalid by plan file: fit on, cost 2"},
		{"a saved plan", `{"goal": "light", "steps": [{"action": "fit"}, {"action": "on", "args": []}]}`, "plan file pass → done\nvalid by plan file: fit on, cost 2"},
		{
			"an invalid one is not asked for again", "on\nfit\n",
			"plan file fail precondition: step 1: on not applicable; missing bulb → end_round\nexhausted: step 1: on not applicable; missing bulb",
		},
		{
			"a line that is no step", "fit\nthen switch it on, please\n",
			"plan file fail syntax: line 2: \"then switch it on, please\" is not an action; write name(arg, …) → end_round\n" +
				"exhausted: line 2: \"then switch it on, please\" is not an action; write name(arg, …)",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := NewFile("plan file", validator.ReadPlan(strings.NewReader(tt.text)))
			res, err := Round(t.Context(), newLamp().problem(), []Proposer{f}, Limits{MaxAttempts: 3}, Unlimited{}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := transcript(res); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestPlanFileThatCannotBeRead(t *testing.T) {
	broken := errors.New("disk is gone")
	r := io.MultiReader(strings.NewReader("fit\n"), iotest.ErrReader(broken))
	_, err := Round(t.Context(), newLamp().problem(), []Proposer{NewFile("plan file", validator.ReadPlan(r))}, Limits{MaxAttempts: 3}, Unlimited{}, nil, nil)
	if !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

// TestPlanFileIsTheSameInALaterRound: what was read once is proposed again, and
// held against what is observed by then.
func TestPlanFileIsTheSameInALaterRound(t *testing.T) {
	p := newLamp().problem()
	f := NewFile("plan file", validator.ReadPlan(strings.NewReader("on\nfit\n")))
	const want = "plan file fail precondition: step 1: on not applicable; missing bulb → end_round\nexhausted: step 1: on not applicable; missing bulb"
	for round := range 2 {
		res, err := Round(t.Context(), p, []Proposer{f}, Limits{MaxAttempts: 3}, Unlimited{}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := transcript(res); got != want {
			t.Errorf("round %d: got\n%s\nwant\n%s", round+1, got, want)
		}
	}
	broken := errors.New("disk is gone")
	f = NewFile("plan file", validator.ReadPlan(io.MultiReader(strings.NewReader("fit\n"), iotest.ErrReader(broken))))
	for range 2 {
		if _, err := f.Propose(t.Context(), Request{}); !errors.Is(err, broken) {
			t.Errorf("error %v", err)
		}
	}
}
