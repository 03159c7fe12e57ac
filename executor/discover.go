package executor

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/world"
)

// Discoverer finds out which objects there are of the types that the model
// does not list whole.
type Discoverer interface {
	Discover(ctx context.Context) []world.Found
	// LeaseNames are the names of the leases that bear on what can be planned.
	LeaseNames(u *model.Universe) []string
}

// discover asks which objects there are, at the start of a round, and records
// what is new of it.
func (r *run) discover(ctx, octx context.Context) error {
	r.objects.moved = false
	if r.Discoverer == nil {
		return nil
	}
	began := r.Now()
	found := r.Discoverer.Discover(octx)
	if r.stopped(ctx) { // What was cut tells nothing.
		return nil
	}
	events, err := r.count(found, began)
	if err != nil {
		return err
	}
	if r.ruler != nil {
		r.ruler.Universe = r.u // With what was found.
	}
	for _, d := range events {
		for _, part := range d.parts() {
			if err := r.emit(ctx, Discovered, part); err != nil {
				return err
			}
		}
	}
	return nil
}

// count takes what was found into the census, and returns what the journal does
// not know of it yet.
func (r *run) count(found []world.Found, began time.Time) ([]Discovery, error) {
	var events []Discovery
	open, gone := map[*model.Type]bool{}, map[*model.Type]map[string]bool{}
	grown := false
	for _, f := range found {
		d := Discovery{
			Round: r.round, Type: f.Type.Name, Objects: len(f.Objects), MS: ms(r.Now().Sub(began)),
			Source: f.Source.Query, Note: f.Note, Error: f.Err,
		}
		d.New = r.objects.add(r.u, f.Type, f.Objects)
		for _, n := range r.objects.missed(r.u.Model, f) {
			d.gone(n)
			if gone[f.Type.Root()] == nil {
				gone[f.Type.Root()] = map[string]bool{}
			}
			gone[f.Type.Root()][n] = true
		}
		grown = grown || len(d.New) > 0
		if f.Err != "" {
			open[f.Type] = true
		}
		if before, ok := r.objects.told[f.Type]; !ok || d.tells(before) {
			events = append(events, d)
		}
		r.objects.told[f.Type] = d
	}
	r.objects.moved = grown || !maps.Equal(open, r.objects.open)
	r.objects.open, r.objects.gone = open, gone
	if !r.objects.moved {
		return events, nil
	}
	return events, r.regroup()
}

// regroup makes the universe of the objects that are known now.
func (r *run) regroup() error {
	var found []model.Discovery
	for _, t := range r.u.Types {
		if t.Discovered {
			found = append(found, model.Discovery{Type: t, Objects: r.objects.known[t], Failed: r.objects.open[t]})
		}
	}
	u := model.NewUniverse(r.u.Model, found...)
	args, err := u.FindArgs(r.Goal.Name, r.Goal.Params, r.u.Names(r.Goal.Params, r.GoalArgs))
	if err != nil {
		return fmt.Errorf("the goal's objects: %w", err)
	}
	r.GoalArgs, r.Leases = args, r.Discoverer.LeaseNames(u)
	r.move(u)
	return nil
}

// move carries what is known over to another universe, whose objects may have
// other numbers.
func (v *view) move(u *model.Universe) {
	old := v.u
	v.u, v.state = u, u.NewState(false)
	for text, val := range v.told {
		name, args, err := model.ParseAtom(text)
		if err != nil {
			continue
		}
		a, err := u.FindAtom(name, args)
		if err != nil {
			continue
		}
		if o := val.Object(); o >= 0 {
			if o, ok := u.Find(a.Fluent.Type, old.Name(a.Fluent.Type, o)); ok {
				val = model.ObjectValue(o)
				v.told[text] = val
			}
		}
		v.state.Set(a, val)
	}
}

// discovered takes in the objects that the run knew before it was gone on with.
func (p *past) discovered(d Discovery) error {
	t := p.u.Type(d.Type)
	if t == nil || !t.Discovered || p.Discoverer == nil {
		return nil // The model no longer has it so.
	}
	if len(p.objects.add(p.u, t, d.New)) == 0 {
		return nil
	}
	return p.regroup()
}

// absent names a type over whose objects the condition ranges and of which none
// was found; "" where there is none such.
func absent(u *model.Universe, e *model.Expr) (note string) {
	e.Walk(func(e *model.Expr) bool {
		if note == "" && e.Over != nil && u.Open(e.Over) && len(u.Objects(e.Over)) == 0 {
			note = "found none of type " + e.Over.Name
		}
		return note == ""
	})
	return note
}
