package search

import (
	"slices"

	"github.com/fettleops/fettle/model"
)

// effect notes what an effect of a ground action may write, for every object
// of its binders from k on.
func (g *grounder) effect(e *model.Effect, env []int32, k int) {
	if k < len(e.Forall) {
		for _, o := range g.u.Objects(e.Forall[k].Type) {
			env[e.Forall[k].Slot] = o
			g.effect(e, env, k+1)
		}
		return
	}
	if e.When != nil && g.static(e.When) && e.When.Eval(g.start, env) == model.False {
		return
	}
	args := headArgs(e, env)
	v, isNew := g.vars.add(e.Fluent, g.u.Index(e.Fluent, args), g.start)
	if isNew {
		g.lim.use(variableBytes)
	}
	switch e.Op {
	case model.Add:
		g.mayBe(v, args, true)
	case model.Del:
		g.mayBe(v, args, false)
	case model.Set:
		g.mayBeSet(v, args, e.Value, env)
	}
}

// headArgs returns the objects that an effect's head names.
func headArgs(e *model.Effect, env []int32) []int32 {
	args := make([]int32, len(e.Args))
	for i, a := range e.Args {
		if a.Op == model.OpSlot {
			args[i] = env[a.Slot]
		} else {
			args[i] = a.Const.Object()
		}
	}
	return args
}

// reach queues a fact that is reached for the first time.
func (g *grounder) reach(f fact) {
	g.queue = append(g.queue, f)
	g.reachedFacts++
}

// mayBe notes that a bool may become true, or false.
func (g *grounder) mayBe(v int32, args []int32, b bool) {
	x := &g.vars.vars[v]
	if b && !x.canTrue {
		x.canTrue = true
		if g.relationOf(x.f).add(args) {
			g.reach(fact{f: x.f, tuple: args})
		}
	}
	if !b && !x.canFalse {
		x.canFalse = true
		if !g.possibly(x.start.Tri().Not()) {
			g.reach(fact{f: x.f, neg: true, tuple: args})
		}
	}
}

func (g *grounder) mayBeSet(v int32, args []int32, e *model.Expr, env []int32) {
	switch e.Kind {
	case model.KindBool:
		t := model.Unknown
		if e.Op == model.OpConst {
			t = e.Const.Tri()
		}
		if t != model.False {
			g.mayBe(v, args, true)
		}
		if t != model.True {
			g.mayBe(v, args, false)
		}
	case model.KindObject:
		f := g.vars.vars[v].f
		for _, o := range g.values(e, env) {
			tuple := append(slices.Clone(args), o)
			if g.vars.vars[v].addVal(o) && g.relationOf(f).add(tuple) {
				g.reach(fact{f: f, tuple: tuple})
			}
		}
	}
}

// values returns the objects that an expression may be worth.
func (g *grounder) values(e *model.Expr, env []int32) []int32 {
	switch e.Op {
	case model.OpObject:
		return []int32{e.Const.Object()}
	case model.OpSlot:
		return []int32{env[e.Slot]}
	case model.OpIf:
		return union(g.values(e.Args[1], env), g.values(e.Args[2], env))
	}
	return g.anything(e.Type)
}

// anything returns every object that a fluent of the type may be worth: the
// type's members, and what else the start or an effect gives such a fluent.
func (g *grounder) anything(t *model.Type) []int32 {
	if out, ok := g.objects[t.Root()]; ok {
		return out
	}
	out := append([]int32(nil), g.u.Objects(t.Root())...)
	for _, f := range g.u.Fluents {
		if f.Kind != model.KindObject || f.Type.Root() != t.Root() {
			continue
		}
		f.Derived.Walk(func(e *model.Expr) bool {
			if e.Op == model.OpObject {
				out = union(out, []int32{e.Const.Object()})
			}
			return true
		})
		if f.Derived != nil {
			continue
		}
		for args := range g.u.Instances(f.Params) {
			if o := g.start.Get(model.Atom{Fluent: f, Args: args}).Object(); o >= 0 && !g.u.Has(t.Root(), o) {
				out = union(out, []int32{o})
			}
		}
	}
	for _, s := range g.schemas {
		for i := range s.a.Effects {
			s.a.Effects[i].Value.Walk(func(e *model.Expr) bool {
				if e.Op == model.OpObject && e.Type.Root() == t.Root() {
					out = union(out, []int32{e.Const.Object()})
				}
				return true
			})
		}
	}
	g.objects[t.Root()] = out
	return out
}
