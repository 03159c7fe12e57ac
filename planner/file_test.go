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
