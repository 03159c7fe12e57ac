package audit

import (
	"regexp"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/planner"
)

// attempt takes in a proposal.
func (r *run) attempt(e executor.Attempt) {
	k := [2]string{e.Planner, e.Model}
	p := r.f.planners[k]
	if p == nil {
		p = &Planner{Name: e.Planner, Model: e.Model, Failed: map[string]int{}}
		r.f.planners[k] = p
	}
	p.Attempts++
	switch planner.Outcome(e.Verdict) {
	case planner.Pass:
		p.Valid++
	case planner.NeedsPerson:
		p.Proofs++
	case planner.Error:
		p.Errors++
	default:
		p.Failed[e.Kind]++
	}
	p.Calls += e.Calls
	p.Tokens += e.Tokens
	p.CostUSD += e.CostUSD
	p.TookS.add(e.MS / 1000)
	if b := r.before; b != nil && follows(b, e) {
		p.Critiques++
		if failure(*b) != failure(e) {
			p.Used++
		}
	}
	r.before = &e
}

// follows tells whether an attempt answers the critique of the one before, as a
// round counts it.
func follows(before *executor.Attempt, e executor.Attempt) bool {
	return before.Round == e.Round && before.Attempt+1 == e.Attempt && before.Planner == e.Planner &&
		before.Verdict == string(planner.Fail) && e.Verdict != string(planner.Error)
}

// failure identifies what is wrong with a proposal, whatever its place in the
// plan.
func failure(e executor.Attempt) string {
	if e.Verdict != string(planner.Fail) {
		return ""
	}
	if e.Violation != nil {
		return string(e.Violation.Key)
	}
	return e.Kind + " " + places.ReplaceAllString(e.Critique, "")
}

// places finds the places in a critique.
var places = regexp.MustCompile(`\b(step|line) \d+: `)
