package load

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/zclconf/go-cty/cty"

	"github.com/fettleops/fettle/model"
)

func (l *lowerer) unary(n *ast.UnaryNode) *model.Expr {
	switch n.Operator {
	case "!", "not":
		x := l.operand(n.Node, model.KindBool, nil, n.Operator+" takes")
		if x == nil {
			return nil
		}
		return &model.Expr{Op: model.OpNot, Kind: model.KindBool, Args: []*model.Expr{x}}
	}
	x := l.operand(n.Node, model.KindNumber, nil, n.Operator+" takes")
	if x == nil || n.Operator == "+" {
		return x
	}
	if x.Op == model.OpConst {
		v, _ := x.Const.Number()
		return number(-v)
	}
	return &model.Expr{Op: model.OpNeg, Kind: model.KindNumber, Args: []*model.Expr{x}}
}

var arithmetic = map[string]model.Op{"+": model.OpAdd, "-": model.OpSub, "*": model.OpMul, "/": model.OpDiv}

var orderings = map[string]model.Op{"<": model.OpLt, "<=": model.OpLe, ">": model.OpGt, ">=": model.OpGe}

var textuals = map[string]model.Op{
	"contains": model.OpContains, "startsWith": model.OpPrefix, "endsWith": model.OpSuffix, "matches": model.OpMatches,
}

func (l *lowerer) binary(n *ast.BinaryNode) *model.Expr {
	switch n.Operator {
	case "&&", "and", "||", "or":
		a, b := l.pair(n, model.KindBool)
		if a == nil || b == nil {
			return nil
		}
		if n.Operator == "&&" || n.Operator == "and" {
			return model.And(a, b)
		}
		return model.Or(a, b)
	case "==", "!=":
		return l.equality(n)
	case "in":
		return l.in(n)
	}
	if op, ok := arithmetic[n.Operator]; ok {
		return l.numeric(n, op, model.KindNumber)
	}
	if op, ok := orderings[n.Operator]; ok {
		return l.numeric(n, op, model.KindBool)
	}
	if op, ok := textuals[n.Operator]; ok {
		return l.textual(n, op)
	}
	return l.refuse(n)
}

func (l *lowerer) pair(n *ast.BinaryNode, kind model.Kind) (a, b *model.Expr) {
	return l.once(n.Left, kind, n.Operator), l.once(n.Right, kind, n.Operator)
}

// once lowers an operand that may stand in two places of the tree: expr's
// parser reads a < b < c as a < b && b < c with one and the same b.
func (l *lowerer) once(n ast.Node, kind model.Kind, operator string) *model.Expr {
	x, done := l.done[n]
	if !done {
		x = l.operand(n, kind, nil, operator+" takes")
		l.done[n] = x
	}
	return x
}

func (l *lowerer) numeric(n *ast.BinaryNode, op model.Op, kind model.Kind) *model.Expr {
	a, b := l.pair(n, model.KindNumber)
	if a == nil || b == nil {
		return nil
	}
	return &model.Expr{Op: op, Kind: kind, Args: []*model.Expr{a, b}}
}

// textual lowers contains, startsWith, endsWith and matches. The pattern of
// matches is a literal, so that it is compiled once and known to be valid.
func (l *lowerer) textual(n *ast.BinaryNode, op model.Op) *model.Expr {
	a := l.operand(n.Left, model.KindString, nil, n.Operator+" takes")
	if op != model.OpMatches {
		b := l.operand(n.Right, model.KindString, nil, n.Operator+" takes")
		if a == nil || b == nil {
			return nil
		}
		return &model.Expr{Op: op, Kind: model.KindBool, Args: []*model.Expr{a, b}}
	}
	lit, ok := n.Right.(*ast.StringNode)
	if !ok {
		return l.errorAt(l.src.span(n.Right), "Not a pattern", "matches takes a regular expression, written as a string.")
	}
	text := cty.NormalizeString(lit.Value)
	re, err := regexp.Compile(text)
	if err != nil {
		return l.errorAt(lit.Location(), "Invalid pattern", "It is no regular expression: %s.", err)
	}
	if a == nil {
		return nil
	}
	return &model.Expr{Op: op, Kind: model.KindBool, Args: []*model.Expr{a}, Const: model.StringValue(text), Pattern: re}
}

