package policy

import (
	"fmt"

	"github.com/expr-lang/expr/ast"
	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model"
)

// text checks a text that should name something of the model.
func (c *ruleChecker) text(n ast.Node, text string, s subject) {
	switch s {
	case anAction:
		c.known(n, text, s)
	case anObject:
		c.object(n, text, c.m.Types)
	case aGround, aDeed, anAtom, aSet, aGoal:
		c.atom(n, text, s)
	}
}

// known doubts a name that the model does not have; it tells whether it has it.
func (c *ruleChecker) known(n ast.Node, name string, s subject) bool {
	names := c.names(s)
	for _, k := range names {
		if k == name {
			return true
		}
	}
	c.doubted = c.doubted || s == anAction
	c.report(hcl.DiagWarning, n, fmt.Sprintf("Unknown %s %q", s, model.Clip(name)), "The model has none of this name."+didYouMean(name, names))
	return false
}

// atom doubts a text that is never that of a ground action, a ground fluent or
// a goal: they are compared as they are written elsewhere.
func (c *ruleChecker) atom(n ast.Node, text string, s subject) {
	name, args, err := model.ParseAtom(text)
	if err != nil {
		c.report(hcl.DiagWarning, n, "Invalid name", fmt.Sprintf("Nothing is called %q: %s.", model.Clip(text), err))
		return
	}
	if plain := model.FormatAtom(name, args...); plain != text && s != aDeed {
		c.report(hcl.DiagWarning, n, "Other spelling", fmt.Sprintf("It is compared letter by letter, and what is meant is written %q.", model.Clip(plain)))
		return
	}
	if !c.known(n, name, s) || s == aDeed && len(args) == 0 {
		return
	}
	params := c.params(name, s)
	if len(params) != len(args) {
		c.report(hcl.DiagWarning, n, "Wrong number of arguments", fmt.Sprintf("%s takes %s, and %q has %d.", name, counted(len(params), "argument"), model.Clip(text), len(args)))
		return
	}
	for i, a := range args {
		c.object(n, a, []*model.Type{params[i].Type})
	}
}

func (c *ruleChecker) params(name string, s subject) []model.Param {
	switch s {
	case anAtom, aSet:
		return c.m.Fluent(name).Params
	case aGoal:
		return c.m.Goal(name).Params
	}
	return c.m.Action(name).Params
}

// object doubts the name of an object of the types where the model declares all
// that there are.
func (c *ruleChecker) object(n ast.Node, name string, types []*model.Type) {
	var names []string
	for _, t := range types {
		if c.m.Grows(t) {
			return
		}
		for _, o := range c.u.Objects(t) {
			if c.u.Name(t, o) == name {
				return
			}
			names = append(names, c.u.Name(t, o))
		}
	}
	if len(types) == 0 {
		return
	}
	what := "object"
	if len(types) == 1 {
		what = types[0].String()
	}
	c.report(hcl.DiagWarning, n, fmt.Sprintf("Unknown %s %q", what, model.Clip(name)), "The model declares none of this name."+didYouMean(name, names))
}
