package search

import (
	"slices"

	"github.com/fettleops/fettle/model"
)

// maxValues bounds the combinations of argument values that are looked at.
const maxValues = 256

// suspended is a choice of objects that waits until a condition may hold.
type suspended struct {
	s            *schema
	env          []int32
	done, passed uint64
}

// waits tells whether some condition that is no atom, but whose parameters are
// bound, cannot hold in any state reached so far.
func (g *grounder) waits(s *schema, env []int32) bool {
	for _, c := range s.conditions {
		if !c.bound(env) {
			continue
		}
		full := make([]int32, max(s.a.Slots, s.a.Precondition.Slots, len(env)))
		copy(full, env)
		if t, _ := g.possible(c.e, full); !t {
			return true
		}
	}
	return false
}

// resume takes up again what waited.
func (g *grounder) resume() {
	list := g.suspended
	g.suspended = nil
	for _, w := range list {
		g.extend(w.s, w.env, w.done, w.passed)
		if !g.lim.ok() {
			return
		}
	}
}

// possible tells whether a condition may be true, and whether it may be false,
// in a state that is reached so far. It errs on the side of yes.
func (g *grounder) possible(e *model.Expr, env []int32) (mayTrue, mayFalse bool) {
	switch e.Op {
	case model.OpConst:
		return g.both(e.Const.Tri())
	case model.OpNot:
		t, f := g.possible(e.Args[0], env)
		return f, t
	case model.OpAnd, model.OpOr:
		mayTrue, mayFalse = e.Op == model.OpAnd, e.Op == model.OpOr
		for _, a := range e.Args {
			t, f := g.possible(a, env)
			if e.Op == model.OpAnd {
				mayTrue, mayFalse = mayTrue && t, mayFalse || f
			} else {
				mayTrue, mayFalse = mayTrue || t, mayFalse && f
			}
		}
		return mayTrue, mayFalse
	case model.OpAll, model.OpAny:
		return g.possibleForAll(e, env)
	case model.OpEq, model.OpNe:
		if e.Args[0].Kind != model.KindObject {
			break
		}
		t, f := g.mayEqual(e.Args[0], e.Args[1], env)
		if e.Op == model.OpNe {
			return f, t
		}
		return t, f
	case model.OpFluent:
		return g.possibleAtom(e, env)
	}
	if g.static(e) {
		return g.both(e.Eval(g.start, slices.Clone(env)))
	}
	return true, true
}

// both tells what a value that does not change counts as.
func (g *grounder) both(t model.Tri) (mayTrue, mayFalse bool) {
	return g.possibly(t), g.possibly(t.Not())
}

func (g *grounder) possibleForAll(e *model.Expr, env []int32) (mayTrue, mayFalse bool) {
	all := e.Op == model.OpAll
	mayTrue, mayFalse = all, !all
	for _, o := range g.u.Objects(e.Over) {
		env[e.Slot] = o
		t, f := g.possible(e.Args[0], env)
		if all {
			mayTrue, mayFalse = mayTrue && t, mayFalse || f
		} else {
			mayTrue, mayFalse = mayTrue || t, mayFalse && f
		}
	}
	if g.u.Open(e.Over) && g.optimistic {
		return true, true
	}
	return mayTrue, mayFalse
}

func (g *grounder) mayEqual(a, b *model.Expr, env []int32) (mayTrue, mayFalse bool) {
	x, y := g.mayBeWorth(a, env), g.mayBeWorth(b, env)
	if x == nil || y == nil {
		return true, true
	}
	for _, o := range x {
		mayTrue = mayTrue || slices.Contains(y, o)
	}
	return mayTrue, len(x) > 1 || len(y) > 1 || !mayTrue
}

// mayBeWorth returns the objects that an expression may be worth, nil where
// that is not looked into.
func (g *grounder) mayBeWorth(e *model.Expr, env []int32) []int32 {
	switch e.Op {
	case model.OpObject:
		return []int32{e.Const.Object()}
	case model.OpSlot:
		return []int32{env[e.Slot]}
	case model.OpFluent:
		if e.Fluent.Derived != nil {
			return nil
		}
		out := []int32{}
		if !g.eachInstance(e, env, func(args []int32) { out = union(out, g.worth(e.Fluent, args)) }) {
			return nil
		}
		return out
	}
	return nil
}

// worth returns the values that an object-valued fluent may have.
func (g *grounder) worth(f *model.Fluent, args []int32) []int32 {
	v := g.start.Get(model.Atom{Fluent: f, Args: args})
	out := []int32{}
	if v.Known() {
		out = append(out, v.Object())
	} else if g.optimistic {
		out = append(out, g.u.Objects(f.Type)...)
	}
	if i := g.vars.find(f, g.u.Index(f, args)); i >= 0 {
		out = union(out, g.vars.vars[i].vals)
	}
	return out
}

// eachInstance calls visit for every instance that a read may name; false
// where there are too many, or it is not known which.
func (g *grounder) eachInstance(e *model.Expr, env []int32, visit func([]int32)) bool {
	sets := make([][]int32, len(e.Args))
	n := 1
	for k, a := range e.Args {
		sets[k] = g.mayBeWorth(a, env)
		if n *= len(sets[k]); sets[k] == nil || n > maxValues {
			return false
		}
	}
	args := make([]int32, len(sets))
	var rec func(int)
	rec = func(k int) {
		if k == len(sets) {
			visit(args)
			return
		}
		for _, o := range sets[k] {
			args[k] = o
			rec(k + 1)
		}
	}
	rec(0)
	return true
}

func (g *grounder) possibleAtom(e *model.Expr, env []int32) (mayTrue, mayFalse bool) {
	known := g.eachInstance(e, env, func(args []int32) {
		t, f := g.possibleInstance(e.Fluent, args)
		mayTrue, mayFalse = mayTrue || t, mayFalse || f
	})
	return mayTrue || !known, mayFalse || !known
}

func (g *grounder) possibleInstance(f *model.Fluent, args []int32) (mayTrue, mayFalse bool) {
	if f.Derived != nil {
		env := make([]int32, max(f.Slots, len(args)))
		copy(env, args)
		return g.possible(f.Derived, env)
	}
	mayTrue, mayFalse = g.both(g.start.Get(model.Atom{Fluent: f, Args: args}).Tri())
	if v := g.vars.find(f, g.u.Index(f, args)); v >= 0 {
		x := &g.vars.vars[v]
		mayTrue, mayFalse = mayTrue || x.canTrue, mayFalse || x.canFalse
	}
	return mayTrue, mayFalse
}
