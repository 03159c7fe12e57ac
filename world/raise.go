package world

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/fettleops/fettle/model"
)

// maxKeepers bounds to how many objects a fence is raised where the keeper
// depends on a parameter that the resources do not determine.
const maxKeepers = 4096

// Raise raises the token at every actuator that keeps a fence and could write
// one of the resources, each with the resources that it could write, and each
// keeper once. It is done before observing: what is then observed can no longer
// be changed by a late act.
//
// An actuator that has seen a higher token for what is to be written gives a
// [*HigherFenceError]. A higher token for what is only read is that of another
// reader, and no reason to refuse. After
// any other error it is not known where the token was raised.
func (w *World) Raise(ctx context.Context, u *model.Universe, g model.Ground, f Fence) error {
	keepers, err := w.keepers(u, f.Resources)
	if err != nil {
		return w.sensitive.error(fmt.Errorf("raise the fence for %s: %w", u.StepText(g), err))
	}
	errs := make([]error, len(keepers))
	var group errgroup.Group
	group.SetLimit(maxQueries)
	for i, k := range keepers {
		group.Go(func() error {
			own := f
			own.Resources, own.Writes = k.resources, those(f.Writes, k.resources)
			errs[i] = w.sensitive.error(k.target.raise(ctx, w, own))
			return nil
		})
	}
	_ = group.Wait() // the functions return no error
	return errors.Join(errs...)
}

// those returns the ones of the texts that are among the others.
func those(texts, others []string) []string {
	out := []string{}
	for _, t := range texts {
		if slices.Contains(others, t) {
			out = append(out, t)
		}
	}
	return out
}

// keeper is a keeper of fences and what it could write.
type keeper struct {
	target    target
	resources []string
}

func (w *World) keepers(u *model.Universe, resources []string) ([]*keeper, error) {
	k := keepers{w: w, u: u, byKey: map[string]*keeper{}}
	for _, text := range resources {
		r := parseResource(u, text)
		for _, a := range u.Actions {
			if c := w.actions[a]; c == nil || c.fence == nil {
				continue
			}
			if err := k.add(a, r); err != nil {
				return nil, fmt.Errorf("fence of %s: %w", a.Name, err)
			}
		}
	}
	return k.order, nil
}

type keepers struct {
	w     *World
	u     *model.Universe
	byKey map[string]*keeper
	order []*keeper
}

func (k *keepers) add(a *model.Action, r resource) error {
	f := k.w.actions[a].fence
	for _, b := range bindings(k.u, a, r) {
		n := 0
		for args := range k.instances(a, f, b) {
			if n++; n > maxKeepers {
				return fmt.Errorf("%s could be written at more than %d keepers; let the fence depend on fewer parameters", r.text, maxKeepers)
			}
			t, err := f.raiser.target(k.w.ground(k.u, a.Params, args))
			if err != nil {
				return err
			}
			k.put(t, r.text)
		}
	}
	return nil
}

// instances yields the binding with every object in the places of those
// parameters on which the keeper depends and which are not bound.
func (k *keepers) instances(a *model.Action, f *fence, bound []int32) func(func([]int32) bool) {
	var free []model.Param
	var at []int
	for i, p := range a.Params {
		if bound[i] < 0 && slices.Contains(f.params, p.Name) {
			free, at = append(free, p), append(at, i)
		}
	}
	return func(yield func([]int32) bool) {
		for objects := range k.u.Instances(free) {
			args := slices.Clone(bound)
			for i, o := range objects {
				args[at[i]] = o
			}
			if !yield(args) {
				return
			}
		}
	}
}

func (k *keepers) put(t target, text string) {
	key := t.key()
	have := k.byKey[key]
	if have == nil {
		have = &keeper{target: t}
		k.byKey[key] = have
		k.order = append(k.order, have)
	}
	if !slices.Contains(have.resources, text) {
		have.resources = append(have.resources, text)
	}
}
