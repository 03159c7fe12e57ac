package planner

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/planner/search"
	"github.com/fettleops/fettle/validator"
)

// longPlans is a rule on plans as a whole.
func longPlans(steps []model.Step) (string, bool) {
	return "rule small_steps: no plan of more than 2 steps", len(steps) > 2
}

// TestARuleOnThePlan: what it denies is an attempt that failed, with the rule
// in its critique; it is asked about valid plans alone, and before any critic.
func TestARuleOnThePlan(t *testing.T) {
	m := says("m", proposal("fit on off on"), proposal("fit on off off on"), proposal("fit on"))
	c := &reader{opinions: []Opinion{fine}}
	limits := Limits{MaxAttempts: 3, CriticRounds: 3, PlanRule: longPlans}
	res, err := Round(t.Context(), newLamp().problem(), []Proposer{m}, limits, Unlimited{}, nil, nil, c)
	if err != nil {
		t.Fatal(err)
	}
	want := `m fail policy: plan denied by rule small_steps: no plan of more than 2 steps → ask_again
m fail precondition: step 4: off not applicable; missing lit → ask_again
m pass → done
valid by m: fit on, cost 2`
	if got := transcript(res); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if rep := res.Attempts[0].Report; rep.Valid || rep.Kind != validator.Policy || rep.Step != 0 || rep.Steps != 4 || rep.Critique != res.Attempts[0].Critique {
		t.Errorf("the report is %+v", rep)
	}
	if len(c.read) != 1 {
		t.Errorf("the critic read %d plans, want the one that is allowed", len(c.read))
	}
}

// TestARuleOnThePlanIsOneFailure: the same denial again is the same failure,
// another rule's is another.
func TestARuleOnThePlanIsOneFailure(t *testing.T) {
	reasons := []string{"rule a: no", "rule a: no", "rule b: no"}
	limits := Limits{MaxAttempts: 3, SameFailureRetries: 2, PlanRule: func([]model.Step) (string, bool) {
		r := reasons[0]
		reasons = reasons[1:]
		return r, true
	}}
	proposers := []Proposer{says("m", proposal("fit on"), proposal("fit on off on")), says("n", proposal("fit on"))}
	res, err := Round(t.Context(), newLamp().problem(), proposers, limits, Unlimited{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if res.Attempts[0].Key() != res.Attempts[1].Key() || res.Attempts[1].Key() == res.Attempts[2].Key() {
		t.Errorf("the keys are %q, %q and %q", res.Attempts[0].Key(), res.Attempts[1].Key(), res.Attempts[2].Key())
	}
	if res.Attempts[2].Proposer != "n" {
		t.Errorf("%s was asked in the place of n", res.Attempts[2].Proposer)
	}
}

// ban denies actions by a table over the step's number and whether there is
// light.
type ban map[string][2][3]bool

func (b ban) Check(step int, g model.Ground, before *model.State) (string, bool) {
	lit := 0
	if before.Get(model.Atom{Fluent: before.Universe().Fluent("lit")}).Tri() == model.True {
		lit = 1
	}
	return "rule ban: no " + g.Action.Name, b[g.Action.Name][lit][step%3]
}

// TestSearchProposesWhatRulesAllow: whatever the rules are, what the search
// proposes is accepted by the validator that asks them too.
func TestSearchProposesWhatRulesAllow(t *testing.T) {
	l := newLamp()
	rapid.Check(t, func(t *rapid.T) {
		b := ban{}
		for _, a := range l.u.Actions {
			var table [2][3]bool
			for i := range table {
				for k := range table[i] {
					table[i][k] = rapid.IntRange(0, 2).Draw(t, a.Name) == 0
				}
			}
			b[a.Name] = table
		}
		p := l.problem()
		p.Rules = []validator.Rule{b}
		res, err := Round(t.Context(), p, []Proposer{NewSearch("search", search.Options{})}, Limits{MaxAttempts: 1}, Unlimited{}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		switch res.Status {
		case Valid:
			if rep := validator.Validate(p, stepsOf(res.Plan...)); !rep.Valid {
				t.Fatal(rep.Critique)
			}
		case Denied:
			if rep := validator.Validate(p, stepsOf(res.Without...)); rep.Kind != validator.Policy || rep.Step != res.Denials[0].Step {
				t.Fatalf("the validator says %q; denied are %v", rep.Critique, res.Denials)
			}
		default:
			t.Fatalf("%s: %s", res.Status, res.Reason)
		}
	})
}
