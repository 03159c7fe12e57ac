package load

import (
	"fmt"

	"github.com/expr-lang/expr/ast"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/fettleops/fettle/model"
)

var effectSchema = schema("add del set increase decrease when forall")

// effect reads one effect block. Its forall variables are known within it.
func (s *scope) effect(b *hcl.Block) []model.Effect {
	told := len(s.ld.diags.all)
	c := s.ld.content(b.Body, effectSchema)
	understood := len(s.ld.diags.all) == told
	r, opaque := effectReader{scope: s, outer: len(s.vars)}, s.opaque
	r.forall(c.Attributes["forall"])
	if attr := c.Attributes["when"]; attr != nil {
		r.when = s.lower(attr.Expr, model.KindBool, nil)
	}
	r.heads(c.Attributes["add"], model.Add)
	r.heads(c.Attributes["del"], model.Del)
	r.assignments(c.Attributes["set"], model.Set)
	r.assignments(c.Attributes["increase"], model.Increase)
	r.assignments(c.Attributes["decrease"], model.Decrease)
	s.vars, s.opaque = s.vars[:r.outer], opaque
	r.idle(c.Attributes["forall"])
	if !r.any && understood {
		s.ld.warnAt(b.DefRange, "Empty effect", "It changes nothing. Say what with add, del, set, increase or decrease.")
	}
	return r.out
}

type effectReader struct {
	*scope
	outer   int
	binders []model.Binder
	when    *model.Expr
	any     bool
	added   []added
	out     []model.Effect
}

type added struct {
	e   model.Effect
	rng hcl.Range
}

func (r *effectReader) forall(attr *hcl.Attribute) {
	for _, p := range r.ld.params(attr, false) {
		if _, taken := r.lookup(p.Name); taken && p.Name != "" {
			r.ld.errorAt(attr.Expr.Range(), "Name taken", "The variable %q would hide the parameter of that name. Choose another name.", p.Name)
			continue
		}
		slot := r.declare(p)
		r.binders = append(r.binders, model.Binder{Slot: slot, Type: p.Type, Name: p.Name})
	}
}

// idle tells of variables that make no difference: the effect is the same for
// each of their objects, and is not summed over them.
func (r *effectReader) idle(attr *hcl.Attribute) {
	var u slots
	for _, e := range r.out {
		if e.Op == model.Increase || e.Op == model.Decrease {
			return
		}
		u.exprs(append([]*model.Expr{e.When, e.Value}, e.Args...)...)
	}
	for _, b := range r.binders {
		if len(r.out) > 0 && b.Type != nil && !u[b.Slot] {
			r.ld.doubt(attr.Expr.Range(), fmt.Sprintf("Variable %q is never used", b.Name), "The effect is the same for every %s. Leave it out, or name %s in what changes.", b.Type, b.Name)
		}
	}
}

// heads reads add = ["in_lb(s)"] or del.
func (r *effectReader) heads(attr *hcl.Attribute, op model.EffectOp) {
	r.any = r.any || attr != nil
	for _, e := range r.ld.list(attr, "fluents") {
		eff, ok := r.head(e, op)
		if !ok {
			continue
		}
		r.opposed(eff, e.Range())
		r.out = append(r.out, eff)
	}
}

// opposed warns of a fluent that one effect both adds and deletes.
func (r *effectReader) opposed(e model.Effect, rng hcl.Range) {
	if e.Op == model.Add {
		r.added = append(r.added, added{e, rng})
		return
	}
	for _, a := range r.added {
		if sameHead(a.e, e) {
			r.ld.warnAt(rng, "Added and deleted", "The same effect adds this at %s, and what is both added and deleted holds afterwards.", place(a.rng))
		}
	}
}

func sameHead(a, b model.Effect) bool {
	if a.Fluent != b.Fluent {
		return false
	}
	for i := range a.Args {
		x, y := a.Args[i], b.Args[i]
		if x.Op != y.Op || x.Slot != y.Slot || x.Const != y.Const {
			return false
		}
	}
	return true
}

