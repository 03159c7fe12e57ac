package executor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/policy"
	"github.com/fettleops/fettle/validator"
	"github.com/fettleops/fettle/world"
)

// guard carries out one ground action: acquire, raise the fence, observe,
// validate the rest of the plan, arm, act, observe the effects, finish.
type guard struct {
	*run
	ref    StepRef
	ground model.Ground
	rest   []model.Step // of the plan, this step first
	reads  []model.Ref  // everything that is observed before acting
	writes []model.Ref
	want   []lease.Resource
	set    Settings

	began     time.Time
	since     time.Time // the leases are held
	held      *lease.Held
	expected  []model.Write
	skipped   bool           // nothing was left to do
	way       *WayBack       // from the state after it, where the goal gives a severity
	armed     bool           // it was begun
	deed      policy.Deed    // as all controllers count it
	settled   []lease.Intent // that were in doubt when the step began, and are resolved
	elsewhere bool           // somebody else is at one of them
}

// failure ends a round: a step was refused, failed or diverged. Its key tells
// whether the same failure comes back.
type failure struct {
	kind   string
	action string // that failed, "" where none did
	key    policy.FailureKey
	reason string
	infra  bool   // an infrastructure error, not a verdict on the plan
	spent  bool   // the lease is given back already, or is no longer ours to give
	end    *Ended // the run ends with the round; nil: it goes on
}

func (r *run) newGuard(n int, g model.Ground, rest []model.Step) *guard {
	r.guards++
	gd := &guard{
		run: r, ground: g, rest: rest, writes: g.Footprint(r.u).Write, set: r.Settings[g.Action], began: r.Now(),
		want: resources(r.u, g), reads: r.needed(rest),
		ref: StepRef{Round: r.round, Step: n, Action: r.u.StepText(g)},
	}
	gd.ref.ActionID = fmt.Sprintf("%s-%03d", r.Journal.ID(), r.guards)
	return gd
}

// needed returns what the rest of the plan and the goal read or write, once each.
func (r *run) needed(rest []model.Step) []model.Ref {
	seen := map[string]bool{}
	var out []model.Ref
	add := func(refs []model.Ref) {
		for _, ref := range refs {
			if key := r.u.RefText(ref); !seen[key] {
				seen[key] = true
				out = append(out, ref)
			}
		}
	}
	for _, st := range rest {
		if g, fault := r.u.Bind(st, nil); fault == nil {
			fp := g.Footprint(r.u)
			add(fp.Read)
			add(fp.Write)
		}
	}
	add(r.Goal.Cond.Reads(r.u, r.GoalArgs))
	add(r.wayRefs(rest))
	return out
}

// observable drops beliefs, which are never observed.
func observable(refs []model.Ref) []model.Ref {
	var out []model.Ref
	for _, r := range refs {
		if !isBelief(r.Fluent) {
			out = append(out, r)
		}
	}
	return out
}

// do carries the action out under guard. A nil failure means: applied, and its
// effects were seen, or skipped, because they were seen to hold already.
func (g *guard) do(ctx context.Context) (*failure, error) {
	if f, err := g.acquire(ctx); f != nil || err != nil {
		if g.held != nil {
			g.letGo(ctx)
		}
		return f, err
	}
	f, err := g.underLease(ctx)
	if err != nil || f != nil && !f.spent || g.skipped {
		g.letGo(ctx)
	}
	return f, err
}

func (g *guard) underLease(ctx context.Context) (*failure, error) {
	lctx, cancel := g.held.Context(ctx)
	defer cancel()
	if f := g.raise(lctx); f != nil {
		return g.refuse(ctx, f, nil, 0)
	}
	lease.Point("raised")
	g.merge(g.guarding(lctx, g.set, observable(g.reads)))
	known := g.recallFor(lctx, g.reads...)
	if f := g.tooLate(ctx, lctx); f != nil {
		return g.refuse(ctx, f, nil, 0)
	}
	if known != nil {
		f := &failure{kind: "infrastructure", infra: true, reason: "nothing was done: " + known.Error()}
		return g.refuse(ctx, f, nil, 0)
	}
	if g.holdsAlready(g.ground) { // Meanwhile: by others, or by an action that was in doubt.
		g.skipped = true
		return nil, g.run.skipped(ctx, Skipped{StepRef: g.ref, HeldMS: ms(g.Now().Sub(g.since))}, g.writes)
	}
	if f, facts, at := g.check(); f != nil {
		return g.refuse(ctx, f, facts, at)
	}
	if f := g.permitted(lctx); f != nil {
		return g.refuse(ctx, f, nil, 0)
	}
	if f := g.wayBack(lctx); f != nil {
		return g.refuse(ctx, f, nil, 0)
	}
	lease.Point("observed")
	if f, err := g.arm(lctx); f != nil || err != nil {
		if err != nil {
			return nil, err
		}
		return g.refuse(ctx, f, nil, 0)
	}
	g.underWay()
	lease.Point("checked")
	return g.actAndFinish(lctx)
}

