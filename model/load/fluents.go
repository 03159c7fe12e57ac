package load

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model"
)

// fluentDecl is a fluent block on its way into the model.
type fluentDecl struct {
	f       *model.Fluent
	attrs   hcl.Attributes
	derived bool
	second  bool // its name is another's, or none: its body is checked all the same
	broken  bool // its declaration is faulty: what uses it is not blamed
}

var fluentSchema = schema("doc params type derive initial", "observe kind")

func (ld *loader) fluentNamed(name string) *fluentDecl {
	return ld.fluentOf[name]
}

// declareFluents reads every fluent but the definitions of derived ones, which
// may name fluents that are declared later.
func (ld *loader) declareFluents() {
	ld.fluentOf = map[string]*fluentDecl{}
	for _, b := range ld.blocks["fluent"] {
		d := ld.declareFluent(b)
		ld.fluents = append(ld.fluents, d)
		if ld.standing[b] {
			ld.fluentOf[d.f.Name] = d
		}
	}
}

func (ld *loader) declareFluent(b *hcl.Block) *fluentDecl {
	content := ld.content(b.Body, fluentSchema)
	f := &model.Fluent{Name: b.Labels[0], Doc: ld.text(content.Attributes, "doc"), Kind: model.KindBool}
	d := &fluentDecl{f: f, attrs: content.Attributes}
	f.Params = ld.params(content.Attributes["params"], false)
	if attr := content.Attributes["type"]; attr != nil {
		f.Kind, f.Type = ld.typeExpr(attr.Expr)
	}
	d.second = !ld.standing[b]
	d.broken = f.Kind == model.KindUnknown || !complete(f.Params) || d.second
	info := &Fluent{DeclRange: b.DefRange}
	if o := ld.single(content.Blocks, "observe"); o != nil {
		info.Observe = newBlock(o)
		info.Observe.Params = f.Params
	}
	d.derived = content.Attributes["derive"] != nil
	info.Derived, info.Belief = d.derived, content.Attributes["initial"] != nil
	ld.oneSource(b, info)
	if d.broken {
		return d
	}
	if info.Belief {
		f.Initial = ld.initial(f, content.Attributes["initial"])
	}
	ld.m.AddFluent(f)
	ld.l.Fluents[f] = info
	return d
}

// oneSource reports a fluent whose value would come from two places.
func (ld *loader) oneSource(b *hcl.Block, f *Fluent) {
	var from []string
	if f.Observe != nil {
		from = append(from, "observe")
	}
	if f.Derived {
		from = append(from, "derive")
	}
	if f.Belief {
		from = append(from, "initial")
	}
	if len(from) > 1 {
		ld.errorAt(b.DefRange, fmt.Sprintf("Fluent %q has two sources", b.Labels[0]), "It has %s. Keep one: a fluent is observed, derived from others, or a belief that starts with an initial value.", strings.Join(from, " and "))
	}
}

// deriveFluents lowers the definitions of derived fluents.
func (ld *loader) deriveFluents() {
	for _, d := range ld.fluents {
		if !d.derived || d.broken && !d.second || d.f.Kind == model.KindUnknown {
			continue
		}
		s := ld.newScope(d.f.Params)
		if d.second {
			s.lower(d.attrs["derive"].Expr, d.f.Kind, d.f.Type)
			continue
		}
		d.f.Derived = s.lower(d.attrs["derive"].Expr, d.f.Kind, d.f.Type)
		d.f.Slots = s.slots
		d.broken = d.f.Derived == nil
	}
	c := cycles{ld: ld, state: map[*fluentDecl]int{}, cost: map[*model.Fluent]int{}}
	for _, d := range ld.fluents {
		if d.f.Derived != nil {
			c.visit(d)
		}
	}
	for _, d := range c.found {
		d.broken, d.f.Derived = true, nil
	}
}

// maxExpanded is the number of parts that a derived fluent may have with the
// derived fluents it reads put in their places.
const maxExpanded = 20000

// cycles finds derived fluents that are defined by themselves.
type cycles struct {
	ld    *loader
	state map[*fluentDecl]int // 1 in progress, 2 done
	stack []*fluentDecl
	found []*fluentDecl
	cost  map[*model.Fluent]int
}

// visit returns the number of parts of the definition, fully expanded.
func (c *cycles) visit(d *fluentDecl) int {
	if c.state[d] == 2 || d.f.Derived == nil {
		return c.cost[d.f]
	}
	if c.state[d] == 1 {
		c.cycle(d)
		return 0
	}
	c.state[d] = 1
	c.stack = append(c.stack, d)
	n := 0
	d.f.Derived.Walk(func(x *model.Expr) bool {
		n++
		if x.Op == model.OpFluent {
			n += c.visit(c.ld.fluentOf[x.Fluent.Name])
		}
		return true
	})
	c.stack = c.stack[:len(c.stack)-1]
	c.state[d], c.cost[d.f] = 2, n
	if n > maxExpanded {
		c.ld.errorAt(d.attrs["derive"].Expr.Range(), "Definition too large", "With the derived fluents that it reads put in their places it has more than %d parts.", maxExpanded)
		c.found = append(c.found, d)
		c.cost[d.f] = 0
	}
	return c.cost[d.f]
}

func (c *cycles) cycle(d *fluentDecl) {
	i := 0
	for c.stack[i] != d {
		i++
	}
	var names []string
	for _, s := range c.stack[i:] {
		names = append(names, s.f.Name)
		c.found = append(c.found, s)
	}
	first := c.stack[i]
	c.ld.errorAt(first.attrs["derive"].Expr.Range(), "Cycle of derived fluents", "Each is defined by the next: %s.", strings.Join(append(names, d.f.Name), " → "))
}
