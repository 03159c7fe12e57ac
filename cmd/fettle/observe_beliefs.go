package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/world"
)

// beliefKind is the source of what nothing observes, as that of a reading.
const beliefKind = "belief"

// observeBeliefs reads what is believed of the fluents chosen: the values that
// the last action left in the store, with that action and when it was, or else
// the initial ones. The store is nil where there is none.
func (a *app) observeBeliefs(ctx context.Context, s *store, u *model.Universe, fluents []*model.Fluent) ([]world.Reading, error) {
	stored := map[string]executor.Belief{}
	var intents []lease.Intent
	if s != nil {
		locker := a.locker(s)
		defer locker.Close()
		var err, listed error
		stored, err = executor.Beliefs{Client: s.Client(), Keys: locker.Keys()}.Load(ctx)
		intents, listed = locker.Intents(ctx)
		if err := errors.Join(err, listed); err != nil {
			return nil, err
		}
	}
	state, err := executor.Believed(u, stored)
	if err != nil {
		return nil, err
	}
	var out []world.Reading
	for _, f := range fluents {
		for atom := range u.Atoms(f) {
			out = append(out, believed(u, atom, state.Get(atom), stored, intents))
		}
	}
	return out, nil
}

// believed is what is believed of one atom. What an action that is under way or
// in doubt may have changed is not known.
func believed(u *model.Universe, a model.Atom, v model.Value, stored map[string]executor.Belief, intents []lease.Intent) world.Reading {
	r := world.Reading{Atom: a, Value: v, Source: world.Source{Kind: beliefKind, Query: "initial"}}
	if b, ok := stored[u.Text(a)]; ok {
		r.Source.Query, r.Sampled, r.Note = b.Action, b.Since, b.ActionID
		if !v.Known() {
			r.Err, r.Note = fmt.Sprintf("whether %s took effect is unknown (%s)", b.Action, b.ActionID), ""
		}
	}
	if in, ok := executor.Doubted(u, a, intents); ok {
		r.Value, r.Note = model.Value{}, ""
		r.Err = fmt.Sprintf("%s is under way or in doubt (%s)", in.Owner.Action, in.ID)
	}
	return r
}
