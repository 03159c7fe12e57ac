package load

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model"
)

// contradictions warns of conditions of which two parts exclude each other.
func (d *doubter) contradictions() {
	for _, a := range d.l.Model.Actions {
		pre := conjunctsOf(a.Precondition)
		if rng, detail := d.excluding(pre, d.attribute("action", a.Name, "precondition")); detail != "" {
			d.never(a, rng, detail)
			continue
		}
		d.vainEffects(a, pre)
	}
	for _, g := range d.l.Model.Goals {
		if rng, detail := d.excluding(conjunctsOf(g.Cond), d.attribute("goal", g.Name, "condition")); detail != "" {
			d.dead[g] = true
			d.warn(rng, fmt.Sprintf("Goal %q can never be reached", g.Name), "%s", detail)
		}
	}
	for _, inv := range d.l.Model.Invariants {
		if rng, detail := d.excluding(conjunctsOf(inv.Cond), d.attribute("invariant", inv.Name, "condition")); detail != "" {
			d.warn(rng, fmt.Sprintf("Invariant %q can never hold", inv.Name), "%s", detail)
		}
	}
}

// never warns, once, of an action that can never apply.
func (d *doubter) never(a *model.Action, rng hcl.Range, detail string) {
	if !d.dead[a] {
		d.dead[a] = true
		d.warn(rng, fmt.Sprintf("Action %q can never apply", a.Name), "%s", detail)
	}
}

// maxExcluding is the number of parts of a condition up to which each is held
// against each.
const maxExcluding = 200

// excluding finds two parts of a condition that exclude each other.
func (d *doubter) excluding(parts []*model.Expr, rng hcl.Range) (hcl.Range, string) {
	if len(parts) > maxExcluding {
		return rng, ""
	}
	for i, b := range parts {
		for _, a := range parts[:i] {
			if opposites(a, b) {
				return rng, fmt.Sprintf("%s and %s can never both hold. Leave one out.", d.l.written(a), d.l.written(b))
			}
		}
	}
	return rng, ""
}

// vainEffects warns of effects whose condition can never hold where the action
// applies.
func (d *doubter) vainEffects(a *model.Action, pre []*model.Expr) {
	var last *model.Expr
	for i, e := range a.Effects {
		if e.When == nil || e.When == last {
			continue
		}
		last = e.When
		parts := append(append([]*model.Expr(nil), pre...), conjunctsOf(model.NewCond(0, e.When))...)
		if rng, detail := d.excluding(parts, d.places.Effects[a][i].When); detail != "" {
			d.warn(rng, "Effect that never applies", "%s", detail)
		}
	}
}

func conjunctsOf(c *model.Cond) []*model.Expr {
	if c == nil {
		return nil
	}
	return c.Conjuncts
}

// conflicts warns of effects that always contradict each other, so that the
// action is never applicable.
func (d *doubter) conflicts() {
	for _, a := range d.l.Model.Actions {
		for i := range a.Effects {
			if detail := d.conflict(a, i); detail != "" {
				d.never(a, d.places.Effects[a][i].Range, detail)
				break
			}
		}
	}
}

// conflict tells what an effect always conflicts with.
func (d *doubter) conflict(a *model.Action, i int) string {
	e := &a.Effects[i]
	if e.When != nil || e.Fluent.Kind == model.KindBool {
		return ""
	}
	for k := range a.Effects[:i] {
		o := &a.Effects[k]
		if o.When != nil || len(o.Forall)+len(e.Forall) > 0 || !sameHead(*o, *e) {
			continue
		}
		where := place(d.places.Effects[a][k].Range)
		switch {
		case (o.Op == model.Set) != (e.Op == model.Set):
			return fmt.Sprintf("It sets %s and increases or decreases it as well, at %s. Say it in one set.", e.Fluent.Name, where)
		case o.Op == model.Set && literalValue(o.Value) && literalValue(e.Value) && o.Value.Const != e.Value.Const:
			return fmt.Sprintf("It sets %s to %s here and to %s at %s. Keep one, or say when each applies.", e.Fluent.Name, d.l.written(e.Value), d.l.written(o.Value), where)
		}
	}
	return d.scattered(e)
}

// literalValue tells whether a value is written out.
func literalValue(e *model.Expr) bool { return e.Op == model.OpConst || e.Op == model.OpObject }

// scattered tells whether an effect sets one fluent to each object of a type.
func (d *doubter) scattered(e *model.Effect) string {
	if e.Op != model.Set || e.Value.Op != model.OpSlot {
		return ""
	}
	for _, b := range e.Forall {
		var head slots
		head.exprs(e.Args...)
		if b.Slot == e.Value.Slot && !head[b.Slot] && len(d.l.Model.Declared(b.Type)) > 1 {
			return fmt.Sprintf("It sets %s to each %s at once, and they differ. Say when to which one, or take a parameter.", e.Fluent.Name, b.Type)
		}
	}
	return ""
}

// idle warns of actions all of whose effects their precondition demands to be
// so already.
func (d *doubter) idle() {
	for _, a := range d.l.Model.Actions {
		if len(a.Effects) == 0 || d.dead[a] {
			continue
		}
		pre := conjunctsOf(a.Precondition)
		vain := true
		for i := range a.Effects {
			vain = vain && demanded(&a.Effects[i], pre)
		}
		if vain {
			d.warn(d.header("action", a.Name), fmt.Sprintf("Action %q changes nothing", a.Name), "Its precondition demands already what its effects bring about. Remove it, or say what it changes.")
		}
	}
}

// demanded tells whether a condition demands what an effect brings about.
func demanded(e *model.Effect, pre []*model.Expr) bool {
	head := &model.Expr{Op: model.OpFluent, Kind: e.Fluent.Kind, Type: e.Fluent.Type, Fluent: e.Fluent, Args: e.Args}
	for _, c := range pre {
		switch e.Op {
		case model.Add:
			if same(c, head) {
				return true
			}
		case model.Del:
			if c.Op == model.OpNot && same(c.Args[0], head) {
				return true
			}
		case model.Set:
			if c.Op == model.OpEq && (same(c.Args[0], head) && same(c.Args[1], e.Value) || same(c.Args[1], head) && same(c.Args[0], e.Value)) {
				return true
			}
		}
	}
	return false
}