// fenceKind is the kind of a failure because an actuator has seen a higher fence.
const fenceKind = "fence"

// raise raises the fence at the actuators before anything is observed.
func (g *guard) raise(ctx context.Context) *failure {
	err := g.raiseAt(ctx, g.ground, g.fence(g.held, g.ref.ActionID, g.want))
	var higher *world.HigherFenceError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &higher):
		return &failure{
			kind: fenceKind, reason: err.Error() + "; if etcd was restored from a backup, its revisions went back: " +
				"restore it again with --bump-revision",
		}
	}
	return &failure{kind: "infrastructure", reason: "the fence could not be raised: " + err.Error(), infra: true}
}

// raiseAt raises a fence at the actuators of an action.
func (r *run) raiseAt(ctx context.Context, g model.Ground, f world.Fence) error {
	if lease.Without(lease.Fencing) {
		return nil
	}
	return r.Actuator.Raise(ctx, r.u, g, f)
}

// fence is the token of what is held, to be raised for an action.
func (r *run) fence(held *lease.Held, id string, resources []lease.Resource) world.Fence {
	f := world.Fence{Token: held.Fence(), Run: r.Journal.ID(), ActionID: id}
	for _, res := range resources {
		f.Resources = append(f.Resources, res.String())
		if res.Exclusive {
			f.Writes = append(f.Writes, res.String())
		}
	}
	return f
}

// tooLate is the last look at whether the run may still begin an action: what
// was observed while the lease ended says nothing.
func (g *guard) tooLate(ctx, lctx context.Context) *failure {
	if end := g.cut(ctx, g.ref.Action+" was being prepared"); end != nil {
		return &failure{kind: "stopped", reason: end.Message, end: end}
	}
	if lctx.Err() != nil {
		return &failure{kind: "lease", infra: true, reason: "nothing was done: " + context.Cause(lctx).Error()}
	}
	return g.cramped()
}

// check validates the rest of the plan from what was just observed.
func (g *guard) check() (*failure, []Fact, int) {
	g.behind = g.ref.Step - 1
	rep := validator.Validate(g.problem(), stepSeq(g.rest))
	g.behind = 0
	if rep.Valid {
		d := &model.Delta{}
		g.ground.Effects(g.state, d)
		g.expected = append([]model.Write(nil), d.Writes...)
		return nil, nil, 0
	}
	at := 0
	if rep.Step > 0 {
		at = g.ref.Step + rep.Step - 1
	}
	f := &failure{kind: string(rep.Kind), action: rep.Action, key: keyOf(rep), reason: renumber(rep, g.ref.Step-1)}
	return f, g.facts(rep), at
}

// refuse records that the step was not carried out.
func (g *guard) refuse(ctx context.Context, f *failure, facts []Fact, at int) (*failure, error) {
	if f.action == "" {
		f.action = g.ref.Action
	}
	if f.key == "" {
		f.key = policy.NewFailureKey(f.kind, g.ref.Action)
	}
	vals, blobs := g.values()
	ev := Refused{
		StepRef: g.ref, Values: vals, Kind: f.kind, Reason: f.reason, Facts: facts, AtStep: at, MS: ms(g.Now().Sub(g.began)),
	}
	if g.held != nil {
		ev.Fence, ev.HeldMS = g.held.Fence(), ms(g.Now().Sub(g.since))
		err := g.held.Err()
		ev.Lost = err != nil && !errors.Is(err, lease.ErrReleased)
	}
	if err := g.emit(ctx, StepRefused, ev, blobs...); err != nil {
		return f, err
	}
	g.journalled()
	return f, nil
}

// letGo releases the leases of a step that was not carried out. Where etcd does
// not answer they expire.
func (g *guard) letGo(ctx context.Context) {
	_ = g.held.Release(context.WithoutCancel(ctx)) // What cannot be released expires.
}