// equality compares two operands of one kind. A string beside something
// object-valued is an object or a word of its type.
func (l *lowerer) equality(n *ast.BinaryNode) *model.Expr {
	xs := l.alike(n.Left, n.Right)
	a, b := xs[0], xs[1]
	if a == nil || b == nil || !l.comparable(l.src.span(n), a, b, l.sideHint(n, a, b)) {
		return nil
	}
	op := model.OpEq
	if n.Operator == "!=" {
		op = model.OpNe
	}
	return &model.Expr{Op: op, Kind: model.KindBool, Args: []*model.Expr{a, b}}
}

// alike lowers operands of one kind, each once. The one whose meaning depends
// least on the others is a hint for them. What is faulty is nil.
func (l *lowerer) alike(nodes ...ast.Node) []*model.Expr {
	pivot := 0
	for i, n := range nodes {
		if l.openness(n) < l.openness(nodes[pivot]) {
			pivot = i
		}
	}
	out := make([]*model.Expr, len(nodes))
	first := l.expr(nodes[pivot], nil)
	out[pivot] = first
	for i, n := range nodes {
		open := l.openness(n) > 0
		switch {
		case i == pivot || first == nil && open:
		case first == nil || first.Kind != model.KindObject || !open:
			out[i] = l.unlessUnquoted(n, first)
		default:
			out[i] = l.expr(n, first.Type.Root())
		}
	}
	return out
}

// unlessUnquoted lowers a node beside an operand, unless it is a name that
// must be quoted.
func (l *lowerer) unlessUnquoted(n ast.Node, beside *model.Expr) *model.Expr {
	if beside != nil && beside.Kind == model.KindObject && l.unquoted(n, beside.Type, "The comparison takes") {
		return nil
	}
	return l.expr(n, nil)
}

// openness tells how much the meaning of an operand depends on the type that
// is wanted: that of a string does, that of a bare word that is no variable
// may, that of anything else does not.
func (l *lowerer) openness(n ast.Node) int {
	switch n := n.(type) {
	case *ast.StringNode:
		return 2
	case *ast.IdentifierNode:
		if _, ok := l.letNamed(n.Value); ok {
			return 0
		}
		if _, ok := l.lookup(n.Value); ok {
			return 0
		}
		if k := l.ld.names[n.Value].kind; k == "object" || k == "" {
			return 1
		}
	case *ast.ConditionalNode:
		return min(l.openness(n.Exp1), l.openness(n.Exp2))
	case *ast.VariableDeclaratorNode:
		return l.openness(n.Expr)
	}
	return 0
}

// comparable reports operands that can never be equal by their types.
func (l *lowerer) comparable(loc file.Location, a, b *model.Expr, hint string) bool {
	if a.Kind != b.Kind || a.Kind == model.KindObject && a.Type.Root() != b.Type.Root() {
		l.errorAt(loc, "Wrong type", "These cannot be compared: %s and %s.%s", describe(a), describe(b), hint)
		return false
	}
	return true
}

// sideHint is a quoteHint for the operand that stands beside an object.
func (l *lowerer) sideHint(n *ast.BinaryNode, a, b *model.Expr) string {
	switch {
	case a.Kind == model.KindObject && b.Kind != model.KindObject:
		return l.quoteHint(n.Right, a.Type)
	case b.Kind == model.KindObject && a.Kind != model.KindObject:
		return l.quoteHint(n.Left, b.Type)
	}
	return ""
}

// in lowers membership in a list, or in a type.
func (l *lowerer) in(n *ast.BinaryNode) *model.Expr {
	if list, ok := n.Right.(*ast.ArrayNode); ok {
		return l.inList(n, list)
	}
	id, ok := n.Right.(*ast.IdentifierNode)
	if !ok || l.ld.names[id.Value].kind != "type" {
		l.expr(n.Left, nil)
		return l.errorAt(l.src.span(n.Right), "Not a list", "in takes a list, as in x in [a, b], or a type.")
	}
	t := l.ld.typeOf[id.Value].t
	x := l.expr(n.Left, t.Root())
	if x == nil {
		return nil
	}
	if x.Kind != model.KindObject || x.Type.Root() != t.Root() {
		return l.errorAt(l.src.span(n), "Wrong type", "%s can be no %s.", capital(describe(x)), t)
	}
	return &model.Expr{Op: model.OpIsA, Kind: model.KindBool, Args: []*model.Expr{x}, Over: t}
}

