package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model"
)

// Check finds what in the policy does not fit the model: names that it does not
// have, and rules that can never apply.
func (p *Policy) Check(m *model.Model) hcl.Diagnostics {
	diags := append(p.checkPauses(m), p.checkRestore(m)...)
	u := model.NewUniverse(m)
	for i := range p.Rules {
		r := &p.Rules[i]
		if r.cond == nil || r.cond.tree == nil {
			continue
		}
		c := &ruleChecker{m: m, u: u, rule: r}
		c.walk(r.cond.tree, "")
		if !c.doubted && r.cond.code != nil {
			c.reaches()
		}
		diags = append(diags, c.diags...)
	}
	return diags
}

// ruleChecker holds the condition of one rule against the model. A name that is
// part of the condition has to be there; a text that something is compared with
// is doubted where nothing of the model equals it.
type ruleChecker struct {
	m       *model.Model
	u       *model.Universe // without what is discovered
	rule    *Rule
	doubted bool // an action's name or parameter, so that whether the rule applies is told
	diags   hcl.Diagnostics
}

func (c *ruleChecker) report(s hcl.DiagnosticSeverity, n ast.Node, summary, detail string) {
	rng := c.rule.cond.src.at(n.Location())
	c.diags = append(c.diags, &hcl.Diagnostic{Severity: s, Summary: summary, Detail: detail, Subject: &rng})
}

// walk looks at a node. Within a predicate, each says what its elements are.
func (c *ruleChecker) walk(n ast.Node, each subject) {
	switch n := n.(type) {
	case *ast.BinaryNode:
		c.compared(n, each)
	case *ast.MemberNode:
		switch text, ok := literal(n.Property); {
		case ok && nameOf(n.Node) == "args":
			c.param(n.Property, text, hcl.DiagError)
		case ok && nameOf(n.Node) == "sets":
			c.text(n.Property, text, aSet)
		}
	case *ast.CallNode:
		if nameOf(n.Callee) == "times" && len(n.Arguments) > 0 {
			if text, ok := literal(n.Arguments[0]); ok {
				c.text(n.Arguments[0], text, aDeed)
			}
		}
	case *ast.BuiltinNode:
		if len(n.Arguments) > 1 {
			each = listOf(n.Arguments[0], each)
		}
	}
	for _, k := range children(n) {
		c.walk(*k, each)
	}
}

func (c *ruleChecker) compared(n *ast.BinaryNode, each subject) {
	switch n.Operator {
	case "==", "!=":
		c.texts(n.Right, n.Left, each)
		c.texts(n.Left, n.Right, each)
	case "in":
		c.texts(n.Right, n.Left, each)
		text, ok := literal(n.Left)
		switch {
		case ok && nameOf(n.Right) == "args":
			c.param(n.Left, text, hcl.DiagWarning)
		case ok:
			c.text(n.Left, text, listOf(n.Right, each))
		}
	case "startsWith":
		if text, ok := literal(n.Right); ok {
			c.prefix(n.Right, text, subjectOf(n.Left, each))
		}
	}
}

// texts looks at the texts that something is compared with.
func (c *ruleChecker) texts(n, with ast.Node, each subject) {
	whole, param := member(with)
	for _, l := range literals(n) {
		if whole == "args" {
			c.object(l, l.Value, c.typesOf(param))
		} else {
			c.text(l, l.Value, subjectOf(with, each))
		}
	}
}

// typesOf are the types that actions give a parameter of this name.
func (c *ruleChecker) typesOf(param string) []*model.Type {
	var out []*model.Type
	for _, a := range c.m.Actions {
		for _, p := range a.Params {
			if p.Name == param && !slices.Contains(out, p.Type) {
				out = append(out, p.Type)
			}
		}
	}
	return out
}

// param checks the name of a parameter that some action should have.
func (c *ruleChecker) param(n ast.Node, name string, s hcl.DiagnosticSeverity) {
	var names []string
	for _, a := range c.m.Actions {
		for _, p := range a.Params {
			if p.Name == name {
				return
			}
			names = append(names, p.Name)
		}
	}
	c.doubted = true
	slices.Sort(names)
	names = slices.Compact(names)
	detail := "No action has a parameter of this name." + didYouMean(name, names)
	if len(names) > 0 && !strings.HasSuffix(detail, "?") {
		detail += fmt.Sprintf(" The parameters of actions are %s.", list(names))
	}
	c.report(s, n, fmt.Sprintf("Unknown parameter %q", model.Clip(name)), detail)
}

func didYouMean(name string, names []string) string {
	if near := model.Nearest(name, names); near != "" {
		return fmt.Sprintf(" Did you mean %q?", near)
	}
	return ""
}

// prefix checks a text that a name should begin with.
func (c *ruleChecker) prefix(n ast.Node, text string, s subject) {
	name, _, isCall := strings.Cut(text, "(")
	for _, known := range c.names(s) {
		if known == name || !isCall && strings.HasPrefix(known, name) {
			return
		}
	}
	if s == "" || s == anObject {
		return
	}
	c.doubted = c.doubted || s == anAction
	c.report(hcl.DiagWarning, n, fmt.Sprintf("Unknown beginning %q", model.Clip(text)), fmt.Sprintf("No %s begins like this.%s", s, didYouMean(name, c.names(s))))
}

// names are those that the model has.
func (c *ruleChecker) names(s subject) []string {
	var out []string
	switch s {
	case anAction, aGround, aDeed:
		for _, a := range c.m.Actions {
			out = append(out, a.Name)
		}
	case anAtom, aSet:
		for _, f := range c.m.Fluents {
			if (f.Kind == model.KindBool) == (s == anAtom) && f.Derived == nil {
				out = append(out, f.Name)
			}
		}
	case aGoal:
		for _, g := range c.m.Goals {
			out = append(out, g.Name)
		}
	}
	return out
}

// reaches tells where the rule never applies, and which actions lack a
// parameter that it looks at.
func (c *ruleChecker) reaches() {
	never := true
	var lacking []string
	var first *ast.StringNode
	actions := c.m.Actions
	if !c.rule.cond.step {
		actions = []*model.Action{{}}
	}
	for _, a := range actions {
		r := &reach{action: a}
		never = r.node(c.rule.cond.tree) == model.False && never
		if len(r.missing) > 0 {
			lacking = append(lacking, a.Name)
			if first == nil {
				first = r.missing[0]
			}
		}
	}
	if never && len(actions) > 0 {
		why := "Its condition holds for no action of the model, whatever else is so."
		if !c.rule.cond.step {
			why = "Its condition never holds, whatever is so."
		}
		rng := c.rule.cond.src.whole
		c.diags = append(c.diags, &hcl.Diagnostic{
			Severity: hcl.DiagWarning, Summary: fmt.Sprintf("Rule %q never applies", c.rule.Name), Subject: &rng,
			Detail: why,
		})
		return
	}
	if first != nil {
		c.report(hcl.DiagWarning, first, "Parameter that not every action has", c.lacks(lacking, first.Value))
	}
}

func (c *ruleChecker) lacks(actions []string, param string) string {
	counts := "counts as applying to steps"
	if c.rule.effect() == EffectAllow {
		counts = "applies to no step"
	}
	const most = 4
	names := list(actions)
	if len(actions) > most {
		names = fmt.Sprintf("%s and %d more", strings.Join(actions[:most], ", "), len(actions)-most)
	}
	return fmt.Sprintf("What cannot be evaluated is not let pass: the rule %s of %s. Name the actions that are meant before, as in action == '…' && args.%[3]s == '…', or ask first: '%[3]s' in args && args.%[3]s == '…'.", counts, names, param)
}
