package load

import (
	"github.com/expr-lang/expr/ast"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/fettleops/fettle/model"
)

// Conjunct is one conjunct of a condition, as a critique names it: the
// condition's list split at && and, where it quantifies with all, within that.
type Conjunct struct {
	Expr  *model.Expr // within the condition; a [model.Failure] carries the same
	Range hcl.Range
}

// Places says where the parts of an action model stand in its files. Each
// slice is in the order of the model's own parts.
type Places struct {
	Preconditions map[*model.Action][]Conjunct
	Effects       map[*model.Action][]EffectPlace // of each of the action's effects
	Invariants    map[*model.Invariant][]Conjunct
	Goals         map[*model.Goal][]Conjunct
}

// EffectPlace is where an effect stands. Block counts the effect blocks of the
// action from 0; When is where the block says when, empty where it does not.
type EffectPlace struct {
	Range, When hcl.Range
	Block       int
}

// Places finds where the parts of a model without errors stand. It reads the
// texts anew, since a model carries no places.
func (l *Loaded) Places() *Places {
	p := &placer{ld: newLoader(Options{}), out: &Places{
		Preconditions: map[*model.Action][]Conjunct{}, Effects: map[*model.Action][]EffectPlace{},
		Invariants: map[*model.Invariant][]Conjunct{}, Goals: map[*model.Goal][]Conjunct{},
	}}
	blocks := map[string]*hclsyntax.Block{}
	for name, f := range l.Files {
		p.ld.sources[name] = f.Bytes
		body, ok := f.Body.(*hclsyntax.Body)
		if !ok {
			continue
		}
		for _, b := range body.Blocks {
			if len(b.Labels) == 1 {
				blocks[b.Type+" "+b.Labels[0]] = b
			}
		}
	}
	for _, a := range l.Model.Actions {
		b := blocks["action "+a.Name]
		p.out.Preconditions[a] = p.conjuncts(b, "precondition", a.Precondition)
		p.out.Effects[a] = p.effects(b, len(a.Effects))
	}
	for _, inv := range l.Model.Invariants {
		p.out.Invariants[inv] = p.conjuncts(blocks["invariant "+inv.Name], "condition", inv.Cond)
	}
	for _, g := range l.Model.Goals {
		p.out.Goals[g] = p.conjuncts(blocks["goal "+g.Name], "condition", g.Cond)
	}
	return p.out
}

// placer reads blocks for where their parts stand.
type placer struct {
	ld  *loader
	out *Places
}

// conjuncts pairs the conjuncts of a condition with their places in the text.
// Should the two not correspond, each stands where the whole condition does.
func (p *placer) conjuncts(b *hclsyntax.Block, name string, c *model.Cond) []Conjunct {
	var out []Conjunct
	if c != nil {
		for _, whole := range c.Conjuncts {
			for _, e := range Conjuncts(whole) {
				out = append(out, Conjunct{Expr: e})
			}
		}
	}
	if b == nil || b.Body.Attributes[name] == nil {
		return out
	}
	attr := b.Body.Attributes[name]
	s := splitter{ld: p.ld}
	for _, e := range p.ld.list(attr.AsHCLAttribute(), "conditions") {
		s.condition(e)
	}
	for i := range out {
		out[i].Range = attr.Expr.Range()
		if len(s.out) == len(out) {
			out[i].Range = s.out[i]
		}
	}
	return out
}

// Conjuncts splits an expression in negation normal form as explanations do:
// at && and within all.
func Conjuncts(e *model.Expr) []*model.Expr {
	switch e.Op {
	case model.OpAnd:
		var out []*model.Expr
		for _, a := range e.Args {
			out = append(out, Conjuncts(a)...)
		}
		return out
	case model.OpAll:
		return Conjuncts(e.Args[0])
	}
	return []*model.Expr{e}
}

