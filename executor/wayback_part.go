package executor

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/validator"
)

// wayHome finds the way that a run goes back. Where none leads to the severity of
// the start, or one does that changes what others did, the run undoes its own part
// first.
func (r *run) wayHome(ctx context.Context) way {
	w := way{how: NoneAtAll, before: r.severity(r.state)}
	r.find(ctx, &w, r.state, r.deeds, "")
	if w.ok() && len(r.othersIn(w.steps)) == 0 {
		return w
	}
	steps := r.ownPart(r.state, r.deeds)
	if len(steps) == 0 {
		return w
	}
	asks, denied := r.wayNeeds(r.state, steps, r.deeds)
	if denied != "" {
		return w
	}
	return way{how: ByPart, steps: steps, asks: asks, before: w.before}
}

// othersIn are the steps that change what the run did not.
func (r *run) othersIn(steps []model.Step) []string {
	var ground []model.Ground
	for _, st := range steps {
		if g, fault := r.u.Bind(st, nil); fault == nil {
			ground = append(ground, g)
		}
	}
	return r.notOurs(ground, r.deeds)
}

// ownPart undoes what was done, the newest first, as far as no undo raises the
// severity; nil where that does not lower it.
func (r *run) ownPart(from *model.State, done []actedStep) []model.Step {
	t := r.trial(from)
	was, lowest := r.severity(from), 0
	for i := len(done) - 1; i >= 0; i-- {
		undo, ok := r.undo(done[i].step)
		if !ok || t.take(undo) != "" {
			continue
		}
		now := r.severity(t.s)
		if now.hi > was.hi || now.lo > was.lo {
			t.d.Revert(t.s)
			t.steps = t.steps[:len(t.steps)-1]
			continue
		}
		if now != was {
			lowest = len(t.steps)
		}
		was = now
	}
	return t.steps[:lowest]
}

// homeward is the problem of going back: to the severity of the start, or in part
// only as far as the steps lead.
func (r *run) homeward(part bool) validator.Problem {
	p := r.backProblem(r.state)
	if part {
		p.Goal, p.GoalName = model.NewCond(r.Goal.Cond.Slots, model.TrueExpr), "what the run did is undone"
	}
	return p
}

// Where what a way back rests on cannot be observed, it is looked at again: after
// the first of these times, twice as long after each look, up to the second.
const (
	sightAgain = time.Second
	sightMost  = 30 * time.Second
)

// awaitSight waits until what could not be observed is worth another look. False:
// it is not that, or there was time and patience enough.
func (r *run) awaitSight(ctx context.Context) bool {
	if !r.unsighted() || r.back.looks >= r.Policy.MaxErrors {
		return false
	}
	ctx, cancel := r.bounded(ctx)
	defer cancel()
	wait := min(sightAgain<<min(r.back.looks, 10), sightMost)
	r.back.looks++
	return pause(ctx, wait) == nil
}

// unsighted tells whether a source did not tell what the severity, or the undo of
// something that was done, rests on.
func (r *run) unsighted() bool {
	refs := r.severityReads()
	for _, d := range r.deeds {
		if undo, ok := r.undo(d.step); ok {
			if g, fault := r.u.Bind(undo, nil); fault == nil {
				refs = append(refs, g.Footprint(r.u).Read...)
			}
		}
	}
	for _, a := range r.atoms(observable(refs)) {
		if !r.state.Get(a).Known() && r.fact(a, r.Now()).Error != "" {
			return true
		}
	}
	return false
}

// sayLeft completes a reason with what the run did and did not take back, but for
// what the way back that is told undoes.
func (r *run) sayLeft(way []string) string {
	var left []string
	for i := len(r.deeds) - 1; i >= 0; i-- {
		if undo, ok := r.undo(r.deeds[i].step); ok && r.bore(r.deeds[i:i+1]) && !slices.Contains(way, undo.String()) {
			left = append(left, r.deeds[i].step.String()+" (undone by "+undo.String()+")")
		}
	}
	if len(left) == 0 {
		return ""
	}
	return "; the run did and has not taken back " + strings.Join(left, ", ")
}
