package load

import (
	"fmt"

	"github.com/expr-lang/expr/ast"

	"github.com/fettleops/fettle/model"
)

// identifier lowers a bare name: a let variable, a parameter, a fluent without
// parameters, or an object.
func (l *lowerer) identifier(n *ast.IdentifierNode, want *model.Type) *model.Expr {
	name := n.Value
	if x, ok := l.letNamed(name); ok {
		return x
	}
	if v, ok := l.lookup(name); ok {
		if v.t == nil {
			return nil
		}
		return &model.Expr{Op: model.OpSlot, Kind: model.KindObject, Type: v.t, Slot: v.slot, Name: name}
	}
	if l.ld.tainted[name] {
		return nil
	}
	switch l.ld.names[name].kind {
	case "fluent":
		return l.read(n, name, nil)
	case "object":
		return l.bareObject(n, want)
	case "type":
		return l.errorAt(n.Location(), "Not a value", "%s is a type, the list of its objects. It stands in a quantifier, as in all(%s, …), after in, or in len(%s).", name, name, name)
	case "action":
		return l.errorAt(n.Location(), "Not a value", "%s is an action. Conditions are over fluents.", name)
	}
	return l.unknownName(n, want)
}

func (l *lowerer) unknownName(n *ast.IdentifierNode, want *model.Type) *model.Expr {
	name := n.Value
	if l.opaque {
		return nil
	}
	if want != nil {
		if id, ok := want.Lookup(name); ok && (want.Enum || l.ld.members[want][id]) {
			return l.errorAt(n.Location(), fmt.Sprintf("Unknown name %q", name), "If the word is meant, quote it: '%s'.", name)
		}
		var near []string
		for _, v := range l.vars {
			near = append(near, v.name)
		}
		hint := l.ld.near(name, near)
		if hint == "" && !want.Enum {
			hint = l.ld.nearObject(want, name)
		}
		if hint == "" && want.Enum {
			hint = l.ld.near(name, l.ld.m.Declared(want))
		}
		if hint == "" && l.ld.mayDiscover(want) {
			hint = fmt.Sprintf(" An object that is discovered is quoted: '%s'.", name)
		}
		if want.Enum {
			return l.errorAt(n.Location(), fmt.Sprintf("Unknown word %q", name), "There is no such word in %s.%s", want, hint)
		}
		return l.errorAt(n.Location(), fmt.Sprintf("Unknown object %q", name), "There is no %s %q.%s", want, name, hint)
	}
	near := l.ld.declaredNames("fluent")
	for _, v := range l.vars {
		near = append(near, v.name)
	}
	for _, v := range l.lets {
		near = append(near, v.name)
	}
	return l.errorAt(n.Location(), fmt.Sprintf("Unknown fluent %q", name), "There is no fluent %q, nor a parameter or object of that name.%s", name, l.ld.near(name, near))
}

// bareObject lowers a declared object's name, which may stand in several
// root types: then the place where it stands decides.
func (l *lowerer) bareObject(n *ast.IdentifierNode, want *model.Type) *model.Expr {
	name := n.Value
	if want != nil {
		if id, ok := want.Lookup(name); ok && !want.Enum && l.ld.members[want][id] {
			return object(want, id)
		}
	}
	roots := l.ld.objects[name]
	if len(roots) == 0 { // its declaration is faulty
		return nil
	}
	if len(roots) > 1 {
		return l.errorAt(n.Location(), "Ambiguous object", "%s is an object of %s and of %s. Compare it with something of one type.", name, roots[0], roots[1])
	}
	t := l.narrowest(roots[0], name)
	if want != nil {
		return l.errorAt(n.Location(), "Wrong type", "Here stands %s, and %s is %s.", noun(model.KindObject, want), name, noun(model.KindObject, t))
	}
	id, _ := t.Lookup(name)
	return object(t, id)
}