// effects returns the place of each effect, in the order in which effect
// blocks are read.
func (p *placer) effects(b *hclsyntax.Block, n int) []EffectPlace {
	if b == nil {
		return make([]EffectPlace, n)
	}
	var out []EffectPlace
	block := 0
	for _, eb := range b.Body.Blocks {
		if eb.Type != "effect" {
			continue
		}
		place := EffectPlace{Block: block}
		if attr := eb.Body.Attributes["when"]; attr != nil {
			place.When = attr.Expr.Range()
		}
		for _, r := range p.items(eb) {
			place.Range = r
			out = append(out, place)
		}
		block++
	}
	if len(out) != n {
		out = make([]EffectPlace, n)
		for i := range out {
			out[i].Range = b.DefRange()
		}
	}
	return out
}

// items returns where each change of an effect block stands.
func (p *placer) items(b *hclsyntax.Block) []hcl.Range {
	var out []hcl.Range
	for _, name := range []string{"add", "del"} {
		if attr := b.Body.Attributes[name]; attr != nil {
			for _, e := range p.ld.list(attr.AsHCLAttribute(), "fluents") {
				out = append(out, e.Range())
			}
		}
	}
	for _, name := range []string{"set", "increase", "decrease"} {
		if attr := b.Body.Attributes[name]; attr != nil {
			pairs, _ := p.ld.pairs(attr.AsHCLAttribute(), "")
			for _, pair := range pairs {
				out = append(out, hcl.RangeBetween(pair.Key.Range(), pair.Value.Range()))
			}
		}
	}
	return out
}

// splitter splits a condition's text as [model.NewCond] and explanations split
// what it means.
type splitter struct {
	ld   *loader
	src  *source
	lets map[string]ast.Node
	out  []hcl.Range
}

func (s *splitter) condition(e hcl.Expression) {
	src, ok := s.ld.source(e, "a condition")
	if !ok {
		return
	}
	if n := s.ld.tree(src); n != nil {
		s.src, s.lets = src, map[string]ast.Node{}
		s.node(n, n, false)
	}
}

// node adds the places of the conjuncts of a node, or of its negation. A
// conjunct that is negated stands where its negation starts: whole.
func (s *splitter) node(n, whole ast.Node, neg bool) {
	switch n := n.(type) {
	case *ast.UnaryNode:
		if n.Operator == "!" || n.Operator == "not" {
			s.node(n.Node, whole, !neg)
			return
		}
	case *ast.BinaryNode:
		and := n.Operator == "&&" || n.Operator == "and"
		or := n.Operator == "||" || n.Operator == "or"
		if and && !neg || or && neg {
			s.node(n.Left, n.Left, neg)
			s.node(n.Right, n.Right, neg)
			return
		}
	case *ast.BuiltinNode:
		// none(T, p) is all(T, !p), and so is !any(T, p).
		if body := predicate(n); body != nil {
			switch {
			case n.Name == "all" && !neg:
				s.node(body, body, false)
				return
			case n.Name == "any" && neg, n.Name == "none" && !neg:
				s.node(body, body, true)
				return
			}
		}
	case *ast.VariableDeclaratorNode:
		s.lets[n.Name] = n.Value
		s.node(n.Expr, n.Expr, neg)
		return
	case *ast.IdentifierNode:
		if v := s.lets[n.Value]; v != nil {
			s.node(v, v, neg)
			return
		}
	}
	s.out = append(s.out, s.src.rangeOf(s.src.span(whole)))
}

// predicate returns the body of a quantifier.
func predicate(n *ast.BuiltinNode) ast.Node {
	if len(n.Arguments) == 1 {
		if m, ok := n.Arguments[0].(*ast.BuiltinNode); ok && m.Name == "map" {
			n = m
		}
	}
	if len(n.Arguments) != 2 {
		return nil
	}
	if p, ok := n.Arguments[1].(*ast.PredicateNode); ok {
		return p.Node
	}
	return nil
}
