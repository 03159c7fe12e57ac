package pddl

import (
	"fmt"
	"slices"

	"github.com/fettleops/fettle/model"
)

// bound is a variable in scope.
type bound struct {
	name string // with its question mark
	t    *typ   // nil: faulty, which was reported
	slot int
	at   *node
}

// model returns the type for the model, nil where it is faulty.
func (b bound) model() *model.Type {
	if b.t == nil {
		return nil
	}
	return b.t.m
}

// lowerer turns conditions, expressions and effects into the model's, over
// slots for variables. What is faulty is nil, and reported.
type lowerer struct {
	ld    *loader
	vars  []bound // the innermost last
	slots int
}

// bind brings variables into scope, each with a slot of its own.
func (l *lowerer) bind(ns []*node) []bound {
	vars := l.ld.variables(ns)
	for i := range vars {
		v := &vars[i]
		if slices.ContainsFunc(vars[:i], func(o bound) bool { return o.name == v.name }) {
			l.ld.errorAt(v.at.place(), fmt.Sprintf("Second variable %q", v.name), "It stands in the list already.")
		}
		v.slot = l.slots
		l.slots++
	}
	l.vars = append(l.vars, vars...)
	return vars
}

func (l *lowerer) unbind(vars []bound) { l.vars = l.vars[:len(l.vars)-len(vars)] }

// condition lowers a condition; an empty list holds always.
func (l *lowerer) condition(n *node) *model.Expr {
	if !n.list() {
		l.ld.errorAt(n.place(), "Not a condition", "%s stands where a condition such as (and …) does.", text(n))
		return nil
	}
	if len(n.kids) == 0 {
		return model.TrueExpr
	}
	args := n.kids[1:]
	switch head := n.head(); head {
	case "and":
		return l.joined(args, model.And, model.TrueExpr)
	case "or":
		return l.joined(args, model.Or, model.FalseExpr)
	case "not":
		if l.takes(n, 1) {
			return negate(l.condition(args[0]))
		}
	case "imply":
		if l.takes(n, 2) {
			a, b := negate(l.condition(args[0])), l.condition(args[1])
			if a != nil && b != nil {
				return model.Or(a, b)
			}
		}
	case "forall", "exists":
		if l.takes(n, 2) {
			return l.quantified(n, head == "forall")
		}
	case "=":
		if l.takes(n, 2) {
			return l.equality(n)
		}
	case "<", "<=", ">", ">=":
		if l.takes(n, 2) {
			return l.comparison(comparisons[head], args)
		}
	case "":
		l.ld.errorAt(n.kids[0].place(), "Not a condition", "A condition starts with a word, as in (and …).")
	default:
		return l.atom(n)
	}
	return nil
}

var comparisons = map[string]model.Op{"<": model.OpLt, "<=": model.OpLe, ">": model.OpGt, ">=": model.OpGe}

// takes reports a wrong number of operands.
func (l *lowerer) takes(n *node, want int) bool {
	got := len(n.kids) - 1
	if got != want {
		l.ld.errorAt(n.place(), fmt.Sprintf("Wrong number of arguments for %q", n.head()), "%s takes %s, got %d.", n.head(), count(want, "argument"), got)
	}
	return got == want
}

func negate(e *model.Expr) *model.Expr {
	if e == nil {
		return nil
	}
	return &model.Expr{Op: model.OpNot, Kind: model.KindBool, Args: []*model.Expr{e}}
}

// joined lowers a conjunction or a disjunction, of nothing as well.
func (l *lowerer) joined(ns []*node, join func(...*model.Expr) *model.Expr, empty *model.Expr) *model.Expr {
	if len(ns) == 0 {
		return empty
	}
	var es []*model.Expr
	ok := true
	for _, n := range ns {
		e := l.condition(n)
		ok = ok && e != nil
		es = append(es, e)
	}
	if !ok {
		return nil
	}
	return join(es...)
}

// quantified lowers forall and exists, a quantifier for each variable.
func (l *lowerer) quantified(n *node, all bool) *model.Expr {
	if !n.kids[1].list() {
		l.ld.errorAt(n.kids[1].place(), "No variables", "%s takes a list of variables, as in (%s (?x - block) …).", n.head(), n.head())
		return nil
	}
	vars := l.bind(n.kids[1].kids)
	e := l.condition(n.kids[2])
	l.unbind(vars)
	if e == nil {
		return nil
	}
	op := model.OpAny
	if all {
		op = model.OpAll
	}
	for _, v := range slices.Backward(vars) {
		if v.t == nil {
			return nil
		}
		e = &model.Expr{Op: op, Kind: model.KindBool, Over: v.t.m, Slot: v.slot, Name: v.name[1:], Args: []*model.Expr{e}}
	}
	return e
}

