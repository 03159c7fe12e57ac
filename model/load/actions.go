package load

import (
	"fmt"
	"slices"
	"time"

	"github.com/expr-lang/expr/ast"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/fettleops/fettle/model"
)

// actionDecl is an action block on its way into the model.
type actionDecl struct {
	a       *model.Action
	block   *hcl.Block
	content *hcl.BodyContent
	broken  bool // its name or parameters are faulty
}

var (
	actionSchema = schema("doc params precondition cost timeout idempotent risk reversible labels locks undo",
		"effect", "run kind", "settle", "retry")
	settleSchema = schema("timeout interval")
	retrySchema  = schema("attempts backoff")
)

// The defaults of an action's times.
const (
	defaultTimeout        = 60 * time.Second
	defaultSettle         = 30 * time.Second
	defaultSettleInterval = time.Second
)

// declareActions reads the actions' names and parameters, which undo and goals
// refer to.
func (ld *loader) declareActions() {
	ld.actionOf = map[string]*actionDecl{}
	for _, b := range ld.blocks["action"] {
		d := &actionDecl{block: b, content: ld.content(b.Body, actionSchema)}
		d.a = &model.Action{
			Name: b.Labels[0], Doc: ld.text(d.content.Attributes, "doc"),
			Params: ld.params(d.content.Attributes["params"], false),
		}
		d.broken = !complete(d.a.Params) || !ld.standing[b]
		if !d.broken {
			ld.m.AddAction(d.a)
		}
		ld.actions = append(ld.actions, d)
		if !ld.standing[b] { // its body is checked all the same
			continue
		}
		ld.actionOf[d.a.Name] = d
	}
}

func (ld *loader) fillActions() {
	for _, d := range ld.actions {
		info := ld.actionSettings(d)
		ld.fillAction(d)
		if !d.broken {
			ld.l.Actions[d.a] = info
		}
	}
}

// fillAction lowers the action's conditions and effects.
func (ld *loader) fillAction(d *actionDecl) {
	a, attrs := d.a, d.content.Attributes
	s := ld.newScope(a.Params)
	pre, _ := s.conditions(attrs["precondition"])
	effects := 0
	for _, b := range d.content.Blocks {
		if b.Type == "effect" {
			effects++
			a.Effects = append(a.Effects, s.effect(b)...)
		}
	}
	if effects == 0 {
		ld.warnAt(d.block.DefRange, fmt.Sprintf("Action %q has no effect", a.Name), "No plan needs it. Say in an effect block what it changes.")
	}
	if attr := attrs["cost"]; attr != nil {
		a.Cost = s.cost(attr)
	}
	if attr := attrs["undo"]; attr != nil {
		s.undo(attr.Expr)
	}
	a.Slots = s.slots
	a.Precondition = model.NewCond(s.slots, pre...)
	for _, lock := range ld.texts(attrs["locks"]) {
		if _, _, err := model.ParseAtom(lock); err != nil {
			ld.errorAt(attrs["locks"].Expr.Range(), "Invalid resource", "%q names no resource: %s. Write name or name(arg, …).", lock, err)
			continue
		}
		a.Locks = append(a.Locks, lock)
	}
}

// number reads a number that is written as such, or as an expression in quotes.
func (s *scope) number(e hcl.Expression, name string) *model.Expr {
	if isTemplate(e) {
		return s.lower(e, model.KindNumber, nil)
	}
	v, ok := s.ld.evaluate(e, cty.Number, name, "a number, or an expression in quotes")
	if !ok {
		return nil
	}
	n, _ := v.AsBigFloat().Float64()
	return number(n)
}

func (s *scope) cost(attr *hcl.Attribute) *model.Expr {
	x := s.number(attr.Expr, "cost")
	if x != nil && constant(x) {
		if n, _ := x.Number(nil, nil); n < 0 {
			s.ld.errorAt(attr.Expr.Range(), "Negative cost", "A plan would gain by repeating the action. A cost is 0 or more.")
		}
	}
	return x
}

// constant tells whether an expression is calculated from numbers alone.
func constant(e *model.Expr) bool {
	switch e.Op {
	case model.OpConst:
		return e.Kind == model.KindNumber
	case model.OpAdd, model.OpSub, model.OpMul, model.OpDiv, model.OpNeg, model.OpAbs:
	default:
		return false
	}
	return !slices.ContainsFunc(e.Args, func(a *model.Expr) bool { return !constant(a) })
}