func (l *lowerer) inList(n *ast.BinaryNode, list *ast.ArrayNode) *model.Expr {
	xs := l.alike(append([]ast.Node{n.Left}, list.Nodes...)...)
	ok := xs[0] != nil
	for i, x := range xs[1:] {
		ok = ok && x != nil && l.comparable(l.src.span(list.Nodes[i]), xs[0], x, "")
	}
	if !ok {
		return nil
	}
	return &model.Expr{Op: model.OpIn, Kind: model.KindBool, Args: xs}
}

func (l *lowerer) conditional(n *ast.ConditionalNode, want *model.Type) *model.Expr {
	if !n.Ternary {
		return l.errorAt(l.src.span(n), "Not part of the language", "if … { } else { } is not. Write condition ? a : b.")
	}
	if n.Exp1 == n.Cond {
		return l.errorAt(l.src.span(n), "Not part of the language", "a ?: b is not. Write condition ? a : b.")
	}
	c := l.operand(n.Cond, model.KindBool, nil, "? : takes")
	var a, b *model.Expr
	if want != nil {
		a, b = l.expr(n.Exp1, want), l.expr(n.Exp2, want)
	} else {
		xs := l.alike(n.Exp1, n.Exp2)
		a, b = xs[0], xs[1]
	}
	if a == nil || b == nil || !l.comparable(join(l.src.span(n.Exp1), l.src.span(n.Exp2)), a, b, "") || c == nil {
		return nil
	}
	t := a.Type
	if t != nil && !b.Type.IsA(t) {
		if t = b.Type; !a.Type.IsA(t) {
			t = t.Root()
		}
	}
	return &model.Expr{Op: model.OpIf, Kind: a.Kind, Type: t, Args: []*model.Expr{c, a, b}}
}

// refuse reports what expr-lang has and the model language has not.
func (l *lowerer) refuse(n ast.Node) *model.Expr {
	loc := n.Location()
	what, instead := "This", ""
	switch n := n.(type) {
	case *ast.NilNode:
		what, instead = "nil", " What is not known is unknown, and a condition over it does not hold."
	case *ast.BinaryNode:
		what = fmt.Sprintf("The operator %s", n.Operator)
		if n.Operator == "??" {
			instead = " What is not known stays unknown."
		}
		if n.Operator == ".." {
			instead = " Compare instead, as in x >= 1 && x <= 5."
		}
	case *ast.MemberNode, *ast.ChainNode:
		what, instead, loc = "Access to a member", " Conditions are over fluents, parameters and objects.", l.src.span(n)
		if fluent, args, ok := strings.Cut(l.src.slice(loc), "["); ok && l.ld.names[fluent].kind == "fluent" {
			loc.To++ // the closing bracket
			instead = fmt.Sprintf(" A fluent's arguments stand in round parentheses: %s(%s).", fluent, strings.TrimSuffix(args, "]"))
		}
	case *ast.SliceNode:
		what, loc = "A slice", l.src.span(n)
	case *ast.ArrayNode:
		what, instead = "A list here", " Lists stand after in."
	case *ast.MapNode:
		what = "A map"
	case *ast.BytesNode:
		what = "A byte string"
	case *ast.SequenceNode:
		what, instead, loc = "A sequence with ;", " Join conditions with &&.", l.src.span(n)
	case *ast.PredicateNode:
		what = "A predicate here"
	}
	return l.errorAt(loc, "Not part of the language", "%s is not.%s", what, instead)
}

// piped reports a call written with the pipe operator, which expr's parser
// turns into an ordinary one whose first argument stands before it.
func (l *lowerer) piped(n ast.Node, args []ast.Node) bool {
	loc := n.Location()
	if len(args) > 0 && l.src.span(args[0]).From < loc.From {
		l.errorAt(loc, "Not part of the language", "The pipe operator | is not. Put the first argument into the parentheses; disjunction is ||.")
		return true
	}
	if l.src.slice(file.Location{From: loc.From - 2, To: loc.From}) == "::" {
		l.errorAt(loc, "Not part of the language", ":: is not.")
		return true
	}
	return false
}

func capital(s string) string { return string(s[0]-'a'+'A') + s[1:] }
