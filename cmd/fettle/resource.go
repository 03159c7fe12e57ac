package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/model"
)

// resourceOf reads the KEY of the commands about leases: a ground atom, a bare
// fluent, or a name that actions lock. A name that nothing in the model uses is
// an error: a lease on it would protect from nothing.
func resourceOf(l *loaded, u *model.Universe, key string) (lease.Resource, error) {
	name, args, err := model.ParseAtom(key)
	if err != nil {
		return lease.Resource{}, fmt.Errorf("%q names no resource, which is an atom, a fluent or a name of locks: %w", key, err)
	}
	f := l.Model.Fluent(name)
	switch {
	case f == nil && !slices.Contains(lockNames(l, u), model.FormatAtom(name, args...)):
		return lease.Resource{}, unknownName("fluent or lock", key, append(fluentNames(l.Model), lockNames(l, u)...))
	case f == nil || len(args) == 0:
		return lease.ParseResource(model.FormatAtom(name, args...)), nil
	case f.Derived != nil:
		return lease.Resource{}, fmt.Errorf("%s is derived from other fluents; take a lease on one of those", name)
	}
	a, err := u.FindAtom(name, args)
	if err != nil {
		return lease.Resource{}, err
	}
	names := u.Names(f.Params, a.Args)
	for i, n := range names {
		names[i] = model.Quote(n)
	}
	return lease.Resource{Fluent: name, Instance: strings.Join(names, ", "), Exclusive: true}, nil
}

// lockNames lists the names that are no fluents and that something in the model
// takes a lease on.
func lockNames(l *loaded, u *model.Universe) []string {
	out := l.world.LeaseNames(u)
	for _, act := range l.Model.Actions {
		out = append(out, act.Locks...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
