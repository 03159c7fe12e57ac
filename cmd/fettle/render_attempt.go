package main

import (
	"fmt"
	"time"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/policy"
)

// spent is what a run's calls of models have used, and may use.
type spent struct {
	planner.Usage
	maxCalls *int
	maxCost  *float64
	told     bool // all of it
	calling  bool // a call was allowed whose attempt is not told yet
}

func (r *renderer) attempt(e executor.Attempt, _ time.Time) {
	who := plain(asker(e.Planner, e.Model))
	if e.Attempt > 1 {
		who += fmt.Sprintf("  attempt %d", e.Attempt)
	}
	u := planner.Usage{Calls: e.Calls, TokensIn: e.Tokens, Cost: e.CostUSD}
	r.line("  %s  %s", pad(who, 9), r.judged(e, taken(e.MS, u)))
	for _, s := range e.Notes {
		r.line("               %s", r.p.faint(plain(s)))
	}
	r.spent.Usage, r.spent.calling = r.spent.Add(u), false
	r.spent.told = r.spent.told && e.Calls == 0
	r.idle = e.Verdict == string(planner.NeedsPerson)
	if e.Next == string(planner.AskAgain) || e.Next == string(planner.AskNext) {
		r.underway("  planning")
	}
}

// judged says what came of an attempt; what it took stands behind a plan that
// passed, and behind every call of a model.
func (r *renderer) judged(e executor.Attempt, took string) string {
	if e.Verdict == string(planner.Pass) {
		how := fmt.Sprintf("%s, cost %s, valid", count(len(e.Steps), "step"), number(e.Cost))
		if e.Optimal {
			how += ", optimal"
		}
		return how + " (" + took + ")"
	}
	what := r.p.bad("✗ ") + plain(e.Critique)
	if len(e.Steps) > 0 {
		what = count(len(e.Steps), "step") + "  " + what
	}
	if e.Calls > 0 {
		what += r.p.faint(" (" + took + ")")
	}
	return what
}

// proposed tells of lessons, which count for nothing before a person approves.
func (r *renderer) proposed(e executor.Proposed, _ time.Time) {
	if n := len(e.Lessons); n > 0 {
		r.line("  %s", r.p.faint(count(n, "lesson")+" proposed; see fettle lessons"))
	}
}

// calling takes over what was used before a call that the policy allows: what
// is shown may begin in the midst of a run.
func (r *renderer) calling(e executor.Decision) {
	if e.Point == policy.PointCall && !r.spent.calling {
		r.spent.calling, r.spent.Calls, r.spent.Cost = true, e.Progress.Calls, e.Progress.Cost
	}
}

// used tells once, after the attempts of a round, what calls of models used.
func (r *renderer) used() {
	if s := usedSoFar(r.spent.Usage, r.spent.maxCalls, r.spent.maxCost); s != "" && !r.spent.told {
		r.line("  %s", r.p.faint(s))
	}
	r.spent.told = true
}
