package load

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model"
)

var (
	goalSchema      = schema("doc params condition! severity actions")
	invariantSchema = schema("condition! message strict")
)

func (ld *loader) invariants() {
	for _, b := range ld.blocks["invariant"] {
		stands := ld.declareOnce("invariant", b)
		attrs := ld.content(b.Body, invariantSchema).Attributes
		inv := &model.Invariant{
			Name: b.Labels[0], Message: ld.text(attrs, "message"), Strict: ld.flag(attrs, "strict", false),
		}
		s := ld.newScope(nil)
		exprs, ok := s.conditions(attrs["condition"])
		if ok && len(exprs) > 0 && stands {
			inv.Cond = model.NewCond(s.slots, exprs...)
			ld.m.AddInvariant(inv)
		} else if ok && len(exprs) == 0 && attrs["condition"] != nil {
			ld.errorAt(attrs["condition"].Expr.Range(), "Empty condition", "An invariant says what must stay true.")
		}
	}
}

func (ld *loader) goals() {
	for _, b := range ld.blocks["goal"] {
		stands := ld.declareOnce("goal", b)
		if !identifier(b.Labels[0]) && !model.Bare(b.Labels[0]) {
			ld.errorAt(b.LabelRanges[0], "Invalid name", "The name %q of a goal must be letters, digits, - and _.", b.Labels[0])
			continue
		}
		ld.goal(b, stands)
	}
}

// goal reads a goal; one whose name is another's is checked and left out.
func (ld *loader) goal(b *hcl.Block, stands bool) {
	attrs := ld.content(b.Body, goalSchema).Attributes
	g := &model.Goal{Name: b.Labels[0], Doc: ld.text(attrs, "doc"), Params: ld.params(attrs["params"], true)}
	s := ld.newScope(g.Params)
	exprs, ok := s.conditions(attrs["condition"])
	if ok && len(exprs) == 0 && attrs["condition"] != nil {
		ld.errorAt(attrs["condition"].Expr.Range(), "Empty condition", "A goal says what is to be reached.")
		ok = false
	}
	if attr := attrs["severity"]; attr != nil {
		g.Severity = s.number(attr.Expr, "severity")
	}
	g.Actions = ld.goalActions(attrs["actions"])
	if !ok || !stands || !complete(g.Params) || attrs["condition"] == nil {
		return
	}
	g.Cond = model.NewCond(s.slots, exprs...)
	ld.m.Goals = append(ld.m.Goals, g)
}

// goalActions reads the actions that may be used for a goal. An empty list
// allows none, nil any.
func (ld *loader) goalActions(attr *hcl.Attribute) []*model.Action {
	if attr == nil {
		return nil
	}
	out := []*model.Action{}
	for _, e := range ld.list(attr, "names of actions") {
		name, ok := ld.name(e, "an action")
		if !ok {
			continue
		}
		d := ld.actionOf[name]
		if d == nil {
			ld.errorAt(e.Range(), fmt.Sprintf("Unknown action %q", name), "There is no action %q.%s", name, ld.near(name, ld.declaredNames("action")))
			continue
		}
		if slices.Contains(out, d.a) {
			ld.errorAt(e.Range(), "Given twice", "Action %q stands in this list already. Keep one.", name)
			continue
		}
		out = append(out, d.a)
	}
	return out
}
