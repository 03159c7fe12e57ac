package search

import (
	"regexp"

	"pgregory.net/rapid"

	"github.com/fettleops/fettle/model"
)

// gen draws small random problems over the whole language.
type gen struct {
	t     *rapid.T
	k     *kit
	thing *model.Type // objects
	part  *model.Type // some of the things
	mode  *model.Type // an enum
	bools []*model.Fluent
	objs  []*model.Fluent
	nums  []*model.Fluent
	strs  []*model.Fluent
	acts  []*model.Action
}

func (g *gen) n(k int) int { return rapid.IntRange(0, k-1).Draw(g.t, "n") }

func (g *gen) chance(percent int) bool { return g.n(100) < percent }

func pick[T any](g *gen, xs []T) T { return xs[g.n(len(xs))] }

// problem draws a model and a start.
func (g *gen) problem() Problem {
	g.k = newKit()
	g.thing = g.k.typ("thing", []string{"a", "b", "c", "d"}[:2+g.n(3)]...)
	g.part = g.k.m.AddType("part", g.thing)
	g.part.AddObject("b")
	g.mode = g.k.m.AddEnum([]string{"on", "off", "mid"}[:2+g.n(2)])
	g.bools = []*model.Fluent{g.k.pred("p", g.thing), g.k.pred("q"), g.k.pred("fixed", g.thing)}
	if g.chance(50) {
		g.bools = append(g.bools, g.k.pred("r", g.thing, g.thing))
	}
	g.objs = []*model.Fluent{g.k.fluent("at", model.KindObject, g.thing, g.thing), g.k.fluent("mode", model.KindObject, g.mode)}
	g.nums = []*model.Fluent{g.k.fluent("n", model.KindNumber, nil)}
	if g.chance(40) {
		g.nums = append(g.nums, g.k.fluent("load", model.KindNumber, nil, g.thing))
	}
	g.strs = []*model.Fluent{g.k.fluent("tag", model.KindString, nil)}
	base := len(g.k.m.Fluents)
	for i := range g.n(3) {
		g.derive([]string{"d", "e"}[i])
	}
	for i := range 1 + g.n(4) {
		g.action([]string{"w", "x", "y", "z"}[i], base)
	}
	for i := range g.n(3) {
		g.k.invariant([]string{"i", "j"}[i], g.chance(20), g.boolean(0, 2))
	}
	var es []*model.Expr
	for range 1 + g.n(2) {
		es = append(es, g.boolean(0, 2))
	}
	p := Problem{U: g.k.universe(), Goal: goal(es...)}
	if g.chance(20) {
		p.Allowed = g.acts[:g.n(len(g.acts)+1)]
	}
	p.Start = g.start(p.U, base)
	return p
}

func (g *gen) derive(name string) {
	if g.chance(60) {
		g.bools = append(g.bools, g.k.derived(name, g.boolean(1, 2), g.thing))
	} else {
		g.nums = append(g.nums, g.k.derived(name, g.number(0, 2)))
	}
}

func (g *gen) action(name string, base int) {
	arity := g.n(3)
	ts := types(g.thing, g.thing)[:arity]
	var pre []*model.Expr
	for range g.n(3) {
		pre = append(pre, g.boolean(arity, 2))
	}
	var effects []model.Effect
	for range 1 + g.n(3) {
		e, bound := g.effect(arity, base)
		effects = append(effects, e)
		if bound != nil {
			pre = append(pre, bound)
		}
	}
	a := g.k.action(name, ts, pre, effects...)
	switch g.n(4) {
	case 0:
		a.Cost = num(float64(g.n(4)))
	case 1:
		a.Cost = g.number(arity, 1)
	}
	g.acts = append(g.acts, a)
}

