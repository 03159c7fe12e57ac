package load

import (
	"fmt"
	"slices"

	"github.com/fettleops/fettle/model"
)

// unreachable warns of actions of which a precondition can never hold, and of
// goals that can never be reached: no observation, state, test, initial value
// or effect makes true what they need. It is a relaxation, which asks of each
// fluent what values any of its instances may ever have: what it finds is so,
// and it misses what depends on which instance has which value.
func (d *doubter) unreachable() {
	r := d.reachable()
	if r == nil {
		return
	}
	for _, a := range d.l.Model.Actions {
		for _, c := range d.places.Preconditions[a] {
			if !r.chances(c.Expr).yes {
				d.never(a, c.Range, r.why(c.Expr))
				break
			}
		}
	}
	for _, g := range d.l.Model.Goals {
		for _, c := range d.places.Goals[g] {
			if !d.dead[g] && !r.chances(c.Expr).yes {
				d.warn(c.Range, fmt.Sprintf("Goal %q can never be reached", g.Name), "%s", r.why(c.Expr))
				break
			}
		}
	}
}

// domain is what values a fluent's instances may have.
type domain struct {
	any    bool
	values map[model.Value]bool
}

func (d *domain) add(v model.Value) bool {
	if d.any || !v.Known() || d.values[v] {
		return false
	}
	if d.values == nil {
		d.values = map[model.Value]bool{}
	}
	d.values[v] = true
	return true
}

// join adds what another domain has; it tells whether that changed anything.
func (d *domain) join(o domain) bool {
	if d.any {
		return false
	}
	if o.any {
		d.any = true
		return true
	}
	changed := false
	for v := range o.values {
		changed = d.add(v) || changed
	}
	return changed
}

func (d domain) empty() bool { return !d.any && len(d.values) == 0 }

// chances are the known truth values that a condition may ever have.
type chances struct{ yes, no bool }

// reach follows what can come true.
type reach struct {
	l       *Loaded
	domains map[*model.Fluent]*domain
	derived map[*model.Fluent]chances // of this turn
	sizes   map[*model.Type]int       // numbers of declared objects
}

// maxReach bounds the expressions that are looked at until nothing changes.
const maxReach = 2_000_000

// reachable applies whatever may apply until nothing new can come true; nil
// where that takes too long.
func (d *doubter) reachable() *reach {
	r := &reach{l: d.l, domains: map[*model.Fluent]*domain{}, sizes: map[*model.Type]int{}}
	closed := len(d.l.Model.States) > 0 || len(d.l.given) > 0
	for _, f := range d.l.Model.Fluents {
		if f.Derived == nil {
			r.domains[f] = r.start(f, closed)
		}
	}
	for _, s := range d.l.Model.States {
		r.assign(s.Values)
	}
	r.assign(d.l.given)
	effects := 1
	for _, a := range d.l.Model.Actions {
		effects += 1 + len(a.Effects)
	}
	for turns := maxReach / effects; ; turns-- {
		switch {
		case turns == 0:
			return nil
		case !r.turn():
			return r
		}
	}
}

func (r *reach) assign(values []model.Assignment) {
	for _, v := range values {
		r.domains[v.Atom.Fluent].add(v.Value)
	}
}

// start is what a fluent may be before anything is done. Without a source and
// without a state in the model its values come from elsewhere.
func (r *reach) start(f *model.Fluent, closed bool) *domain {
	out := &domain{}
	info := r.l.Fluents[f]
	switch {
	case info.Observe != nil, !closed && f.Initial == nil:
		out.any = true
	case f.Initial != nil:
		out.any = !r.initial(f, out)
	case f.Kind == model.KindBool:
		out.add(model.BoolValue(false))
	}
	return out
}

// initial adds a belief's first values; false where they are too many to try,
// or their objects are not known.
func (r *reach) initial(f *model.Fluent, out *domain) bool {
	names := make([][]string, len(f.Params))
	n := 1
	for i, p := range f.Params {
		names[i] = r.l.Model.Declared(p.Type)
		if n *= len(names[i]); n == 0 || n > maxTried || r.discovered(p.Type) {
			return false
		}
	}
	at, args := make([]int, len(f.Params)), make([]string, len(f.Params))
	for {
		for i := range at {
			args[i] = names[i][at[i]]
		}
		out.add(f.Initial(args))
		if !next(at, names) {
			return true
		}
	}
}

func (r *reach) discovered(t *model.Type) bool {
	return slices.ContainsFunc(r.l.Model.Types, func(s *model.Type) bool { return s.Discovered && s.IsA(t) })
}

// turn lets every action that may apply have its effects; it tells whether
// anything new came true.
func (r *reach) turn() bool {
	changed := false
	r.derived = map[*model.Fluent]chances{}
	for _, a := range r.l.Model.Actions {
		if !r.applies(a) {
			continue
		}
		for i := range a.Effects {
			if e := &a.Effects[i]; e.When == nil || r.chances(e.When).yes {
				changed = r.domains[e.Fluent].join(r.effect(e)) || changed
			}
		}
	}
	r.derived = map[*model.Fluent]chances{}
	return changed
}

func (r *reach) applies(a *model.Action) bool {
	if a.Precondition == nil {
		return true
	}
	for _, c := range a.Precondition.Conjuncts {
		if !r.chances(c).yes {
			return false
		}
	}
	return true
}

// effect returns the values that an effect may give.
func (r *reach) effect(e *model.Effect) domain {
	switch e.Op {
	case model.Add, model.Del:
		return domain{values: map[model.Value]bool{model.BoolValue(e.Op == model.Add): true}}
	case model.Set:
		return r.valuesOf(e.Value)
	}
	return domain{any: !r.domains[e.Fluent].empty()}
}

// valuesOf returns the values that an expression may have.
func (r *reach) valuesOf(e *model.Expr) domain {
	switch {
	case e.Op == model.OpConst, e.Op == model.OpObject:
		return domain{values: map[model.Value]bool{e.Const: true}}
	case e.Kind == model.KindBool:
		var d domain
		c := r.chances(e)
		if c.yes {
			d.add(model.BoolValue(true))
		}
		if c.no {
			d.add(model.BoolValue(false))
		}
		return d
	case e.Op == model.OpFluent && e.Fluent.Derived == nil:
		return *r.domains[e.Fluent]
	case e.Op == model.OpIf:
		d := domain{}
		d.join(r.valuesOf(e.Args[1]))
		d.join(r.valuesOf(e.Args[2]))
		return d
	}
	return domain{any: true}
}
