package load

import (
	"fmt"

	"github.com/expr-lang/expr/ast"

	"github.com/fettleops/fettle/model"
)

var quantifiers = map[string]model.Op{
	"all": model.OpAll, "any": model.OpAny, "none": model.OpAny, "one": model.OpOne,
	"count": model.OpCount, "sum": model.OpSum, "min": model.OpMin, "max": model.OpMax,
}

// builtin lowers a function of the language.
func (l *lowerer) builtin(n *ast.BuiltinNode) *model.Expr {
	if l.piped(n, n.Arguments) {
		return nil
	}
	switch n.Name {
	case "abs":
		return l.abs(n)
	case "len":
		return l.length(n)
	case "min", "max":
		return l.extreme(n)
	case "all", "any", "none", "one", "count", "sum":
		return l.quantifier(n)
	}
	hint := functionList
	if n.Name == "map" || n.Name == "filter" {
		hint = "map stands within min, max and sum, as in max(map(T, …)); count what fulfils a condition with count(T, …)."
	}
	return l.errorAt(n.Location(), "Not part of the language", "%s() here is not. %s", n.Name, hint)
}

func (l *lowerer) abs(n *ast.BuiltinNode) *model.Expr {
	if len(n.Arguments) != 1 {
		return l.errorAt(n.Location(), `Wrong number of arguments for "abs"`, "abs takes 1 argument, a number, got %d.", len(n.Arguments))
	}
	x := l.operand(n.Arguments[0], model.KindNumber, nil, "abs takes")
	if x == nil {
		return nil
	}
	return &model.Expr{Op: model.OpAbs, Kind: model.KindNumber, Args: []*model.Expr{x}}
}

// length lowers the number of a type's objects, or of a string's characters.
func (l *lowerer) length(n *ast.BuiltinNode) *model.Expr {
	if len(n.Arguments) != 1 {
		return l.errorAt(n.Location(), `Wrong number of arguments for "len"`, "len takes 1 argument, a type or a string, got %d.", len(n.Arguments))
	}
	if id, ok := n.Arguments[0].(*ast.IdentifierNode); ok && l.ld.names[id.Value].kind == "type" {
		slot := l.slots
		l.slots++
		return &model.Expr{Op: model.OpCount, Kind: model.KindNumber, Over: l.ld.typeOf[id.Value].t, Slot: slot, Name: "#", Args: []*model.Expr{model.TrueExpr}}
	}
	x := l.operand(n.Arguments[0], model.KindString, nil, "len takes")
	if x == nil {
		return nil
	}
	return &model.Expr{Op: model.OpLen, Kind: model.KindNumber, Args: []*model.Expr{x}}
}

// extreme lowers min(map(T, …)) and max(map(T, …)).
func (l *lowerer) extreme(n *ast.BuiltinNode) *model.Expr {
	if len(n.Arguments) == 1 {
		if m, ok := n.Arguments[0].(*ast.BuiltinNode); ok && m.Name == "map" && len(m.Arguments) == 2 {
			return l.over(n, m.Arguments[0], m.Arguments[1])
		}
	}
	return l.errorAt(n.Location(), "Not part of the language", "%s takes map(T, …), as in %s(map(node, load(#))). The lesser of two is written a < b ? a : b.", n.Name, n.Name)
}

func (l *lowerer) quantifier(n *ast.BuiltinNode) *model.Expr {
	switch len(n.Arguments) {
	case 2:
		return l.over(n, n.Arguments[0], n.Arguments[1])
	case 1:
		m, ok := n.Arguments[0].(*ast.BuiltinNode)
		if ok && m.Name == "map" && len(m.Arguments) == 2 {
			return l.over(n, m.Arguments[0], m.Arguments[1])
		}
	}
	if n.Name == "count" && len(n.Arguments) == 1 {
		return l.errorAt(n.Location(), "No condition to count", "count takes a type and a condition, as in count(service, up(#)). The number of all objects is len(service).")
	}
	return l.errorAt(n.Location(), fmt.Sprintf("Wrong number of arguments for %q", n.Name), "%s takes a type and an expression over #, as in %s(service, …).", n.Name, n.Name)
}

// over lowers a quantifier over the objects of a type.
func (l *lowerer) over(n *ast.BuiltinNode, domain, body ast.Node) *model.Expr {
	t := l.domain(domain, n.Name)
	if len(l.bound) == maxClosure {
		return l.errorAt(n.Location(), "Nested too deeply", "At most %d quantifiers stand in each other. Name the inner part with a derived fluent.", maxClosure)
	}
	p, ok := body.(*ast.PredicateNode)
	if !ok {
		return nil
	}
	op := quantifiers[n.Name]
	kind, inner := model.KindBool, model.KindBool
	switch op {
	case model.OpCount:
		kind = model.KindNumber
	case model.OpSum, model.OpMin, model.OpMax:
		kind, inner = model.KindNumber, model.KindNumber
	}
	slot := l.slots
	l.slots++
	l.bound = append(l.bound, binding{slot, t})
	x := l.operand(p.Node, inner, nil, n.Name+" takes")
	l.bound = l.bound[:len(l.bound)-1]
	if x == nil || t == nil {
		return nil
	}
	if x.Op != model.OpConst && !mentions(x, slot) {
		l.ld.doubt(l.src.rangeOf(l.src.span(n)), "The object at hand is never used", "Without # it is the same for every %s. Write # where the %s at hand is meant, or do without %s.", t.Name, t.Name, n.Name)
	}
	q := &model.Expr{Op: op, Kind: kind, Over: t, Slot: slot, Name: "#", Args: []*model.Expr{x}}
	if n.Name == "none" {
		return &model.Expr{Op: model.OpNot, Kind: model.KindBool, Args: []*model.Expr{q}}
	}
	return q
}

// domain returns the type that a quantifier ranges over.
func (l *lowerer) domain(n ast.Node, name string) *model.Type {
	id, ok := n.(*ast.IdentifierNode)
	if ok {
		if _, variable := l.lookup(id.Value); variable {
			l.errorAt(id.Location(), "Not a type", "%s ranges over the objects of a type, and %s is a parameter.", name, id.Value)
			return nil
		}
		switch k := l.ld.names[id.Value].kind; k {
		case "type":
			return l.ld.typeOf[id.Value].t
		case "":
			l.errorAt(id.Location(), fmt.Sprintf("Unknown type %q", id.Value), "There is no type %q.%s", id.Value, l.ld.near(id.Value, l.ld.declaredNames("type")))
			return nil
		default:
			l.errorAt(id.Location(), "Not a type", "%s ranges over the objects of a type, and %s is %s.", name, id.Value, withArticle(k))
			return nil
		}
	}
	l.errorAt(l.src.span(n), "Not a type", "%s ranges over the objects of a type, named bare.", name)
	return nil
}
