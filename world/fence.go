package world

import (
	"fmt"
	"slices"

	"github.com/fettleops/fettle/model"
)

// fence is a compiled fence block: how the token is raised at the actuator,
// and how a late act is told.
type fence struct {
	raiser raiser
	params []string // parameters on which the keeper depends
}

func decodeFence(d *decoder, k kind) *fence {
	if len(d.blocks) == 0 {
		return nil
	}
	if len(d.blocks) > 1 {
		d.errorf(d.blocks[1].DefRange, "Duplicate fence block", "The %s already has a fence block, at line %d.", d.what, d.blocks[0].DefRange.Start.Line)
	}
	b := d.blocks[0]
	inner := d.w.newDecoder("fence of "+d.what, d.params)
	inner.open(Block{Kind: k.name, Body: b.Body, Range: b.DefRange}, k.fenceAttributes, nil)
	f := &fence{raiser: k.fence(inner)}
	f.params = dependsOn(d.params, f.raiser.expressions())
	d.diags = append(d.diags, inner.diags...)
	return f
}

// resource is one that a fence protects, parsed.
type resource struct {
	text   string
	fluent *model.Fluent // nil: a name of `locks`
	args   []int32       // nil: the whole fluent
}

func parseResource(u *model.Universe, text string) (resource, error) {
	name, args, err := model.ParseAtom(text)
	if err != nil {
		return resource{}, fmt.Errorf("resource %q: %w", text, err)
	}
	f := u.Fluent(name)
	if f == nil {
		return resource{text: text}, nil
	}
	r := resource{text: text, fluent: f}
	if len(args) == 0 {
		return r, nil
	}
	if len(args) != len(f.Params) {
		return resource{}, fmt.Errorf("resource %q: %s has %d parameters", text, name, len(f.Params))
	}
	for i, a := range args {
		o, ok := u.Find(f.Params[i].Type, a)
		if !ok {
			// An object that left the world: nothing can be said of which
			// parameters it binds, so the whole fluent is meant.
			return resource{text: text, fluent: f}, nil
		}
		r.args = append(r.args, o)
	}
	return r, nil
}

// bindings returns how the action's parameters must be bound for it to write
// the resource: an object, or -1 where any will do. No binding means that it
// cannot write it.
func bindings(u *model.Universe, a *model.Action, r resource) [][]int32 {
	if r.fluent == nil {
		if slices.Contains(a.Locks, r.text) {
			return [][]int32{unbound(a)}
		}
		return nil
	}
	var out [][]int32
	for i := range a.Effects {
		e := &a.Effects[i]
		if e.Fluent != r.fluent {
			continue
		}
		if b, ok := unify(u, a, e, r.args); ok {
			out = append(out, b)
		}
	}
	return out
}

func unbound(a *model.Action) []int32 {
	b := make([]int32, len(a.Params))
	for i := range b {
		b[i] = -1
	}
	return b
}

// unify binds the parameters that an effect's arguments determine.
func unify(u *model.Universe, a *model.Action, e *model.Effect, args []int32) ([]int32, bool) {
	b := unbound(a)
	if args == nil {
		return b, true
	}
	for i, x := range e.Args {
		switch {
		case x.Op == model.OpObject:
			if x.Const.Object() != args[i] {
				return nil, false
			}
		case x.Op == model.OpSlot && x.Slot < len(b):
			if b[x.Slot] >= 0 && b[x.Slot] != args[i] || !u.Has(a.Params[x.Slot].Type, args[i]) {
				return nil, false
			}
			b[x.Slot] = args[i]
		}
	}
	return b, true
}
