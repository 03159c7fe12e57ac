package executor

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/world"
)

// census is which objects of discovered types the run knows. They are fixed
// within a round, and within a run only become more: an object that is no longer
// found stays, with unknown facts, so that a condition over all objects of its
// type does not come true by its loss.
type census struct {
	known map[*model.Type][]string        // found so far, or named by the goal, in that order
	open  map[*model.Type]bool            // there may be more: the last discovery failed, or was not whole
	gone  map[*model.Type]map[string]bool // by root: known, and not found when that was last told
	told  map[*model.Type]Discovery       // what the journal was told last
	moved bool                            // the last discovery changed which there are, or whether there may be more
}

func newCensus(u *model.Universe) census {
	c := census{known: map[*model.Type][]string{}, open: map[*model.Type]bool{}, told: map[*model.Type]Discovery{}}
	for _, t := range u.Types {
		if !t.Discovered {
			continue
		}
		declared := u.Declared(t)
		for _, o := range u.Objects(t) {
			if name := u.Name(t, o); !slices.Contains(declared, name) {
				c.known[t] = append(c.known[t], name)
			}
		}
	}
	return c
}

// add takes new objects of a type in, and returns those that were not known.
func (c *census) add(u *model.Universe, t *model.Type, names []string) []string {
	had := map[string]bool{}
	for _, n := range c.known[t] {
		had[n] = true
	}
	var news []string
	for _, n := range names {
		if _, member := u.Find(t, n); !member && !had[n] {
			had[n] = true
			news = append(news, n)
		}
	}
	c.known[t] = append(c.known[t], news...)
	return news
}

// missed returns the known objects that are neither declared nor found. A
// discovery that failed, or was not whole, tells nothing new of what it did not
// find: what was gone before stays so.
func (c *census) missed(m *model.Model, f world.Found) []string {
	there := map[string]bool{}
	for _, n := range m.Declared(f.Type) {
		there[n] = true
	}
	for _, n := range f.Objects {
		there[n] = true
	}
	var out []string
	for _, n := range c.known[f.Type] {
		if !there[n] && (f.Err == "" || c.gone[f.Type.Root()][n]) {
			out = append(out, n)
		}
	}
	return out
}

// lost tells whether the atom is about an object that is no longer found.
func (c *census) lost(u *model.Universe, a model.Atom) (t *model.Type, name string, lost bool) {
	if len(c.gone) == 0 {
		return nil, "", false
	}
	for i, p := range a.Fluent.Params {
		if name = u.Name(p.Type, a.Args[i]); c.gone[p.Type.Root()][name] {
			return p.Type, name, true
		}
	}
	return nil, "", false
}

// present is an observer to which an object that is no longer found has unknown
// facts, whatever is read of it: that nothing lists it may mean anything.
type present struct {
	Observer
	run *run
}

// Observe is that of the observer, but for what is lost.
func (p present) Observe(ctx context.Context, u *model.Universe, refs []model.Ref, notBefore time.Time) []world.Reading {
	return p.run.strike(p.Observer.Observe(ctx, u, refs, notBefore))
}

// Confirm is that of the observer, but for what is lost.
func (p present) Confirm(ctx context.Context, u *model.Universe, refs []model.Ref, after time.Time) []world.Reading {
	return p.run.strike(p.Observer.Confirm(ctx, u, refs, after))
}

func (r *run) strike(readings []world.Reading) []world.Reading {
	for i := range readings {
		rd := &readings[i]
		if t, name, lost := r.objects.lost(r.u, rd.Atom); lost {
			rd.Value, rd.TooOld, rd.Note = model.Value{}, false, ""
			rd.Err = fmt.Sprintf("%s %s is not found now", t, model.Quote(model.Clip(name)))
		}
	}
	return readings
}

// withPledged knows the objects of discovered types that the record of an action
// names: it may have been written by a process that found them.
func withPledged(u *model.Universe, in lease.Intent) *model.Universe {
	var p pledge
	if json.Unmarshal(in.Data, &p) != nil {
		return u // What is wrong with it is told where it is read.
	}
	var named []model.Discovery
	if a := u.Action(p.Step.Action); a != nil && len(a.Params) == len(p.Step.Args) {
		for i, param := range a.Params {
			if u.Grows(param.Type) {
				named = append(named, model.Discovery{Type: param.Type, Objects: p.Step.Args[i : i+1]})
			}
		}
	}
	if raw, err := json.Marshal(p.Expect); err == nil {
		if found, err := u.StateObjects(raw); err == nil {
			named = append(named, found...)
		}
	}
	return u.With(named...)
}