// undo checks the action that takes this one back: undo = "readd(s)".
func (s *scope) undo(e hcl.Expression) {
	src, ok := s.ld.source(e, "an action")
	if !ok {
		return
	}
	n := s.ld.tree(src)
	if n == nil {
		return
	}
	l := s.lowerer(src)
	id, args := head(n)
	if id == nil {
		l.errorAt(l.src.span(n), "Not an action", "undo names an action with its arguments, such as readd(s).")
		return
	}
	d := s.ld.actionOf[id.Value]
	switch {
	case d == nil:
		l.errorAt(id.Location(), fmt.Sprintf("Unknown action %q", id.Value), "There is no action %q.%s", id.Value, s.ld.near(id.Value, s.ld.declaredNames("action")))
	case !d.broken:
		xs, ok := l.arguments(id, id.Value, d.a.Params, args)
		l.plain(xs, args, ok, "undo")
	}
}

// head takes name(arg, …) apart; nil where the node is something else.
func head(n ast.Node) (*ast.IdentifierNode, []ast.Node) {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return n, nil
	case *ast.CallNode:
		if id, ok := n.Callee.(*ast.IdentifierNode); ok {
			return id, n.Arguments
		}
	}
	return nil, nil
}

// plain reports arguments that are no parameters and no objects.
func (l *lowerer) plain(xs []*model.Expr, args []ast.Node, ok bool, what string) bool {
	for i := range xs {
		if xs[i] != nil && xs[i].Op != model.OpSlot && xs[i].Op != model.OpObject {
			l.errorAt(l.src.span(args[i]), "Not an object", "An argument of %s is a parameter or an object: what it names must not depend on the state.", what)
			ok = false
		}
	}
	return ok
}

// actionSettings reads what is said of an action beyond its meaning.
func (ld *loader) actionSettings(d *actionDecl) *Action {
	attrs := d.content.Attributes
	info := &Action{
		Timeout:    ld.duration(attrs, "timeout", defaultTimeout, time.Millisecond),
		Settle:     Settle{defaultSettle, defaultSettleInterval},
		Idempotent: ld.flag(attrs, "idempotent", false),
		Reversible: ld.flag(attrs, "reversible", true),
		Risk:       ld.oneOf(attrs, "risk", "low", "medium", "high"),
		DeclRange:  d.block.DefRange,
	}
	if attr := attrs["undo"]; attr != nil && isTemplate(attr.Expr) {
		info.Undo = literal(attr.Expr)
	}
	if attr := attrs["labels"]; attr != nil && !d.broken {
		info.Labels = attr.Expr
		v, diags := attr.Expr.Value(ld.l.Scoped(d.a.Params, nil))
		ld.diags.extend(diags)
		if !diags.HasErrors() {
			if _, err := convert.Convert(v, cty.Map(cty.String)); err != nil {
				ld.errorAt(attr.Expr.Range(), "Wrong type", `labels takes a map of strings, as in { team = "web" }.`)
			}
		}
	}
	if b := ld.single(d.content.Blocks, "run"); b != nil {
		info.Run = newBlock(b)
		info.Run.Params = d.a.Params
	}
	if b := ld.single(d.content.Blocks, "settle"); b != nil {
		c := ld.content(b.Body, settleSchema)
		info.Settle.Timeout = ld.duration(c.Attributes, "timeout", defaultSettle, 0)
		info.Settle.Interval = ld.duration(c.Attributes, "interval", min(defaultSettleInterval, max(info.Settle.Timeout, time.Millisecond)), time.Millisecond)
		if attr := c.Attributes["interval"]; attr != nil && info.Settle.Interval > info.Settle.Timeout {
			ld.warnAt(attr.Expr.Range(), "Interval longer than its timeout", "Effects are waited for %s and looked at every %s, so they are looked at once. Make interval the shorter of the two.", info.Settle.Timeout, info.Settle.Interval)
		}
	}
	if b := ld.single(d.content.Blocks, "retry"); b != nil {
		info.retryRange = b.DefRange.Ptr()
		info.Retry = ld.retry(b, d.a.Name, info.Idempotent)
	}
	return info
}

func (ld *loader) retry(b *hcl.Block, action string, idempotent bool) Retry {
	c := ld.content(b.Body, retrySchema)
	r := Retry{
		Attempts: ld.integer(c.Attributes, "attempts", 1, 1, 100),
		Backoff:  ld.duration(c.Attributes, "backoff", time.Second, 0),
	}
	if !idempotent {
		ld.errorAt(b.DefRange, "Retry of an action that is not idempotent", "Doing %s twice may differ from doing it once. If it does not, say idempotent = true; otherwise remove the retry block.", action)
	}
	return r
}

// literal returns the text of a string that contains no interpolation.
func literal(e hcl.Expression) string {
	v, diags := e.Value(nil)
	if diags.HasErrors() || !v.IsKnown() || v.IsNull() || v.Type() != cty.String {
		return ""
	}
	return v.AsString()
}