// narrowest returns the deepest subtype that has the object declared.
func (l *lowerer) narrowest(t *model.Type, name string) *model.Type {
	id, _ := t.Lookup(name)
	for _, s := range l.ld.m.Types {
		if s != t && s.IsA(t) && l.ld.members[s][id] {
			t = s
		}
	}
	return t
}

// call lowers a fluent with its arguments.
func (l *lowerer) call(n *ast.CallNode) *model.Expr {
	callee, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		return l.refuse(n.Callee)
	}
	if l.piped(n, n.Arguments) {
		return nil
	}
	return l.read(callee, callee.Value, n.Arguments)
}

// read lowers the reading of a fluent.
func (l *lowerer) read(at *ast.IdentifierNode, name string, args []ast.Node) *model.Expr {
	d := l.ld.fluentNamed(name)
	if d == nil && l.ld.tainted[name] {
		return nil
	}
	if d == nil {
		return l.notFluent(at, name)
	}
	if d.f == nil || d.broken {
		for _, a := range args {
			l.expr(a, nil)
		}
		return nil
	}
	xs, ok := l.arguments(at, d.f.Name, d.f.Params, args)
	if !ok {
		return nil
	}
	return &model.Expr{Op: model.OpFluent, Kind: d.f.Kind, Type: d.f.Type, Fluent: d.f, Args: xs}
}

// arguments lowers the arguments of a fluent or an action.
func (l *lowerer) arguments(at *ast.IdentifierNode, name string, params []model.Param, args []ast.Node) ([]*model.Expr, bool) {
	if len(args) != len(params) {
		l.errorAt(at.Location(), fmt.Sprintf("Wrong number of arguments for %q", name), "%s takes %s, got %d.", name, takes(params), len(args))
		return nil, false
	}
	ok := true
	xs := make([]*model.Expr, len(args))
	for i, a := range args {
		xs[i] = l.operand(a, model.KindObject, params[i].Type, name+" takes")
		ok = ok && xs[i] != nil
	}
	return xs, ok
}

// takes describes parameters: 2 arguments (s service, n node).
func takes(params []model.Param) string {
	switch len(params) {
	case 0:
		return "no argument"
	case 1:
		return "1 argument (" + params[0].Name + " " + params[0].Type.String() + ")"
	}
	s := fmt.Sprintf("%d arguments (", len(params))
	for i, p := range params {
		if i > 0 {
			s += ", "
		}
		s += p.Name + " " + p.Type.String()
	}
	return s + ")"
}

func (l *lowerer) notFluent(at *ast.IdentifierNode, name string) *model.Expr {
	loc := at.Location()
	if _, ok := l.lookup(name); ok {
		return l.errorAt(loc, "Not a fluent", "%s is a parameter and takes no arguments.", name)
	}
	if _, ok := l.letNamed(name); ok {
		return l.errorAt(loc, "Not a fluent", "%s is a variable and takes no arguments.", name)
	}
	switch k := l.ld.names[name].kind; k {
	case "action", "type", "object":
		return l.errorAt(loc, "Not a fluent", "%s is %s and takes no arguments in a condition.", name, withArticle(k))
	}
	if l.ld.config().Disabled[name] {
		return l.errorAt(loc, "Not part of the language", "%s() is not. %s", name, functionList)
	}
	hint := l.ld.near(name, l.ld.declaredNames("fluent"))
	if other := spelled[name]; other != "" {
		hint = other
	}
	return l.errorAt(loc, fmt.Sprintf("Unknown fluent %q", name), "There is no fluent %q.%s", name, hint)
}

// spelled tells how the language writes what others call so.
var spelled = map[string]string{
	"forall": " For every object is written all, as in all(service, up(#)).",
	"exists": " For some object is written any, as in any(service, up(#)).",
}

func withArticle(noun string) string {
	if noun == "action" || noun == "object" {
		return "an " + noun
	}
	return "a " + noun
}

const functionList = "The functions of conditions are all, any, none, one, count, sum, min, max, abs and len."
