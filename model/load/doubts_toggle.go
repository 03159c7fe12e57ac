package load

import (
	"fmt"
	"iter"

	"github.com/fettleops/fettle/model"
)

// toggles warns of a fact that is kept by hand and follows from others: a bool
// fluent without parameters that every action adds and deletes just where it
// adds and deletes one with a parameter, and that in the model's states, and
// after each step from them, is what all of those are, or any of them. Derived
// it cannot come apart from them. A fluent that is observed is no such counter.
func (d *doubter) toggles() {
	m := d.l.Model
	ops := newToggling(m)
	var u *model.Universe
	for _, c := range m.Fluents {
		if len(c.Params) > 0 || !d.byHand(c) || !ops.both(c) {
			continue
		}
		for _, p := range m.Fluents {
			if len(p.Params) != 1 || p.Derived != nil || p.Kind != model.KindBool || !ops.alike(m, c, p) {
				continue
			}
			if u == nil {
				u = d.universe()
			}
			if what := d.follows(u, c, p); what != "" {
				d.warn(d.l.Fluents[c].DeclRange, fmt.Sprintf("Fluent %q could be derived", c.Name),
					"What adds or deletes %s does the same to it, and in this model's states it is %s. Kept by hand it goes wrong once two objects differ and one is put right. Write derive = \"%s\", and leave it to that.", p.Name, what, what)
				break
			}
		}
	}
}

// byHand tells whether a fluent's values come from effects.
func (d *doubter) byHand(f *model.Fluent) bool {
	return f.Kind == model.KindBool && f.Derived == nil && d.l.Fluents[f].Observe == nil
}

// toggling is how each action changes each bool fluent: once and always, or
// otherwise.
type toggling map[*model.Fluent]map[*model.Action]model.EffectOp

// otherwise stands for what is neither one add nor one del.
const otherwise model.EffectOp = 255

func newToggling(m *model.Model) toggling {
	t := toggling{}
	for _, a := range m.Actions {
		for i := range a.Effects {
			e := &a.Effects[i]
			if t[e.Fluent] == nil {
				t[e.Fluent] = map[*model.Action]model.EffectOp{}
			}
			_, again := t[e.Fluent][a]
			op := e.Op
			if again || op != model.Add && op != model.Del || e.When != nil || len(e.Forall) > 0 {
				op = otherwise
			}
			for _, arg := range e.Args {
				if arg.Op != model.OpSlot {
					op = otherwise
				}
			}
			t[e.Fluent][a] = op
		}
	}
	return t
}

// both tells whether a fluent is added and deleted, and nothing else.
func (t toggling) both(f *model.Fluent) bool {
	seen := map[model.EffectOp]bool{}
	for _, op := range t[f] {
		seen[op] = true
	}
	return len(seen) == 2 && !seen[otherwise]
}

// alike tells whether every action does the same to both fluents.
func (t toggling) alike(m *model.Model, c, p *model.Fluent) bool {
	for _, a := range m.Actions {
		x, changes := t[c][a]
		y, too := t[p][a]
		if changes != too || x != y {
			return false
		}
	}
	return true
}

// The bounds of what is tried.
const (
	maxToggled = 10_000
	maxSteps   = 200
)

// follows returns the one derivation of c over p that is right in every state
// of the model and after each step from one; empty where there is none, or
// where both are.
func (d *doubter) follows(u *model.Universe, c, p *model.Fluent) string {
	objects := u.Objects(p.Params[0].Type)
	if len(u.States) == 0 || len(objects) < 2 || len(objects) > maxToggled {
		return ""
	}
	every, some, changed := true, true, false
	for _, named := range u.States {
		s := u.Named(named)
		at := model.Atom{Fluent: c}
		look := func() {
			ups := 0
			for _, o := range objects {
				if s.Get(model.Atom{Fluent: p, Args: []int32{o}}).Tri() == model.True {
					ups++
				}
			}
			is := s.Get(at).Tri() == model.True
			every, some = every && is == (ups == len(objects)), some && is == (ups > 0)
		}
		look()
		was := s.Get(at)
		for delta := range steps(u, s) {
			delta.Commit(s)
			look()
			changed = changed || s.Get(at) != was
			delta.Revert(s)
		}
	}
	switch {
	case every == some, !changed:
		return ""
	case every:
		return fmt.Sprintf("all(%s, %s(#))", p.Params[0].Type, p.Name)
	}
	return fmt.Sprintf("any(%s, %s(#))", p.Params[0].Type, p.Name)
}

// steps yields what the ground actions that apply in a state would do, a
// bounded number of each action.
func steps(u *model.Universe, s *model.State) iter.Seq[*model.Delta] {
	return func(yield func(*model.Delta) bool) {
		var d model.Delta
		for _, a := range u.Actions {
			n := 0
			for args := range u.Instances(a.Params) {
				if n++; n > maxSteps {
					break
				}
				g := model.Ground{Action: a, Args: args}
				if g.Applicable(s, &d) == model.True && g.Effects(s, &d) == nil && !yield(&d) {
					return
				}
			}
		}
	}
}
