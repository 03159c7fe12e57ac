package load

import (
	"fmt"
	"math"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/zclconf/go-cty/cty"

	"github.com/fettleops/fettle/model"
)

// lowerer turns one parsed condition into a model expression, checking it on
// the way. A nil expression is one that is faulty and reported: whoever gets
// it says nothing more, so that one mistake is one message.
type lowerer struct {
	*scope
	ld    *loader
	src   *source
	lets  []let
	bound []binding           // quantifiers around, outermost first
	sizes map[*model.Expr]int // of expressions with shared parts counted each time
	large bool                // it was reported to be too large
	done  map[ast.Node]*model.Expr
}

type let struct {
	name string
	x    *model.Expr // nil where its value is faulty
	used *bool
}

type binding struct {
	slot int
	t    *model.Type
}

func (l *lowerer) errorAt(loc file.Location, summary, detail string, args ...any) *model.Expr {
	l.ld.errorAt(l.src.rangeOf(loc), summary, detail, args...)
	return nil
}

// operand lowers a node and checks that it is of the wanted kind and, where
// that is an object, of the wanted type. The label says what takes it.
func (l *lowerer) operand(n ast.Node, kind model.Kind, t *model.Type, label string) *model.Expr {
	if kind == model.KindObject && l.unquoted(n, t, label) {
		return nil
	}
	x := l.expr(n, t)
	if x == nil {
		return nil
	}
	if x.Kind != kind {
		return l.errorAt(l.src.span(n), "Wrong type", "%s %s, and this is %s.%s", label, noun(kind, t), describe(x), l.quoteHint(n, t))
	}
	if kind == model.KindObject && t != nil && !x.Type.IsA(t) {
		return l.errorAt(l.src.span(n), "Wrong type", "%s %s, and this is %s.", label, noun(kind, t), describe(x))
	}
	return x
}

// unquoted reports an object's name that must be quoted and is not: api-1.
func (l *lowerer) unquoted(n ast.Node, t *model.Type, label string) bool {
	if _, ok := n.(*ast.BinaryNode); !ok {
		return false
	}
	loc := l.src.span(n)
	text := l.src.slice(loc)
	detail := fmt.Sprintf("%s %s, and this is a calculation.", label, noun(model.KindObject, t))
	if word := strings.ReplaceAll(text, " ", ""); model.Bare(word) && word == text {
		detail = fmt.Sprintf("%s %s, and without quotes %s is a calculation. If it is a name, quote it: '%s'.", label, noun(model.KindObject, t), text, text)
	}
	l.errorAt(loc, "Not an object", "%s", detail)
	return true
}

// quoteHint tells how to write the object of a type that a number without
// quotes is meant to name.
func (l *lowerer) quoteHint(n ast.Node, t *model.Type) string {
	text := l.src.slice(l.src.span(n))
	if t == nil || !model.Bare(text) {
		return ""
	}
	if _, known := t.Lookup(text); !known {
		return ""
	}
	return fmt.Sprintf(" If the %s of that name is meant, quote it: '%s'.", kindOf(t), text)
}

func kindOf(t *model.Type) string {
	if t.Enum {
		return "word"
	}
	return t.Name
}

// expr lowers a node. A string or a bare word stands for an object where want
// is a type. It bounds the size on the way, since a let variable may stand in
// many places and doubles with each that stands in another.
func (l *lowerer) expr(n ast.Node, want *model.Type) *model.Expr {
	x := l.node(n, want)
	if x == nil || l.size(x) <= maxNodes {
		return x
	}
	if !l.large {
		l.ld.errorAt(l.src.whole, "Condition too large", "With its let variables put in their places it has more than %d parts. Name a part of it with a derived fluent.", maxNodes)
	}
	l.large = true
	return nil
}

func (l *lowerer) node(n ast.Node, want *model.Type) *model.Expr {
	switch n := n.(type) {
	case *ast.BoolNode:
		if n.Value {
			return model.TrueExpr
		}
		return model.FalseExpr
	case *ast.IntegerNode:
		return number(float64(n.Value))
	case *ast.FloatNode:
		if math.IsInf(n.Value, 0) || math.IsNaN(n.Value) {
			return l.errorAt(n.Location(), "Invalid number", "It is too large.")
		}
		return number(n.Value)
	case *ast.StringNode:
		return l.text(n, want)
	case *ast.IdentifierNode:
		return l.identifier(n, want)
	case *ast.PointerNode:
		return l.pointer(n)
	case *ast.UnaryNode:
		return l.unary(n)
	case *ast.BinaryNode:
		return l.binary(n)
	case *ast.ConditionalNode:
		return l.conditional(n, want)
	case *ast.VariableDeclaratorNode:
		return l.declareLet(n, want)
	case *ast.CallNode:
		return l.call(n)
	case *ast.BuiltinNode:
		return l.builtin(n)
	}
	return l.refuse(n)
}

