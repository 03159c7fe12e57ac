package policy

import "testing"

// TestPauses: a person is asked where pause_before says so, and nowhere else.
func TestPauses(t *testing.T) {
	for list, want := range map[string][3]bool{ // the plan, restart, drain
		`[]`: {}, `["plan"]`: {true, false, false}, `["act"]`: {false, true, true}, `["restart"]`: {false, true, false}, `["drain", "plan"]`: {true, false, true},
	} {
		p := rulesOf(t, "pause_before = "+list+"\n")
		if got := [3]bool{p.PauseBeforePlan(), p.PauseBeforeStep("restart"), p.PauseBeforeStep("drain")}; got != want {
			t.Errorf("%s: %v, want %v", list, got, want)
		}
	}
}
