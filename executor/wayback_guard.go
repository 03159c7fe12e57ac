package executor

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/policy"
	"github.com/fettleops/fettle/validator"
)

// problem is what the rest of a plan is held against: the goal, or while the run
// goes back, the severity of its start.
func (r *run) problem() validator.Problem {
	if r.back != nil {
		return r.homeward(r.back.part)
	}
	p := r.towards()
	if len(r.wayless) > 0 {
		p.Rules = append(p.Rules[:len(p.Rules):len(p.Rules)], noWayRule{r, time.Now().Add(wayTime)})
	}
	return p
}

// restores tells whether a run that stops short goes back by itself.
func (r *run) restores() bool {
	return r.Policy.OnStop == policy.Restore && r.Policy.Mode != policy.Suggest
}

// wayBack refuses the step where, from the state that it is to leave, no way back
// to the severity of the start is known, unless a person approved just that.
func (g *guard) wayBack(ctx context.Context) *failure {
	if g.baseline == nil || g.ref.Restore {
		return nil
	}
	bctx, cancel := g.bounded(ctx)
	defer cancel()
	w := g.seenWay(bctx)
	if g.restores() && !g.waySeen(w.steps, w.asks) {
		w.how, w.why = NoneAtAll, "the way back ("+strings.Join(texts(w.steps), ", ")+") needs a person, and nobody approved a plan that was shown with it: "+joined(w.asks)
	}
	g.way = w.event()
	switch {
	case w.ok():
		return nil
	case len(w.asks) == 0 && g.approvedSo(g.ref.Step, g.ref.Action):
		g.way.How = ByApproval
		return nil
	}
	if end := g.cut(ctx, "a way back was looked for"); end != nil {
		return &failure{kind: "stopped", reason: end.Message, end: end}
	}
	if ctx.Err() != nil { // What was read meanwhile says nothing.
		return &failure{kind: "lease", infra: true, reason: "nothing was done: " + context.Cause(ctx).Error()}
	}
	if g.Preapproved != "" && g.ruled.lets(g.ref.Step) {
		w.why += "; a yes that is given beforehand to every plan is no approval of that: answer the question without " + g.Preapproved
	}
	g.refuseWayless(g.ref.Action)
	return &failure{kind: NoWayBack, action: g.ref.Action, key: policy.NewFailureKey(NoWayBack, g.ref.Action), reason: w.why}
}

// askedSo is what the rules say of a plan that may be carried out, nil where there
// are none.
func (r *run) askedSo(plan []model.Step) *Ruled {
	if r.ruler == nil || len(r.Policy.Rules) == 0 {
		return nil
	}
	var ground []model.Ground
	for _, st := range plan {
		g, fault := r.u.Bind(st, nil)
		if fault != nil {
			return nil
		}
		ground = append(ground, g)
	}
	ruled := r.ruler.Plan(r.state, ground)
	return &ruled
}

// lets tells whether a rule that looks at whether the step can be undone has a
// person asked about it.
func (r *Ruled) lets(step int) bool {
	if r == nil {
		return false
	}
	of := r.of(step)
	return of != nil && of.lets()
}

func (s *RuledStep) lets() bool {
	return s.Ruling.Effect == policy.EffectAsk && s.Ruling.Irreversible && s.Facts.Irreversible
}

// approvedSo tells whether a person approved the step of the plan under way, asked
// by such a rule, and told that no way back is known from the state after it.
func (r *run) approvedSo(step int, action string) bool {
	return r.ruled.lets(step) && r.approval != nil && r.approval.how == "" && slices.Contains(r.approval.why, noWayAsks+action)
}

// waysLooks is how often what a way back rests on is observed before a step.
const waysLooks = 2

// seenWay finds a way back from the state after the step that rests on nothing
// but what was observed under the step's leases. A way that rests on more has
// that observed, and is looked for again.
func (g *guard) seenWay(ctx context.Context) way {
	seen := map[string]bool{}
	for _, ref := range g.reads {
		seen[g.u.RefText(ref)] = true
	}
	for looks := 0; ; looks++ {
		w := g.wayAfter(ctx, g.state, g.ground, g.deeds)
		more := g.unseen(w.steps, seen)
		if !w.ok() || len(more) == 0 {
			return w
		}
		if looks == waysLooks {
			w.how, w.why = NoneAtAll, "what a way back rests on changes while it is looked at"
			w.steps, w.asks = nil, nil
			return w
		}
		for _, ref := range more {
			seen[g.u.RefText(ref)] = true
		}
		g.merge(g.guarding(ctx, g.set, observable(more)))
		if err := g.recallFor(ctx, more...); err != nil {
			w.how, w.why = NoneAtAll, err.Error()
			w.steps, w.asks = nil, nil
			return w
		}
	}
}

// unseen are the facts that the steps read or write, but for those that were seen.
func (r *run) unseen(steps []model.Step, seen map[string]bool) []model.Ref {
	var out []model.Ref
	for _, st := range steps {
		g, fault := r.u.Bind(st, nil)
		if fault != nil {
			continue
		}
		fp := g.Footprint(r.u)
		for _, ref := range slices.Concat(fp.Read, fp.Write) {
			if !seen[r.u.RefText(ref)] && !slices.ContainsFunc(out, func(o model.Ref) bool { return r.u.RefText(o) == r.u.RefText(ref) }) {
				out = append(out, ref)
			}
		}
	}
	return out
}

// underWay notes that the action was armed. What a person approved without a way
// back is from then on what the run may leave behind.
func (g *guard) underWay() {
	g.armed = true
	g.did(g.ref)
	g.accepted(g.way)
}

func (w *wayback) accepted(way *WayBack) {
	if way != nil && way.How == ByApproval && way.After != nil {
		w.ceiling = math.Max(w.ceiling, *way.After)
	}
}

// wayRefs are what a way back from the state after a step rests on, to be
// observed before it: the severity, the undo of the step, and the way that was
// known when it was planned.
func (r *run) wayRefs(rest []model.Step) []model.Ref {
	if r.baseline == nil || len(rest) == 0 {
		return nil
	}
	out := r.severityReads()
	steps := r.ways.of(rest[0].String())
	if undo, ok := r.undo(rest[0]); ok {
		steps = append(steps, undo)
	}
	for _, st := range steps {
		if g, fault := r.u.Bind(st, nil); fault == nil {
			fp := g.Footprint(r.u)
			out = append(append(out, fp.Read...), fp.Write...)
		}
	}
	return out
}

// noWayRule denies in a plan the steps that were refused because no way back is
// known from the state after them, so that the next plan is another.
type noWayRule struct {
	*run
	until time.Time // ways are searched; after that none is known
}

// Check denies a step that was refused so before, where no way back is known from
// here either.
func (n noWayRule) Check(step int, g model.Ground, before *model.State) (string, bool) {
	if n.back != nil || n.baseline == nil || !n.wayless[n.u.StepText(g)] {
		return "", false
	}
	if n.ruler != nil && len(n.Policy.Rules) > 0 {
		if s := n.ruler.one(n.ruler.facts(), n.ruler.step(step, g, before)); s.lets() { // A person may.
			return "", false
		}
	}
	ctx, cancel := context.WithDeadline(context.Background(), n.until)
	defer cancel()
	w := n.wayAfter(ctx, before, g, n.deeds)
	return bySeverity + w.why, !w.ok()
}
