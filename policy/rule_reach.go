package policy

import (
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/fettleops/fettle/model"
)

// reach evaluates a condition for any step with one action, as far as the action
// alone decides it, the way an evaluation goes through it. It finds the
// parameters that the condition looks at and the action does not have.
type reach struct {
	action  *model.Action
	missing []*ast.StringNode
}

func (r *reach) node(n ast.Node) model.Tri {
	switch n := n.(type) {
	case *ast.BoolNode:
		return model.Bool(n.Value)
	case *ast.UnaryNode:
		if v := r.node(n.Node); n.Operator == "!" || n.Operator == "not" {
			return v.Not()
		}
		return model.Unknown
	case *ast.BinaryNode:
		return r.binary(n)
	case *ast.ConditionalNode:
		return r.conditional(n)
	case *ast.MemberNode:
		if whole, part := member(n); whole == "args" && !r.has(part) {
			r.missing = append(r.missing, n.Property.(*ast.StringNode))
		}
	}
	for _, c := range children(n) {
		r.node(*c)
	}
	return model.Unknown
}

func (r *reach) conditional(n *ast.ConditionalNode) model.Tri {
	switch r.node(n.Cond) {
	case model.True:
		return r.node(n.Exp1)
	case model.False:
		return r.node(n.Exp2)
	}
	a, b := r.node(n.Exp1), r.node(n.Exp2)
	if a == b {
		return a
	}
	return model.Unknown
}

func (r *reach) binary(n *ast.BinaryNode) model.Tri {
	switch n.Operator {
	case "&&", "and":
		l := r.node(n.Left)
		if l == model.False {
			return l
		}
		return l.And(r.node(n.Right))
	case "||", "or":
		l := r.node(n.Left)
		if l == model.True {
			return l
		}
		return l.Or(r.node(n.Right))
	}
	r.node(n.Left)
	r.node(n.Right)
	return r.compare(n)
}

// compare decides what is said of the action's name and its parameters.
func (r *reach) compare(n *ast.BinaryNode) model.Tri {
	if part, ok := literal(n.Left); ok && n.Operator == "in" && nameOf(n.Right) == "args" {
		return model.Bool(r.has(part))
	}
	left, right := n.Left, n.Right
	if nameOf(right) == "action" {
		left, right = right, left
	}
	if nameOf(left) != "action" {
		return model.Unknown
	}
	texts := literals(right)
	if _, isList := right.(*ast.ArrayNode); isList {
		if n.Operator != "in" || len(texts) != len(children(right)) {
			return model.Unknown
		}
		for _, t := range texts {
			if t.Value == r.action.Name {
				return model.True
			}
		}
		return model.False
	}
	if len(texts) != 1 || left != n.Left && n.Operator != "==" && n.Operator != "!=" {
		return model.Unknown
	}
	switch text := texts[0].Value; n.Operator {
	case "==":
		return model.Bool(r.action.Name == text)
	case "!=":
		return model.Bool(r.action.Name != text)
	case "startsWith":
		return model.Bool(strings.HasPrefix(r.action.Name, text))
	case "endsWith":
		return model.Bool(strings.HasSuffix(r.action.Name, text))
	case "contains":
		return model.Bool(strings.Contains(r.action.Name, text))
	}
	return model.Unknown
}

func (r *reach) has(param string) bool {
	for _, p := range r.action.Params {
		if p.Name == param {
			return true
		}
	}
	return false
}
