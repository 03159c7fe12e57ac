package pddl

import (
	"github.com/fettleops/fettle/model"
)

// optimise reads the metric and gives every action its part of it as its cost.
// A metric that is no sum over actions leaves each the cost 1, with a warning:
// it does not bear on whether a plan is valid.
func (ld *loader) optimise(s *section) {
	ns, ok := ld.nodes(s)
	if !ok {
		return
	}
	if len(ns) != 2 {
		ld.errorAt(s.place(), "Not a metric", "A metric is written as in (:metric minimize (total-cost)).")
		return
	}
	switch ns[0].name {
	case "minimize", "minimise":
	case "maximize", "maximise":
		ld.warnAt(ns[0].place(), "Metric left out", "Costs are minimised alone; every action costs 1.")
		return
	default:
		ld.errorAt(ns[0].place(), "Not a metric", "%s stands where minimize or maximize does.", text(ns[0]))
		return
	}
	m := &metric{ld: ld, l: lowerer{ld: ld}}
	if !m.sum(ns[1], 1) {
		if !ld.failed && !ld.mixed {
			ld.warnAt(ns[1].place(), "Metric left out", "It is no weighted sum of functions that actions increase; every action costs 1.")
		}
		return
	}
	for _, a := range ld.m.Actions {
		if cost, ok := m.cost(a); ok {
			a.Cost = cost
		} else {
			ld.warnAt(ns[1].place(), "Metric left out", "%s assigns a value to what it sums; every action costs 1.", a.Name)
			m.forget()
			return
		}
	}
}

// metric is a weighted sum of functions and of the number of steps.
type metric struct {
	ld    *loader
	l     lowerer
	terms []weighted
	steps float64
}

type weighted struct {
	e      *model.Expr // a function of objects
	weight float64
}

// sum adds a part of the metric's expression, with a factor.
func (m *metric) sum(n *node, factor float64) bool {
	if !n.list() {
		if _, isNumber := number(n.name); isNumber {
			return true // the same for every plan
		}
	}
	name, args := n.name, []*node(nil)
	if n.list() {
		name = n.head()
		if len(n.kids) > 0 {
			args = n.kids[1:]
		}
	}
	switch {
	case name == "total-time" && m.ld.functions[name] == nil:
		m.steps += factor
		return true
	case name == "is-violated":
		m.ld.unsupported(n.place(), "preferences")
		return false
	case !contains(operators, name):
		e := m.l.number(n)
		if e != nil {
			m.terms = append(m.terms, weighted{e, factor})
		}
		return e != nil
	}
	return m.operator(name, args, factor)
}

func (m *metric) operator(name string, args []*node, factor float64) bool {
	switch {
	case name == "-" && len(args) == 1:
		return m.sum(args[0], -factor)
	case name == "-" && len(args) == 2:
		return m.sum(args[0], factor) && m.sum(args[1], -factor)
	case name == "+":
		for _, a := range args {
			if !m.sum(a, factor) {
				return false
			}
		}
		return true
	case name == "*" && len(args) == 2:
		if f, ok := literal(args[0]); ok {
			return m.sum(args[1], factor*f)
		}
		if f, ok := literal(args[1]); ok {
			return m.sum(args[0], factor*f)
		}
	case name == "/" && len(args) == 2:
		if f, ok := literal(args[1]); ok && f != 0 {
			return m.sum(args[0], factor/f)
		}
	}
	return false
}

func literal(n *node) (float64, bool) {
	if n.list() {
		return 0, false
	}
	return number(n.name)
}

// cost is what one application of the action adds to the metric, an expression
// over the state before it; false where that is no sum.
func (m *metric) cost(a *model.Action) (*model.Expr, bool) {
	known := m.steps
	var sum *model.Expr
	for i := range a.Effects {
		e := &a.Effects[i]
		for _, t := range m.terms {
			if e.Fluent != t.e.Fluent {
				continue
			}
			if e.Op == model.Set {
				return nil, false
			}
			part := m.part(e, t)
			if part.Op == model.OpConst {
				f, _ := part.Const.Number()
				known += f
			} else {
				sum = plus(sum, part)
			}
		}
	}
	if known != 0 || sum == nil {
		sum = plus(sum, constant(known))
	}
	return sum, true
}

func plus(a, b *model.Expr) *model.Expr {
	if a == nil {
		return b
	}
	return &model.Expr{Op: model.OpAdd, Kind: model.KindNumber, Args: []*model.Expr{a, b}}
}

// part is what one effect adds through one term of the metric.
func (m *metric) part(e *model.Effect, t weighted) *model.Expr {
	weight := t.weight
	if e.Op == model.Decrease {
		weight = -weight
	}
	v := times(weight, e.Value)
	if cond := applies(e, t.e); cond != nil {
		v = &model.Expr{Op: model.OpIf, Kind: model.KindNumber, Args: []*model.Expr{cond, v, constant(0)}}
	}
	for i := len(e.Forall) - 1; i >= 0; i-- {
		b := e.Forall[i]
		v = &model.Expr{Op: model.OpSum, Kind: model.KindNumber, Over: b.Type, Slot: b.Slot, Name: b.Name, Args: []*model.Expr{v}}
	}
	return v
}

func times(weight float64, v *model.Expr) *model.Expr {
	if f, ok := v.Const.Number(); ok && v.Op == model.OpConst {
		return constant(weight * f)
	}
	if weight == 1 {
		return v
	}
	return &model.Expr{Op: model.OpMul, Kind: model.KindNumber, Args: []*model.Expr{constant(weight), v}}
}

// applies is the condition under which an effect changes the very function of
// the term; nil: always.
func applies(e *model.Effect, term *model.Expr) *model.Expr {
	var all []*model.Expr
	if e.When != nil {
		all = append(all, e.When)
	}
	for i, a := range e.Args {
		if x := term.Args[i]; a.Op != model.OpObject || a.Const != x.Const {
			all = append(all, &model.Expr{Op: model.OpEq, Kind: model.KindBool, Args: []*model.Expr{a, x}})
		}
	}
	if len(all) == 0 {
		return nil
	}
	return model.And(all...)
}

// forget gives every action the cost 1.
func (m *metric) forget() {
	for _, a := range m.ld.m.Actions {
		a.Cost = nil
	}
}

var operators = []string{"+", "-", "*", "/"}
