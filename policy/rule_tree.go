package policy

import "github.com/expr-lang/expr/ast"

// children returns the parts of a node of a condition.
func children(n ast.Node) []*ast.Node {
	switch n := n.(type) {
	case *ast.UnaryNode:
		return []*ast.Node{&n.Node}
	case *ast.BinaryNode:
		return []*ast.Node{&n.Left, &n.Right}
	case *ast.ChainNode:
		return []*ast.Node{&n.Node}
	case *ast.MemberNode:
		return []*ast.Node{&n.Node, &n.Property}
	case *ast.SliceNode:
		return written(&n.Node, &n.From, &n.To)
	case *ast.CallNode:
		return append([]*ast.Node{&n.Callee}, pointers(n.Arguments)...)
	case *ast.BuiltinNode:
		return pointers(n.Arguments)
	case *ast.PredicateNode:
		return []*ast.Node{&n.Node}
	case *ast.ConditionalNode:
		return []*ast.Node{&n.Cond, &n.Exp1, &n.Exp2}
	case *ast.VariableDeclaratorNode:
		return []*ast.Node{&n.Value, &n.Expr}
	case *ast.SequenceNode:
		return pointers(n.Nodes)
	case *ast.ArrayNode:
		return pointers(n.Nodes)
	case *ast.MapNode:
		return pointers(n.Pairs)
	case *ast.PairNode:
		return []*ast.Node{&n.Key, &n.Value}
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

// written are those of the nodes that are there: a slice may lack its ends.
func written(nodes ...*ast.Node) []*ast.Node {
	var out []*ast.Node
	for _, n := range nodes {
		if *n != nil {
			out = append(out, n)
		}
	}
	return out
}

// nameOf returns the name that a node is, "" where it is none.
func nameOf(n ast.Node) string {
	if id, ok := n.(*ast.IdentifierNode); ok {
		return id.Value
	}
	return ""
}

// literal returns the text that a node is, and false where it is none.
func literal(n ast.Node) (string, bool) {
	s, ok := n.(*ast.StringNode)
	if !ok {
		return "", false
	}
	return s.Value, true
}

// member returns the whole and the part where a node is a named part of a word,
// as in plan.cost and args.s.
func member(n ast.Node) (whole, part string) {
	m, ok := n.(*ast.MemberNode)
	if !ok {
		return "", ""
	}
	part, ok = literal(m.Property)
	if !ok {
		return "", ""
	}
	return nameOf(m.Node), part
}

// mapOf returns the name of the map that a node is: args, labels, sets,
// trigger.labels; "" where it is none.
func mapOf(n ast.Node) string {
	switch name := nameOf(n); name {
	case "args", "labels", "sets":
		return name
	}
	if whole, part := member(n); whole == "trigger" && part == "labels" {
		return "trigger.labels"
	}
	return ""
}

// called makes a call of one of the functions that no condition can write.
func called(at ast.Node, name string, args ...ast.Node) ast.Node {
	callee := &ast.IdentifierNode{Value: name}
	callee.SetLocation(at.Location())
	c := &ast.CallNode{Callee: callee, Arguments: args}
	c.SetLocation(at.Location())
	return c
}
