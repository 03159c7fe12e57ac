package policy

import "github.com/expr-lang/expr/ast"

// subject is what a part of a condition tells: its texts are names of these.
type subject string

const (
	anAction subject = "action"
	aGround  subject = "ground action"
	aDeed    subject = "action or ground action"
	anObject subject = "object"
	anAtom   subject = "bool fluent"
	aSet     subject = "fluent that is set"
	aGoal    subject = "goal"
)

// subjectOf tells what a node's text names, "" where that is not known.
func subjectOf(n ast.Node, each subject) subject {
	switch name := nameOf(n); name {
	case "action":
		return anAction
	case "ground":
		return aGround
	case "goal":
		return aGoal
	}
	if p, ok := n.(*ast.PointerNode); ok && p.Name == "" {
		return each
	}
	return ""
}

// listOf tells what the elements of a list name, "" where that is not known.
func listOf(n ast.Node, each subject) subject {
	if b, ok := n.(*ast.BuiltinNode); ok && b.Name == "filter" {
		return listOf(b.Arguments[0], each)
	}
	switch nameOf(n) {
	case "objects":
		return anObject
	case "adds", "deletes":
		return anAtom
	case "sets":
		return aSet
	}
	if whole, part := member(n); whole == "plan" {
		return map[string]subject{"objects": anObject, "actions": anAction, "unprotected": aGround, "irreversible": aGround}[part]
	}
	return ""
}