// effect draws an effect, and for one that counts a precondition that keeps
// the domain finite.
func (g *gen) effect(slots, base int) (model.Effect, *model.Expr) {
	var e model.Effect
	if g.chance(25) {
		e.Forall = []model.Binder{{Slot: slots, Type: g.thing}}
		slots++
	}
	for {
		e.Fluent = g.k.m.Fluents[g.n(base)]
		if e.Fluent.Name != "fixed" {
			break
		}
	}
	for range e.Fluent.Params {
		e.Args = append(e.Args, g.term(slots))
	}
	if g.chance(30) {
		e.When = g.boolean(slots, 1)
	}
	var bound *model.Expr
	switch e.Fluent.Kind {
	case model.KindBool:
		e.Op = model.EffectOp(g.n(2))
		if g.chance(15) {
			e.Op, e.Value = model.Set, g.boolean(slots, 1)
		}
	case model.KindObject:
		e.Op, e.Value = model.Set, g.object(e.Fluent.Type, slots, 1)
	case model.KindString:
		e.Op, e.Value = model.Set, g.text(slots)
	default:
		e.Op, e.Value = model.Set, num(float64(g.n(4)))
		if g.chance(20) {
			e.Value = ex(model.OpIf, model.KindNumber, g.boolean(slots, 1), num(2), num(1))
		} else if g.chance(70) {
			e.Op, e.Value = pick(g, []model.EffectOp{model.Increase, model.Decrease}), num(float64(1+g.n(2)))
			bound = model.And(le(g.everywhere(e.Fluent), num(2)), ge(g.everywhere(e.Fluent), num(0)))
		}
	}
	return e, bound
}

// everywhere is the sum of a number's instances: bounds hold for all of them.
func (g *gen) everywhere(f *model.Fluent) *model.Expr {
	if len(f.Params) == 0 {
		return read(f)
	}
	a := ex(model.OpAbs, model.KindNumber, read(f, slot(7, g.thing)))
	return quantify(model.OpSum, model.KindNumber, g.thing, 7, a)
}

func (g *gen) term(slots int) *model.Expr {
	if i := g.n(slots + 1); i < slots {
		return slot(i, g.thing)
	}
	return obj(g.thing, "a")
}

// object draws an expression of a type.
func (g *gen) object(t *model.Type, slots, depth int) *model.Expr {
	if depth > 0 && g.chance(15) {
		return &model.Expr{Op: model.OpIf, Kind: model.KindObject, Type: t, Args: exprs(g.boolean(slots, 0), g.object(t, slots, 0), g.object(t, slots, 0))}
	}
	if t == g.mode {
		if g.chance(30) {
			return read(g.objs[1])
		}
		return obj(t, pick(g, []string{"on", "off"}))
	}
	if depth > 0 && g.chance(40) {
		return read(g.objs[0], g.object(t, slots, depth-1))
	}
	return g.term(slots)
}

func (g *gen) number(slots, depth int) *model.Expr {
	switch g.n(7) {
	case 0:
		return num(float64(g.n(4)))
	case 1:
		if slots < 6 {
			return quantify(model.OpCount, model.KindNumber, g.thing, slots, g.boolean(slots+1, 0))
		}
	case 2:
		if slots < 6 && depth > 0 {
			op := pick(g, []model.Op{model.OpSum, model.OpMin, model.OpMax})
			return quantify(op, model.KindNumber, g.thing, slots, g.number(slots+1, depth-1))
		}
	case 3:
		if depth > 0 {
			op := pick(g, []model.Op{model.OpAdd, model.OpSub, model.OpMul, model.OpDiv})
			return ex(op, model.KindNumber, g.number(slots, depth-1), g.number(slots, depth-1))
		}
	case 5:
		switch g.n(4) {
		case 0:
			return ex(model.OpLen, model.KindNumber, read(g.strs[0]))
		case 1:
			return ex(pick(g, []model.Op{model.OpNeg, model.OpAbs}), model.KindNumber, g.number(slots, 0))
		}
	case 4:
		if depth > 0 {
			return &model.Expr{Op: model.OpIf, Kind: model.KindNumber, Args: exprs(g.boolean(slots, 0), g.number(slots, 0), g.number(slots, 0))}
		}
	}
	f := pick(g, g.nums)
	return read(f, g.args(f, slots)...)
}

