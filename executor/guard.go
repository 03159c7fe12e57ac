package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
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
	set    Settings

	began    time.Time
	held     *lease.Held
	expected []model.Write
}

// failure ends a round: a step was refused, failed or diverged. Its key tells
// whether the same failure comes back.
type failure struct {
	kind       string
	action     string // that failed, "" where none did
	key        policy.FailureKey
	reason     string
	infra      bool // an infrastructure error, not a verdict on the plan
	acted      bool
	checkpoint string // the run waits, for this reason
	escalate   string // the run ends, for this reason
}

func (r *run) newGuard(n int, g model.Ground, rest []model.Step) *guard {
	fp := g.Footprint(r.u)
	gd := &guard{
		run: r, ground: g, rest: rest, writes: fp.Write, set: r.Settings[g.Action], began: r.Now(),
		ref: StepRef{Round: r.round, Step: n, Action: r.u.StepText(g)},
	}
	gd.ref.ActionID = fmt.Sprintf("%s-%03d", r.Journal.ID(), r.actions+1)
	gd.reads = r.needed(rest)
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
	return out
}

// observable drops beliefs, which are never observed.
func observable(refs []model.Ref) []model.Ref {
	var out []model.Ref
	for _, r := range refs {
		if r.Fluent.Initial == nil {
			out = append(out, r)
		}
	}
	return out
}

// do carries the action out under guard. A nil failure means: applied, and its
// effects were seen.
func (g *guard) do(ctx context.Context) (*failure, error) {
	if f, err := g.acquire(ctx); f != nil || err != nil {
		return f, err
	}
	f, err := g.underLease(ctx)
	if err != nil || f != nil && !f.acted {
		g.letGo(ctx)
	}
	return f, err
}

func (g *guard) underLease(ctx context.Context) (*failure, error) {
	ctx, cancel := g.held.Context(ctx)
	defer cancel()
	if f := g.raise(ctx); f != nil {
		return g.refuse(ctx, f, nil, 0)
	}
	changed := g.merge(g.Observer.Observe(ctx, g.u, observable(g.reads), g.Now()))
	if f, facts, at := g.check(); f != nil {
		return g.refuse(ctx, f, facts, at)
	}
	if f, err := g.arm(ctx, changed); f != nil || err != nil {
		if err != nil {
			return nil, err
		}
		return g.refuse(ctx, f, nil, 0)
	}
	return g.actAndFinish(ctx)
}

// acquire takes the leases of the footprint, all or nothing, waiting for others
// as long as the policy allows.
func (g *guard) acquire(ctx context.Context) (*failure, error) {
	ctx, cancel := g.patience(ctx)
	defer cancel()
	want := resources(g.u, g.ground)
	event := Acquired{StepRef: g.ref}
	for _, w := range want {
		event.Resources = append(event.Resources, w.String())
	}
	told := false
	for {
		entry, err := g.Journal.Ride(StepAcquired, event)
		if err != nil {
			return nil, err
		}
		g.held, err = g.Locker.Acquire(ctx, g.owner(), want, entry.Ops()...)
		if err == nil {
			g.recorded(entry)
			return nil, nil
		}
		busy, doubt := (*lease.BusyError)(nil), (*lease.InDoubtError)(nil)
		switch {
		case errors.As(err, &doubt):
			if f, err := g.recoverFrom(ctx, doubt.Intents); f != nil || err != nil {
				return f, err
			}
			continue
		case !errors.As(err, &busy):
			f := &failure{kind: "infrastructure", reason: "leases could not be acquired: " + err.Error(), infra: true}
			return g.refuse(ctx, f, nil, 0)
		}
		if !told {
			if err := g.emit(ctx, StepWaiting, Waiting{StepRef: g.ref, Busy: busy.Error()}); err != nil {
				return nil, err
			}
			told = true
		}
		if err := g.Locker.AwaitChange(ctx, want); err != nil {
			f := &failure{kind: "busy", reason: "others hold what this step needs: " + busy.Error(), checkpoint: "busy"}
			return g.refuse(ctx, f, nil, 0)
		}
	}
}

// patience bounds waiting for others by the policy's max_wait and the deadline.
func (r *run) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	end := r.deadline()
	if w, ok := r.Policy.Wait(); ok && r.Now().Add(w).Before(end) {
		end = r.Now().Add(w)
	}
	return context.WithDeadline(ctx, end)
}

// deadline is when the run must be over.
func (r *run) deadline() time.Time { return r.started.Add(r.Policy.Deadline) }

func (g *guard) owner() lease.Owner {
	return lease.Owner{Run: g.Journal.ID(), Step: g.ref.Step, Action: g.ref.Action, Reason: "goal " + g.GoalName}
}

