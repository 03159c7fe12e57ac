package pddl

import (
	"fmt"
	"slices"

	"github.com/fettleops/fettle/model"
)

var actionKeys = []string{":parameters", ":precondition", ":effect"}

// action reads (:action NAME :parameters (…) :precondition … :effect …).
func (ld *loader) action(s *section) {
	ns, ok := ld.nodes(s)
	if !ok {
		return
	}
	if len(ns) == 0 || ns[0].list() || ns[0].name[0] == ':' {
		ld.errorAt(s.place(), "An action without a name", "An action's name follows the word :action.")
		return
	}
	if ld.m.Action(ns[0].name) != nil {
		ld.errorAt(ns[0].place(), fmt.Sprintf("Second action %q", ns[0].name), "It is declared already.")
		return
	}
	a := &model.Action{Name: ns[0].name}
	part := ld.parts(ns[1:], actionKeys)
	l := &lowerer{ld: ld}
	if n := part[":parameters"]; n != nil {
		for _, v := range l.bind(n.kids) {
			a.Params = append(a.Params, model.Param{Name: v.name[1:], Type: v.model()})
		}
	}
	var pre *model.Expr
	if n := part[":precondition"]; n != nil {
		pre = l.condition(n)
	}
	if n := part[":effect"]; n != nil {
		a.Effects = l.effects(n)
	}
	a.Slots = l.slots
	if pre != nil {
		a.Precondition = model.NewCond(l.slots, pre)
	}
	ld.m.AddAction(a)
}

// parts reads keywords and what follows each.
func (ld *loader) parts(ns []*node, known []string) map[string]*node {
	out := map[string]*node{}
	for i := 0; i < len(ns); i++ {
		n := ns[i]
		switch {
		case n.list() || n.name[0] != ':':
			ld.errorAt(n.place(), "Not a part of the action", "%s stands where one of %s does.", text(n), list(known))
		case !slices.Contains(known, n.name):
			ld.errorAt(n.place(), fmt.Sprintf("Unknown part %q", n.name), "The parts are %s.%s", list(known), near(n.name, known))
			i++
		case out[n.name] != nil:
			ld.errorAt(n.place(), fmt.Sprintf("Second part %q", n.name), "The action has one already.")
			i++
		case i+1 == len(ns) || !ns[i+1].list():
			ld.errorAt(n.place(), "Not a list", "A list follows %s.", n.name)
		default:
			i++
			out[n.name] = ns[i]
		}
	}
	return out
}

// effects lowers an effect with everything that it is made of.
func (l *lowerer) effects(n *node) []model.Effect {
	var out []model.Effect
	l.effect(n, nil, nil, &out)
	return out
}

// effect adds an effect below a condition, nil where there is none, and the
// variables that it is for all of.
func (l *lowerer) effect(n *node, when *model.Expr, forall []model.Binder, out *[]model.Effect) {
	if !n.list() {
		l.ld.errorAt(n.place(), "Not an effect", "%s stands where an effect does.", text(n))
		return
	}
	if len(n.kids) == 0 {
		return
	}
	switch head := n.head(); head {
	case "and":
		for _, k := range n.kids[1:] {
			l.effect(k, when, forall, out)
		}
	case "when":
		if !l.takes(n, 2) {
			return
		}
		if c := l.condition(n.kids[1]); c != nil {
			if when != nil {
				c = model.And(when, c)
			}
			l.effect(n.kids[2], c, forall, out)
		}
	case "forall":
		l.forall(n, when, forall, out)
	case "not":
		if l.takes(n, 1) {
			l.write(n.kids[1], model.Del, when, forall, out)
		}
	case "increase", "decrease", "assign", "scale-up", "scale-down":
		if l.takes(n, 2) {
			l.change(n, when, forall, out)
		}
	case "":
		l.ld.errorAt(n.kids[0].place(), "Not an effect", "An effect starts with a word, as in (and …).")
	case "or", "exists", "imply", "=":
		l.ld.errorAt(n.place(), "Not an effect", "%s stands in conditions alone.", head)
	case "probabilistic", "oneof":
		l.ld.unsupported(n.place(), "uncertain effects")
	default:
		l.write(n, model.Add, when, forall, out)
	}
}

func (l *lowerer) forall(n *node, when *model.Expr, forall []model.Binder, out *[]model.Effect) {
	if !l.takes(n, 2) {
		return
	}
	vars := l.bind(n.kids[1].kids)
	all := slices.Clone(forall)
	for _, v := range vars {
		all = append(all, model.Binder{Slot: v.slot, Type: v.model(), Name: v.name[1:]})
	}
	l.effect(n.kids[2], when, all, out)
	l.unbind(vars)
}

// write adds an effect that makes an atom true or false.
func (l *lowerer) write(n *node, op model.EffectOp, when *model.Expr, forall []model.Binder, out *[]model.Effect) {
	if n.head() == "" {
		l.ld.errorAt(n.place(), "Not a fact", "%s stands where a fact such as (on ?x ?y) does.", text(n))
		return
	}
	e := l.atom(n)
	if e == nil {
		return
	}
	if l.ld.derived[e.Fluent] != nil {
		l.ld.errorAt(n.place(), "Effect on a derived predicate", "%s follows from other facts; change those.", e.Fluent.Name)
		return
	}
	*out = append(*out, model.Effect{Op: op, Fluent: e.Fluent, Args: e.Args, When: when, Forall: forall})
}

var changes = map[string]model.EffectOp{
	"increase": model.Increase, "decrease": model.Decrease, "assign": model.Set, "scale-up": model.Set, "scale-down": model.Set,
}

// change adds an effect on a number.
func (l *lowerer) change(n *node, when *model.Expr, forall []model.Binder, out *[]model.Effect) {
	e, v := l.number(n.kids[1]), l.number(n.kids[2])
	if e == nil || v == nil {
		return
	}
	if e.Op != model.OpFluent {
		l.ld.errorAt(n.kids[1].place(), "Not a function", "%s stands where a function that can change does.", text(n.kids[1]))
		return
	}
	switch n.head() {
	case "scale-up":
		v = &model.Expr{Op: model.OpMul, Kind: model.KindNumber, Args: []*model.Expr{e, v}}
	case "scale-down":
		v = &model.Expr{Op: model.OpDiv, Kind: model.KindNumber, Args: []*model.Expr{e, v}}
	}
	*out = append(*out, model.Effect{Op: changes[n.head()], Fluent: e.Fluent, Args: e.Args, Value: v, When: when, Forall: forall})
}