func (g *gen) text(slots int) *model.Expr {
	switch g.n(4) {
	case 0:
		return ex(model.OpIf, model.KindString, g.boolean(slots, 0), str("red"), read(g.strs[0]))
	case 1:
		return read(g.strs[0])
	}
	return str(pick(g, []string{"red", "blue"}))
}

// textual draws a condition on strings.
func (g *gen) textual(slots int) *model.Expr {
	op := pick(g, []model.Op{model.OpEq, model.OpNe, model.OpContains, model.OpPrefix, model.OpSuffix, model.OpMatches})
	if op == model.OpMatches {
		return &model.Expr{Op: op, Kind: model.KindBool, Args: exprs(g.text(slots)), Const: model.StringValue("^r"), Pattern: regexp.MustCompile("^r")}
	}
	return ex(op, model.KindBool, g.text(slots), pick(g, exprs(str("red"), str("e"), read(g.strs[0]))))
}

func (g *gen) args(f *model.Fluent, slots int) []*model.Expr {
	var as []*model.Expr
	for range f.Params {
		as = append(as, g.object(g.thing, slots, 1))
	}
	return as
}

// boolean draws a condition over the first slots.
func (g *gen) boolean(slots, depth int) *model.Expr {
	if depth > 0 {
		switch g.n(8) {
		case 0:
			return not(g.boolean(slots, depth-1))
		case 1:
			return model.And(g.boolean(slots, depth-1), g.boolean(slots, depth-1))
		case 2:
			return model.Or(g.boolean(slots, depth-1), g.boolean(slots, depth-1))
		case 3:
			if slots < 6 {
				op := pick(g, []model.Op{model.OpAll, model.OpAny, model.OpOne})
				return quantify(op, model.KindBool, g.thing, slots, g.boolean(slots+1, depth-1))
			}
		case 4:
			return ex(model.OpIf, model.KindBool, g.boolean(slots, depth-1), g.boolean(slots, depth-1), g.boolean(slots, depth-1))
		}
	}
	switch g.n(7) {
	case 0:
		op := pick(g, []model.Op{model.OpEq, model.OpNe, model.OpLt, model.OpLe, model.OpGt, model.OpGe})
		return ex(op, model.KindBool, g.number(slots, 1), g.number(slots, 1))
	case 1:
		t := pick(g, types(g.thing, g.mode))
		if g.chance(20) {
			return ex(model.OpIn, model.KindBool, g.object(t, slots, 1), g.object(t, slots, 0), g.object(t, slots, 0))
		}
		return ex(pick(g, []model.Op{model.OpEq, model.OpNe, model.OpIn}), model.KindBool, g.object(t, slots, 1), g.object(t, slots, 1))
	case 2:
		return g.textual(slots)
	case 3:
		if g.chance(40) {
			return &model.Expr{Op: model.OpIsA, Kind: model.KindBool, Over: g.part, Args: exprs(g.object(g.thing, slots, 1))}
		}
	}
	f := pick(g, g.bools)
	return read(f, g.args(f, slots)...)
}

// start draws a state in which few facts are unknown.
func (g *gen) start(u *model.Universe, base int) *model.State {
	s := u.NewState(true)
	unknown := 0
	if g.chance(40) {
		unknown = 25
	}
	left := 3
	for _, f := range u.Fluents[:base] {
		for a := range u.Atoms(f) {
			if left > 0 && g.chance(unknown) {
				left--
				s.Set(a, model.Value{})
				continue
			}
			s.Set(a, pick(g, valuesOf(u, f)))
		}
	}
	return s
}

// valuesOf returns values that a fluent may have.
func valuesOf(u *model.Universe, f *model.Fluent) []model.Value {
	var vs []model.Value
	switch f.Kind {
	case model.KindBool:
		return []model.Value{model.BoolValue(false), model.BoolValue(true)}
	case model.KindNumber:
		return []model.Value{model.NumberValue(0), model.NumberValue(1), model.NumberValue(2)}
	case model.KindString:
		return []model.Value{model.StringValue("red"), model.StringValue("blue")}
	}
	for _, o := range u.Objects(f.Type) {
		vs = append(vs, model.ObjectValue(o))
	}
	return vs
}
