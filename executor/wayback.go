package executor

import (
	"context"
	"math"
	"slices"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/validator"
)

// wayback is what a run knows of how it gets back to the severity of its start.
// The zero value is that of a run whose goal gives no severity.
type wayback struct {
	baseline *Baseline            // nil: nothing is to be got back to
	ceiling  float64              // the severity that the run may leave: that of the start, or what a person approved since
	deeds    []actedStep          // what the run did and has not taken back, the oldest first
	known    [][]model.Step       // ways that a search found, the newest first
	ways     *plannedWays         // of the plan that was looked at last
	wayless  map[string]bool      // ground actions that were refused for want of a way back
	posed    map[string]posedWays // what people were asked with, by the hash of the plan
	restored []string             // actions that took something back
	back     *goingBack           // nil: the run does not go back
	returned *goingBack           // how it did
}

// level is what is known of a severity: it lies between lo and hi.
type level struct{ lo, hi float64 }

func (l level) value() *float64 {
	if l.lo != l.hi || math.IsInf(l.lo, 0) {
		return nil
	}
	return &l.lo
}

func (l level) event() Severity {
	var s Severity
	if !math.IsInf(l.lo, 0) {
		s.Least = &l.lo
	}
	if !math.IsInf(l.hi, 0) {
		s.Most = &l.hi
	}
	return s
}

// severity is how bad a state is.
func (r *run) severity(s *model.State) level {
	env := make([]int32, max(r.Goal.Cond.Slots, len(r.GoalArgs)))
	copy(env, r.GoalArgs)
	lo, hi := r.Goal.Severity.Number(s, env)
	if math.IsNaN(lo) || math.IsNaN(hi) {
		return level{math.Inf(-1), math.Inf(1)}
	}
	return level{lo, hi}
}

// fine tells whether a state is known to be no worse than the start.
func (r *run) fine(s *model.State) bool { return r.severity(s).hi <= r.ceiling }

// aim is the condition that a way back reaches.
func (r *run) aim() *model.Cond { return atMost(r.Goal, r.ceiling) }

// backProblem is the problem of getting back from a state, by actions that could
// be taken back themselves.
func (r *run) backProblem(from *model.State) validator.Problem {
	p := r.towards()
	p.Start, p.Goal, p.GoalName = from, r.aim(), "severity <= "+model.FormatNumber(r.ceiling)
	p.Allowed = nil
	for _, a := range r.u.Actions {
		if r.allows(a) {
			p.Allowed = append(p.Allowed, a)
		}
	}
	if p.Allowed == nil {
		p.Allowed = []*model.Action{}
	}
	return p
}

// allows tells whether a way back may use the action: the goal lets it be used,
// and it can be taken back.
func (r *run) allows(a *model.Action) bool {
	return !r.Settings[a].Irreversible && (r.Goal.Actions == nil || slices.Contains(r.Goal.Actions, a))
}

// severityReads are the facts on which the severity rests.
func (r *run) severityReads() []model.Ref {
	if r.Goal.Severity == nil {
		return nil
	}
	return r.aim().Reads(r.u, r.GoalArgs)
}

// bears tells whether the action may change what the severity rests on.
func (r *run) bears(g model.Ground) bool {
	reads := r.severityReads()
	for _, w := range g.Footprint(r.u).Write {
		for _, ref := range reads {
			if overlap(w, ref) {
				return true
			}
		}
	}
	return false
}

func overlap(a, b model.Ref) bool {
	if a.Fluent != b.Fluent {
		return false
	}
	if a.Whole() || b.Whole() {
		return true
	}
	for i := range a.Args {
		if a.Args[i] != b.Args[i] {
			return false
		}
	}
	return true
}

// begin takes the severity of the run's start, once it has observed.
func (r *run) begin(ctx context.Context) error {
	if r.Goal.Severity == nil || r.baseline != nil {
		return nil
	}
	l := r.severity(r.state)
	b := Baseline{Severity: l.event(), Facts: map[string]any{}}
	for _, a := range r.atoms(r.severityReads()) {
		if len(b.Facts) == maxListed {
			b.More++
			continue
		}
		b.Facts[r.u.Text(a)] = r.u.Plain(a.Fluent, r.state.Get(a))
	}
	r.holdTo(b)
	return r.emit(ctx, SeverityTaken, b)
}

// holdTo makes a severity that of the start. Of one that lies between bounds, the
// lower counts: nothing is known to be no worse than what is not known.
func (r *run) holdTo(b Baseline) {
	r.baseline, r.ceiling = &b, math.Inf(-1)
	if b.Least != nil {
		r.ceiling = *b.Least
	}
}

// start is the severity of the start, nil where it was not known.
func (b *Baseline) start() *float64 {
	if b == nil || b.Least == nil || b.Most == nil || *b.Least != *b.Most {
		return nil
	}
	return b.Least
}
