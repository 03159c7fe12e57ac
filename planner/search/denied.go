package search

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fettleops/fettle/model"
)

// none says why there is no plan, once the space is exhausted: because of the
// world, or because of the rules alone.
func (s *searcher) none() (Result, error) {
	if !s.gate.denied() {
		return s.noPlan(), nil
	}
	free, err := s.withoutRules()
	if err != nil {
		return Result{}, err
	}
	free.Expanded += s.res.Expanded
	free.Evaluated += s.res.Evaluated
	if free.Status == Unsolvable || free.Status == Unobservable {
		return free, nil // Rules only take away.
	}
	deepest := 0
	if s.gate.byStep {
		if deepest = s.p.MaxSteps; deepest == 0 {
			deepest = max(enough, 2*len(free.Plan))
		}
		switch plan, outcome := s.greedy(deepest); outcome {
		case found:
			return s.solved(s.polish(plan))
		case stopped:
			return s.stopped(), nil
		}
	}
	return s.denied(free, deepest), nil
}

// enough is how long plans may be that are looked for where rules look at a
// step's number and nobody says how many steps there may be.
const enough = 100

// denied makes what was found without the rules the answer.
func (s *searcher) denied(free Result, deepest int) Result {
	free.Denials = s.gate.denials
	if free.Status == Solved {
		free.Without, free.Denials, s.gate.more = free.Plan, s.deniedOf(free.Plan), false
	}
	free.Plan, free.Cost, free.Optimal = nil, 0, false
	free.Status, free.Reason = Denied, s.whyDenied(free, deepest)
	return free
}

// withoutRules searches once more, within what the limits leave.
func (s *searcher) withoutRules() (Result, error) {
	p, o := s.p, s.o
	p.Rules, o.Timeout, o.Optimal = nil, 0, false
	if o.MaxNodes > 0 {
		o.MaxNodes = max(1, o.MaxNodes-s.lim.nodes)
	}
	res, err := search(s.ctx, p, o, s.effort)
	return res, errors.Unwrap(err)
}

// deniedOf returns what the rules deny of a plan, step by step.
func (s *searcher) deniedOf(plan []model.Ground) []Denial {
	var out []Denial
	state, d := s.p.Start.Clone(), &model.Delta{}
	for i, g := range plan {
		for _, r := range s.p.Rules {
			if reason, denied := r.Check(i+1, g, state); denied {
				out = append(out, Denial{Step: i + 1, Ground: g, Reason: reason})
				break
			}
		}
		_ = g.Effects(state, d) // The plan was verified.
		d.Commit(state)
	}
	return out
}

// whyDenied puts into a sentence which rules leave no plan.
func (s *searcher) whyDenied(r Result, deepest int) string {
	var named []string
	const most = 3
	for _, d := range r.Denials[:min(len(r.Denials), most)] {
		text := s.p.U.StepText(d.Ground) + " denied by " + d.Reason
		if r.Without != nil {
			text = fmt.Sprintf("step %d: %s", d.Step, text)
		}
		named = append(named, text)
	}
	list := strings.Join(named, "; ")
	if n := len(r.Denials) - most; n > 0 {
		list += fmt.Sprintf(" and %d more", n)
	} else if s.gate.more {
		list += " and more"
	}
	none := "the rules leave no plan"
	if deepest > 0 {
		none += " of at most " + steps(deepest)
	}
	switch {
	case r.Without == nil:
		return fmt.Sprintf("%s: %s; whether there is one without them is not known (%s)", none, list, r.Reason)
	case len(r.Denials) == 0: // It is longer.
		return fmt.Sprintf("%s; one of %s would reach the goal", none, steps(len(r.Without)))
	}
	return fmt.Sprintf("%s: of the %s that would reach the goal, %s", none, steps(len(r.Without)), list)
}

func steps(n int) string {
	if n == 1 {
		return "1 step"
	}
	return fmt.Sprintf("%d steps", n)
}
