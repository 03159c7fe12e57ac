package world

import (
	"reflect"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/types"
)

// In expr, a field that is not there is nil, nil == 'UP' is false, and so is
// 1 == 'UP'. An observation must not become false because an answer lacks what
// was looked for, so the tree is guarded: whatever could be nil, and every
// comparison of what has different types, stops the evaluation, and the value
// is unknown. Two forms state what a missing field means, and are let through:
// body.x ?? false, and body.x == nil.

// The guards are called by names that no expression can write.
const (
	guardKnown = "__known"
	guardEqual = "__equal"
	guardIn    = "__in"
	guardTurn  = "__turn"
)

var guardTypes = types.Map{
	guardKnown: types.TypeOf(func(...any) any { return nil }),
	guardEqual: types.TypeOf(func(any, any) bool { return false }),
	guardIn:    types.TypeOf(func(any, any) bool { return false }),
	guardTurn:  types.TypeOf(func(...any) any { return nil }),
}

// unknownError stops an evaluation whose value is not known.
type unknownError struct{ msg string }

func (e *unknownError) Error() string { return e.msg }

// use says what is done with a node's value.
type use uint8

const (
	plainUse use = iota
	nilUse       // nil is looked for, or replaced
	baseUse      // a field of it is taken, within an optional chain
)

// guard rewrites a node and what is below it.
func (r *rewriter) guard(node *ast.Node, as use) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		if _, answer := r.env[n.Value]; answer && !r.lets[n.Value] {
			r.known(node, n.Value, as)
		}
	case *ast.PointerNode:
		r.known(node, "#"+n.Name, as)
	case *ast.ChainNode:
		r.guard(&n.Node, baseUse)
		r.known(node, label(n.Node), as)
	case *ast.MemberNode:
		name := label(n)
		if as == baseUse || n.Optional {
			r.guard(&n.Node, baseUse)
		} else {
			r.guard(&n.Node, plainUse)
		}
		r.guard(&n.Property, plainUse)
		r.known(node, name, as)
	case *ast.BinaryNode:
		r.guardBinary(node, n)
	case *ast.BuiltinNode:
		for i := range n.Arguments {
			r.guard(&n.Arguments[i], plainUse)
		}
		r.known(node, n.Name, as)
	case *ast.PredicateNode:
		r.guard(&n.Node, plainUse)
		turn := call(n, guardTurn)
		seq := &ast.SequenceNode{Nodes: []ast.Node{turn, n.Node}}
		seq.SetLocation(n.Location())
		n.Node = seq
	default:
		for _, c := range children(*node) {
			r.guard(c, plainUse)
		}
	}
}

func (r *rewriter) guardBinary(node *ast.Node, n *ast.BinaryNode) {
	left, right := plainUse, plainUse
	switch {
	case n.Operator == "??":
		left = nilUse
	case isNil(n.Right):
		left = nilUse
	case isNil(n.Left):
		right = nilUse
	}
	loose := dynamic(n.Left) || dynamic(n.Right)
	r.guard(&n.Left, left)
	r.guard(&n.Right, right)
	if left == nilUse || right == nilUse || !loose {
		return
	}
	switch n.Operator {
	case "==":
		ast.Patch(node, call(n, guardEqual, n.Left, n.Right))
	case "!=":
		not := &ast.UnaryNode{Operator: "not", Node: call(n, guardEqual, n.Left, n.Right)}
		ast.Patch(node, not)
	case "in":
		ast.Patch(node, call(n, guardIn, n.Left, n.Right))
	}
}

// known wraps a node that could be nil.
func (r *rewriter) known(node *ast.Node, name string, as use) {
	if as != plainUse || !dynamic(*node) {
		return
	}
	text := &ast.StringNode{Value: name}
	ast.Patch(node, call(*node, guardKnown, *node, text))
}

// dynamic tells whether a node's type is only known once there is an answer.
func dynamic(n ast.Node) bool {
	t := n.Type()
	return t == nil || t.Kind() == reflect.Interface
}

func isNil(n ast.Node) bool {
	_, ok := n.(*ast.NilNode)
	return ok
}

func call(at ast.Node, name string, args ...ast.Node) *ast.CallNode {
	callee := &ast.IdentifierNode{Value: name}
	callee.SetLocation(at.Location())
	c := &ast.CallNode{Callee: callee, Arguments: args}
	c.SetLocation(at.Location())
	return c
}

// label is how a note calls what a node reads: the path without its root.
func label(n ast.Node) string {
	s := strings.ReplaceAll(n.String(), "?.", ".")
	for _, root := range []string{"item.", "body."} {
		s = strings.TrimPrefix(s, root)
	}
	return s
}

// children of the nodes that guard treats alike.
func children(n ast.Node) []*ast.Node {
	switch n := n.(type) {
	case *ast.UnaryNode:
		return []*ast.Node{&n.Node}
	case *ast.ConditionalNode:
		return []*ast.Node{&n.Cond, &n.Exp1, &n.Exp2}
	case *ast.VariableDeclaratorNode:
		return []*ast.Node{&n.Value, &n.Expr}
	case *ast.SliceNode:
		out := []*ast.Node{&n.Node}
		if n.From != nil {
			out = append(out, &n.From)
		}
		if n.To != nil {
			out = append(out, &n.To)
		}
		return out
	case *ast.PairNode:
		return []*ast.Node{&n.Key, &n.Value}
	case *ast.SequenceNode:
		return pointers(n.Nodes)
	case *ast.ArrayNode:
		return pointers(n.Nodes)
	case *ast.MapNode:
		return pointers(n.Pairs)
	}
	return nil
}

func pointers(nodes []ast.Node) []*ast.Node {
	out := make([]*ast.Node, len(nodes))
	for i := range nodes {
		out[i] = &nodes[i]
	}
	return out
}