// equality compares two objects, or two numbers.
func (l *lowerer) equality(n *node) *model.Expr {
	if l.numeric(n.kids[1]) || l.numeric(n.kids[2]) {
		return l.comparison(model.OpEq, n.kids[1:])
	}
	a, at := l.term(n.kids[1])
	b, bt := l.term(n.kids[2])
	if a == nil || b == nil {
		return nil
	}
	if at.m.Root() != bt.m.Root() {
		l.ld.mixed = true
		return nil
	}
	return &model.Expr{Op: model.OpEq, Kind: model.KindBool, Args: []*model.Expr{a, b}}
}

// numeric tells whether an operand of = is a number.
func (l *lowerer) numeric(n *node) bool {
	if n.list() {
		return true
	}
	if _, isNumber := number(n.name); isNumber && l.ld.object(n.sym) == nil {
		return true
	}
	return l.ld.functions[n.name] != nil && l.ld.object(n.sym) == nil
}

// term lowers a variable or an object, and returns its type.
func (l *lowerer) term(n *node) (*model.Expr, *typ) {
	if n.list() {
		l.ld.errorAt(n.place(), "Not an object", "%s stands where a variable or an object does; object fluents are not supported.", text(n))
		return nil, nil
	}
	if n.name[0] == '?' {
		for _, v := range slices.Backward(l.vars) {
			switch {
			case v.name != n.name:
			case v.t == nil: // its type is faulty
				return nil, nil
			default:
				return &model.Expr{Op: model.OpSlot, Kind: model.KindObject, Type: v.t.m, Slot: v.slot, Name: n.name[1:]}, v.t
			}
		}
		var names []string
		for _, v := range l.vars {
			names = append(names, v.name[1:])
		}
		l.ld.errorAt(n.place(), fmt.Sprintf("Unknown variable %q", n.name), "No parameter or quantifier around it has that name.%s", near(n.name[1:], names))
		return nil, nil
	}
	o := l.ld.object(n.sym)
	if o == nil {
		l.ld.noObject(n.src, n.from, n.to, n.sym)
		return nil, nil
	}
	return &model.Expr{Op: model.OpObject, Kind: model.KindObject, Type: o.t.m, Const: model.ObjectValue(o.id)}, o.t
}

// atom lowers a predicate with its arguments.
func (l *lowerer) atom(n *node) *model.Expr {
	p := l.ld.predicates[n.head()]
	if p == nil {
		l.ld.noPredicate(n.kids[0], n.head(), "predicate", l.ld.predicates)
		return nil
	}
	return l.read(n, p)
}

func (l *lowerer) read(n *node, p *predicate) *model.Expr {
	var ns []*node
	if n.list() {
		ns = n.kids[1:]
	}
	if len(ns) != len(p.kinds) {
		l.ld.wrongArity(n, p, len(ns))
		return nil
	}
	e := &model.Expr{Op: model.OpFluent, Kind: p.f.Kind, Fluent: p.f}
	ok := true
	for i, k := range ns {
		a, t := l.term(k)
		if ok = a != nil && l.fits(k, a, t, p, i) && ok; ok {
			e.Args = append(e.Args, a)
		}
	}
	if !ok {
		return nil
	}
	return e
}

// fits reports an argument that can be no object of the parameter's type.
func (l *lowerer) fits(n *node, a *model.Expr, t *typ, p *predicate, i int) bool {
	ld := l.ld
	want := p.kinds[i]
	if want == nil {
		return true // its declaration is faulty
	}
	if a.Op == model.OpObject && ld.isA(ld.object(n.sym), want) || t.isA(want) {
		return true
	}
	if a.Op != model.OpObject && !ld.disjoint(t, want) {
		if t.m.Root() != want.m.Root() {
			ld.mixed = true
			return false
		}
		return true
	}
	ld.errorAt(n.place(), "Wrong type", "%s is %s, and this is for %s: %s.", n.name, article(ld.shown(t.m)), article(ld.shown(want.m)), signature(p.f.Name, p.f.Params, ld.shown))
	return false
}
