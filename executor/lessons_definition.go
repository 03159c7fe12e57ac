package executor

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/validator"
)

// Definition is the digest of the part of a model that a lesson is about: its
// action's name, parameters, preconditions and effects as the model language
// writes them, with the derived fluents that these read, and the invariants
// where one of them was broken; the goal where no action failed. A lesson whose
// definition is another by now is stale. False: the model has no such action or goal.
func Definition(u *model.Universe, kind, action, goal string) (string, bool) {
	d := &definer{u: u, seen: map[*model.Fluent]bool{}}
	if action == "" {
		g := u.Goal(schemaName(goal))
		if g == nil {
			return "", false
		}
		d.goal(g)
	} else {
		a := u.Action(schemaName(action))
		if a == nil {
			return "", false
		}
		d.action(a)
		if kind == string(validator.Invariant) {
			d.invariants(a)
		}
	}
	return digest(d.b.String()), true
}

// schemaName is the name in a ground atom. A goal's label need not be one.
func schemaName(atom string) string {
	if name, _, err := model.ParseAtom(atom); err == nil {
		return name
	}
	return atom
}

// definer writes definitions.
type definer struct {
	u    *model.Universe
	b    strings.Builder
	seen map[*model.Fluent]bool
}

func (d *definer) line(format string, args ...any) { fmt.Fprintf(&d.b, format+"\n", args...) }

func (d *definer) action(a *model.Action) {
	d.line("action %s%s", a.Name, params(a.Params))
	d.needs(a.Precondition)
	for _, e := range a.Effects {
		d.effect(e)
	}
}

func (d *definer) goal(g *model.Goal) {
	d.line("goal %s%s", g.Name, params(g.Params))
	d.needs(g.Cond)
	for _, a := range g.Actions {
		d.line("  by %s", a.Name)
	}
}

func (d *definer) needs(c *model.Cond) {
	if c == nil {
		return
	}
	for _, e := range c.Conjuncts {
		d.line("  needs %s", e.Text(d.u, nil))
		d.derived(e)
	}
}

var effectWords = map[model.EffectOp]string{
	model.Add: "add", model.Del: "del", model.Set: "set", model.Increase: "increase", model.Decrease: "decrease",
}

func (d *definer) effect(e model.Effect) {
	var args []string
	for _, a := range e.Args {
		args = append(args, a.Text(d.u, nil))
	}
	text := fmt.Sprintf("%s %s(%s)", effectWords[e.Op], e.Fluent.Name, strings.Join(args, ", "))
	if e.Value != nil {
		text += " by " + e.Value.Text(d.u, nil)
	}
	if e.When != nil {
		text += " when " + e.When.Text(d.u, nil)
	}
	for _, b := range e.Forall {
		text += fmt.Sprintf(" forall %s %s", b.Name, b.Type)
	}
	d.line("  %s", text)
	d.derived(e.Value)
	d.derived(e.When)
}

func (d *definer) invariants(a *model.Action) {
	for _, inv := range a.Invariants() {
		d.line("invariant %s", inv.Name)
		d.needs(inv.Cond)
	}
}

// derived writes the definitions of the derived fluents that an expression reads.
func (d *definer) derived(e *model.Expr) {
	e.Walk(func(e *model.Expr) bool {
		if f := e.Fluent; e.Op == model.OpFluent && f.Derived != nil && !d.seen[f] {
			d.seen[f] = true
			d.line("  where %s%s is %s", f.Name, params(f.Params), f.Derived.Text(d.u, nil))
			d.derived(f.Derived)
		}
		return true
	})
}

func params(ps []model.Param) string {
	var out []string
	for _, p := range ps {
		out = append(out, p.Name+" "+p.Type.String())
	}
	return "(" + strings.Join(out, ", ") + ")"
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