var effectWords = map[model.EffectOp]string{
	model.Add: "add", model.Del: "del", model.Set: "set", model.Increase: "increase", model.Decrease: "decrease",
}

// head reads the fluent that an effect changes.
func (r *effectReader) head(e hcl.Expression, op model.EffectOp) (model.Effect, bool) {
	none := model.Effect{}
	l, n := r.headTree(e)
	if n == nil {
		return none, false
	}
	id, args := head(n)
	if id == nil {
		l.errorAt(l.src.span(n), "Not a fluent", "An effect names a fluent with its arguments, such as in_lb(s). Conditions stand in when.")
		return none, false
	}
	d := r.ld.fluentNamed(id.Value)
	if d != nil && d.derived {
		l.errorAt(id.Location(), "Effect on a derived fluent", "%s is derived: it follows from other fluents. Change those.", id.Value)
		return none, false
	}
	if d == nil {
		if !r.ld.tainted[id.Value] {
			l.notFluent(id, id.Value)
		}
		return none, false
	}
	x := l.read(id, id.Value, args)
	if x == nil || !l.plain(x.Args, args, true, "an effect") {
		return none, false
	}
	f := d.f
	switch {
	case (op == model.Add || op == model.Del) && f.Kind != model.KindBool:
		l.errorAt(id.Location(), "Wrong type", "%s is for bool fluents, and %s is %s. Use set.", effectWords[op], f.Name, noun(f.Kind, f.Type))
		return none, false
	case (op == model.Increase || op == model.Decrease) && f.Kind != model.KindNumber:
		l.errorAt(id.Location(), "Wrong type", "%s is for numbers, and %s is %s.", effectWords[op], f.Name, noun(f.Kind, f.Type))
		return none, false
	}
	return model.Effect{Op: op, Fluent: f, Args: x.Args, When: r.when, Forall: r.binders}, typed(r.binders)
}

// typed tells whether every binder has a type.
func typed(bs []model.Binder) bool {
	for _, b := range bs {
		if b.Type == nil {
			return false
		}
	}
	return true
}

// headTree parses an effect's head, which in a map may be a bare word.
func (r *effectReader) headTree(e hcl.Expression) (*lowerer, ast.Node) {
	l := r.lowerer(nil)
	if word := hcl.ExprAsKeyword(e); word != "" {
		l.src = &source{text: word, whole: e.Range()}
		return l, &ast.IdentifierNode{Value: word}
	}
	var ok bool
	if l.src, ok = r.ld.source(e, "a fluent"); !ok {
		return l, nil
	}
	return l, r.ld.tree(l.src)
}

// assignments reads set = { "replicas(s)" = "replicas(s) + 1" }, increase or
// decrease.
func (r *effectReader) assignments(attr *hcl.Attribute, op model.EffectOp) {
	r.any = r.any || attr != nil
	pairs, _ := r.ld.pairs(attr, `{ "replicas(s)" = "2" }`)
	for _, p := range pairs {
		eff, ok := r.head(p.Key, op)
		if !ok {
			continue
		}
		for _, e := range r.out {
			if e.Op == op && sameHead(e, eff) {
				r.ld.errorAt(p.Key.Range(), "Given twice", "The same effect does this to the same fluent already. Keep one.")
			}
		}
		if eff.Value = r.assigned(p.Value, eff.Fluent); eff.Value != nil {
			r.out = append(r.out, eff)
		}
	}
}

// assigned reads the value side: an expression in quotes, or a plain number or
// bool.
func (r *effectReader) assigned(e hcl.Expression, f *model.Fluent) *model.Expr {
	if f.Kind == model.KindNumber {
		return r.number(e, f.Name)
	}
	if f.Kind == model.KindBool && !isTemplate(e) {
		v, ok := r.ld.evaluate(e, cty.Bool, f.Name, "true, false, or a condition in quotes")
		switch {
		case !ok:
			return nil
		case v.True():
			return model.TrueExpr
		}
		return model.FalseExpr
	}
	return r.lower(e, f.Kind, f.Type)
}
