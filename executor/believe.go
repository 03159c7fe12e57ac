package executor

import (
	"context"
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/world"
)

// recall gives the belief fluents the values that earlier actions left, or
// their initial ones. Under the leases of a step nobody else changes those of
// its footprint until it ends.
func (r *run) recall(ctx context.Context) error {
	if !slices.ContainsFunc(r.u.Fluents, isBelief) {
		return nil
	}
	stored, err := r.Beliefs.Load(ctx)
	if err != nil {
		return err
	}
	now, err := Believed(r.u, stored)
	if err != nil {
		return err
	}
	r.beliefs = stored
	for _, f := range r.u.Fluents {
		if !isBelief(f) {
			continue
		}
		for a := range r.u.Atoms(f) {
			v := now.Get(a)
			if _, _, lost := r.objects.lost(r.u, a); lost {
				v = model.Value{}
			}
			r.learn(a, v)
		}
	}
	return nil
}

// isBelief tells whether a fluent is carried by effects, and never observed.
func isBelief(f *model.Fluent) bool { return f.Initial != nil }

// recallFor is recall where beliefs are among what is referred to.
func (r *run) recallFor(ctx context.Context, refs ...model.Ref) error {
	if !slices.ContainsFunc(refs, func(ref model.Ref) bool { return isBelief(ref.Fluent) }) {
		return nil
	}
	return r.recall(ctx)
}

// believe updates the beliefs that the action writes: known after an applied
// action, untouched where nothing was done, unknown otherwise. What is known was
// derived from what was read under the lease, and replaces nothing else.
func (g *guard) believe(ev Finished) []clientv3.Op {
	if ev.Status == string(world.Rejected) {
		return nil
	}
	of := Belief{Action: g.ref.Action, ActionID: g.ref.ActionID, Since: g.Now().UTC()}
	var ops []clientv3.Op
	for _, w := range g.expected {
		if !isBelief(w.Fluent) {
			continue
		}
		v := w.New
		if ev.Outcome != applied {
			v = model.Value{}
		}
		a := g.atom(w)
		g.learn(a, v)
		text := g.u.Text(a)
		ops = append(ops, g.Beliefs.swap(text, g.beliefs[text], g.u.Plain(w.Fluent, v), of))
	}
	return ops
}
