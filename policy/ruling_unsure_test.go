package policy

import (
	"fmt"
	"testing"
)

// TestEachCaseOfTheUnsureIsLookedAt: of several atoms any may change while the
// others do not.
func TestEachCaseOfTheUnsureIsLookedAt(t *testing.T) {
	f := revert()
	f.Step.Adds, f.Step.Unsure = []string{"a", "b", "done"}, []string{"a", "b"}
	f.Step.Deletes = []string{"b", "in_lb(db)"}
	for condition, want := range map[string][3]bool{ // denied, asked, allowed
		"len(adds) == 2":                   {true, true, false},
		"len(adds) != 2":                   {true, true, false},
		"len(adds) in 1..3":                {true, true, true},
		"len(adds) == 4":                   {},
		"'a' in adds && !('b' in adds)":    {true, true, false},
		"'b' in adds && 'b' in deletes":    {}, // It is either.
		"!('b' in adds || 'b' in deletes)": {true, true, false},
		"'done' in adds && len(adds) < 4":  {true, true, true},
	} {
		for i, effect := range []RuleEffect{EffectDeny, EffectAsk, EffectAllow} {
			if got := rulesOf(t, when("r", effect, condition)).Rule(f); (got.Effect == effect) != want[i] {
				t.Errorf("%s %s: %+v", effect, condition, got)
			}
		}
	}
}

// TestTooManyUnsureEffectsAreNoLooser: where not every case is looked at, what
// neither all nor none of them decides cannot be evaluated.
func TestTooManyUnsureEffectsAreNoLooser(t *testing.T) {
	f := revert()
	f.Step.Adds, f.Step.Unsure = nil, nil
	for i := range maxUnsure + 1 {
		f.Step.Adds = append(f.Step.Adds, fmt.Sprint("a", i))
	}
	f.Step.Unsure = f.Step.Adds
	for condition, want := range map[string][3]bool{
		"len(adds) == 3":                     {true, true, false},
		"'a0' in adds":                       {true, true, false},
		"'x' in adds":                        {}, // It looks at none of them.
		"'x' in adds || any(adds, # == 'x')": {true, true, false},
		"len(adds) < 100":                    {true, true, false},
		"action == 'revert'":                 {true, true, true},
	} {
		for i, effect := range []RuleEffect{EffectDeny, EffectAsk, EffectAllow} {
			if got := rulesOf(t, when("r", effect, condition)).Rule(f); (got.Effect == effect) != want[i] {
				t.Errorf("%s %s: %+v", effect, condition, got)
			}
		}
	}
}