func number(v float64) *model.Expr {
	return &model.Expr{Op: model.OpConst, Kind: model.KindNumber, Const: model.NumberValue(v)}
}

// text lowers a string literal: an object where one is wanted.
func (l *lowerer) text(n *ast.StringNode, want *model.Type) *model.Expr {
	s := cty.NormalizeString(n.Value)
	if want == nil {
		return &model.Expr{Op: model.OpConst, Kind: model.KindString, Const: model.StringValue(s)}
	}
	id, ok := l.ld.find(want, s)
	if !ok {
		summary := fmt.Sprintf("Unknown object %q", s)
		if want.Enum {
			summary = fmt.Sprintf("Unknown word %q", s)
		}
		return l.errorAt(n.Location(), summary, "%s", l.ld.noObject(want, s))
	}
	return object(want, id)
}

func object(t *model.Type, id int32) *model.Expr {
	return &model.Expr{Op: model.OpObject, Kind: model.KindObject, Type: t, Const: model.ObjectValue(id)}
}

func (l *lowerer) pointer(n *ast.PointerNode) *model.Expr {
	if n.Name != "" {
		return l.errorAt(n.Location(), "Not part of the language", "#%s is not. The object at hand is #.", n.Name)
	}
	if len(l.bound) == 0 {
		return l.errorAt(n.Location(), "No object at hand", "# stands within a quantifier, as in all(service, up(#)).")
	}
	b := l.bound[len(l.bound)-1]
	if b.t == nil {
		return nil
	}
	return &model.Expr{Op: model.OpSlot, Kind: model.KindObject, Type: b.t, Slot: b.slot, Name: "#"}
}

// declareLet puts a let variable's value in the places of its name, shared.
func (l *lowerer) declareLet(n *ast.VariableDeclaratorNode, want *model.Type) *model.Expr {
	x := l.expr(n.Value, nil)
	ok := l.ld.usable("variable", n.Name, l.src.rangeOf(n.Location()))
	if d, taken := l.ld.names[n.Name]; ok && taken {
		l.ld.taken("variable", n.Name, l.src.rangeOf(n.Location()), d)
		x = nil
	} else if _, taken := l.lookup(n.Name); taken {
		l.errorAt(n.Location(), "Name taken", "The variable %q would hide the parameter of that name. Choose another name.", n.Name)
		x = nil
	} else if _, taken := l.letNamed(n.Name); taken {
		l.errorAt(n.Location(), "Name taken", "The variable %q is declared already. Choose another name.", n.Name)
		x = nil
	}
	if x != nil && x.Op == model.OpSlot {
		named := *x
		named.Name = n.Name
		x = &named
	}
	used := false
	l.lets = append(l.lets, let{n.Name, x, &used})
	body := l.expr(n.Expr, want)
	l.lets = l.lets[:len(l.lets)-1]
	if body != nil && !used {
		l.ld.doubt(l.src.rangeOf(n.Location()), fmt.Sprintf("Variable %q is never used", n.Name), "Nothing behind it names %s. Leave it out, or use it.", n.Name)
	}
	return body
}

func (l *lowerer) letNamed(name string) (*model.Expr, bool) {
	for i := len(l.lets) - 1; i >= 0; i-- {
		if l.lets[i].name == name {
			*l.lets[i].used = true
			return l.lets[i].x, true
		}
	}
	return nil, false
}

// size counts an expression's parts, shared ones as often as they stand.
func (l *lowerer) size(x *model.Expr) int {
	if n, ok := l.sizes[x]; ok {
		return n
	}
	n := 1
	for _, a := range x.Args {
		n = min(n+l.size(a), maxNodes+1)
	}
	l.sizes[x] = n
	return n
}

// noun names a kind or an object's type with its article.
func noun(kind model.Kind, t *model.Type) string {
	switch {
	case kind != model.KindObject:
		return "a " + kind.String()
	case t == nil:
		return "an object"
	case t.Enum:
		return "a word of " + t.String()
	case strings.ContainsRune("aeiouAEIOU", rune(t.Name[0])):
		return "an " + t.Name
	}
	return "a " + t.Name
}

func describe(x *model.Expr) string { return noun(x.Kind, x.Type) }