// resources are the leases of a footprint: exclusive what it may write and its
// locks, shared what it reads.
func resources(u *model.Universe, g model.Ground) []lease.Resource {
	fp := g.Footprint(u)
	var out []lease.Resource
	for _, r := range fp.Read {
		out = append(out, resource(u, r, false))
	}
	for _, w := range fp.Write {
		out = append(out, resource(u, w, true))
	}
	for _, l := range g.Action.Locks {
		out = append(out, lease.Resource{Fluent: l, Exclusive: true})
	}
	return out
}

func resource(u *model.Universe, r model.Ref, exclusive bool) lease.Resource {
	res := lease.Resource{Fluent: r.Fluent.Name, Exclusive: exclusive}
	names := u.Names(r.Fluent.Params, r.Args)
	for i, n := range names {
		names[i] = model.Quote(n)
	}
	res.Instance = strings.Join(names, ", ")
	return res
}

// raise raises the fence at the actuators before anything is observed.
func (g *guard) raise(ctx context.Context) *failure {
	f := world.Fence{Token: g.held.Fence(), Run: g.Journal.ID(), ActionID: g.ref.ActionID}
	for _, r := range resources(g.u, g.ground) {
		f.Resources = append(f.Resources, r.String())
	}
	err := g.Actuator.Raise(ctx, g.u, g.ground, f)
	var higher *world.HigherFenceError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &higher):
		return &failure{kind: "fence", reason: err.Error() + "; restore etcd with --bump-revision if it came from a backup"}
	}
	return &failure{kind: "infrastructure", reason: "the fence could not be raised: " + err.Error(), infra: true}
}

// check validates the rest of the plan from what was just observed.
func (g *guard) check() (*failure, []Fact, int) {
	rep := validator.Validate(g.problem(), stepSeq(g.rest))
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
	f := &failure{kind: string(rep.Kind), key: keyOf(rep), reason: renumber(rep, g.ref.Step-1)}
	return f, g.facts(rep), at
}

// arm makes the action in doubt: from here on a durable record says that it may
// have happened.
func (g *guard) arm(ctx context.Context, observed map[string]any) (*failure, error) {
	vals, blobs := values(observed)
	entry, err := g.Journal.Ride(StepArmed, Armed{StepRef: g.ref, Values: vals, Fence: g.held.Fence()}, blobs...)
	if err != nil {
		return nil, err
	}
	intent := lease.Intent{ID: g.ref.ActionID, Timeout: g.set.Timeout, Unfenced: !g.Actuator.Fenced(g.ground.Action)}
	if intent.Observed, err = json.Marshal(vals); err != nil {
		return nil, fmt.Errorf("encode what was observed: %w", err)
	}
	for _, w := range g.writes {
		intent.Writes = append(intent.Writes, resource(g.u, w, true))
	}
	if intent.Data, err = json.Marshal(g.u.Step(g.ground)); err != nil {
		return nil, fmt.Errorf("encode the action: %w", err)
	}
	if err := g.held.Arm(ctx, intent, nil, entry.Ops()); err != nil {
		return g.notArmed(ctx, err), nil
	}
	g.recorded(entry)
	return g.lastCheck(ctx)
}

// lastCheck asks our own clock, right before acting, whether the deadline
// leaves time to act. If not, the armed action is withdrawn: it was not begun.
func (g *guard) lastCheck(ctx context.Context) (*failure, error) {
	left := g.held.Remaining()
	if left >= min(g.set.Timeout, g.safe()/2) {
		return nil, nil
	}
	f := &failure{kind: "lease", infra: true, acted: true, reason: fmt.Sprintf("only %s were left on the lease, nothing was done", seconds(left))}
	g.withdraw(ctx)
	return f, nil
}

// withdraw takes the armed action back. Where that fails it stays in doubt.
func (g *guard) withdraw(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	if err := g.held.Withdraw(ctx, lease.Outcome{Result: lease.NotApplied, Note: "not begun"}); err != nil {
		g.inDoubt[g.ref.ActionID] = g.ref.Action
	}
}

func (g *guard) notArmed(ctx context.Context, err error) *failure {
	var unknown *lease.ArmUnknownError
	if errors.As(err, &unknown) && unknown.Armed != lease.No {
		g.withdraw(ctx)
	}
	return &failure{kind: "lease", infra: true, reason: "the action was not armed, nothing was done: " + err.Error()}
}

// refuse records that the step was not carried out.
func (g *guard) refuse(ctx context.Context, f *failure, facts []Fact, at int) (*failure, error) {
	f.action = g.ref.Action
	if f.key == "" {
		f.key = policy.NewFailureKey(f.kind, g.ref.Action)
	}
	ev := Refused{StepRef: g.ref, Kind: f.kind, Reason: f.reason, Facts: facts, AtStep: at, MS: ms(g.Now().Sub(g.began))}
	if g.held != nil {
		ev.Fence = g.held.Fence()
	}
	return f, g.emit(ctx, StepRefused, ev)
}

// letGo releases the leases of a step that was not carried out. Where etcd does
// not answer they expire.
func (g *guard) letGo(ctx context.Context) {
	_ = g.held.Release(context.WithoutCancel(ctx)) // What cannot be released expires.
}
