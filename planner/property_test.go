package planner

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/validator"
)

// TestNoInvalidPlanLeavesItsRound: whatever proposers answer and whatever the
// limits are, a plan that the round returns is accepted by the validator, is no
// longer than allowed, and is applicable step by step to the goal; and no round
// asks more often than it may.
func TestNoInvalidPlanLeavesItsRound(t *testing.T) {
	l := newLamp()
	rapid.Check(t, func(t *rapid.T) {
		p := l.problem()
		for _, f := range l.u.Fluents {
			p.Start.Set(model.Atom{Fluent: f}, model.TriValue(rapid.SampledFrom([]model.Tri{model.False, model.Unknown, model.True}).Draw(t, f.Name)))
		}
		var proposers []Proposer
		var scripts []*script
		for range rapid.IntRange(1, 3).Draw(t, "proposers") {
			s := drawScript(t)
			scripts, proposers = append(scripts, s), append(proposers, s)
		}
		limits := Limits{
			MaxAttempts: rapid.IntRange(1, 6).Draw(t, "attempts"), SameFailureRetries: rapid.IntRange(0, 3).Draw(t, "same"),
			MaxPlanSteps: rapid.IntRange(0, 4).Draw(t, "steps"), MaxRepeats: rapid.IntRange(0, 2).Draw(t, "repeats"),
		}
		res, err := Round(t.Context(), p, proposers, limits, Unlimited{}, NewTried(), nil)
		asked := 0
		for _, s := range scripts {
			asked += len(s.asked)
		}
		if asked > limits.MaxAttempts || asked != len(res.Attempts) {
			t.Fatalf("%d questions, %d attempts, at most %d allowed", asked, len(res.Attempts), limits.MaxAttempts)
		}
		if err != nil {
			if res.Status == Valid {
				t.Fatalf("a valid plan with error %v", err)
			}
			return
		}
		checkResult(t, p, limits, res)
	})
}

func drawScript(t *rapid.T) *script {
	s := &script{name: "p"}
	if rapid.IntRange(0, 9).Draw(t, "error") == 0 {
		s.err = errors.New("no route")
	}
	for range rapid.IntRange(1, 4).Draw(t, "answers") {
		a := Proposal{
			Verdict: rapid.SampledFrom([]Verdict{HasPlan, HasPlan, HasPlan, SaysUnsolvable, SaysUnobservable, GaveUp}).Draw(t, "verdict"),
			Final:   rapid.IntRange(0, 4).Draw(t, "final") == 0,
		}
		for range rapid.IntRange(0, 5).Draw(t, "length") {
			a.Steps = append(a.Steps, model.Step{Action: rapid.SampledFrom([]string{"fit", "on", "off", "dim", "explode"}).Draw(t, "step")})
		}
		if rapid.IntRange(0, 9).Draw(t, "unreadable") == 0 {
			a.Unreadable = &validator.SyntaxError{Line: 1, Message: "prose"}
		}
		s.answers = append(s.answers, a)
	}
	return s
}

func checkResult(t *rapid.T, p validator.Problem, limits Limits, res Result) {
	switch res.Status {
	case Exhausted:
		if res.Plan != nil {
			t.Fatalf("an exhausted round has a plan: %s", planText(res.Plan))
		}
	case Valid:
		if rep := validator.Validate(p, stepsOf(res.Plan...)); !rep.Valid {
			t.Fatalf("%s: %s", planText(res.Plan), rep.Critique)
		}
		if limits.MaxPlanSteps > 0 && len(res.Plan) > limits.MaxPlanSteps {
			t.Fatalf("%d steps, at most %d allowed", len(res.Plan), limits.MaxPlanSteps)
		}
		simulate(t, p, res.Plan)
	default:
		t.Fatalf("%s without proof", res.Status)
	}
}

// simulate carries the plan out with the model alone.
func simulate(t *rapid.T, p validator.Problem, steps []model.Step) {
	s := p.Start.Clone()
	for _, st := range steps {
		g, fault := p.U.Bind(st, nil)
		if fault != nil || g.Applicable(s, nil) != model.True {
			t.Fatalf("%s in %s is not applicable", st, planText(steps))
		}
		var d model.Delta
		if fault := g.Effects(s, &d); fault != nil {
			t.Fatalf("%s: %s", st, fault.Message)
		}
		d.Commit(s)
	}
	if p.Goal.Eval(s, p.GoalArgs) != model.True {
		t.Fatalf("%s does not reach the goal", planText(steps))
	}
}
