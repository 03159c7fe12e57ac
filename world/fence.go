package world

import (
	"slices"

	"github.com/fettleops/fettle/model"
)

// fence is a compiled fence block: how the token is raised at the actuator,
// and how a late act is told.
type fence struct {
	raiser raiser
	params []string // parameters on which the keeper depends
	at     places
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
	f := &fence{raiser: k.fence(inner), at: inner.places()}
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

// parseResource reads a resource. One with arguments that this universe does
// not have, such as an object that left the world, stands for the whole fluent:
// raising a fence too widely is safe.
func parseResource(u *model.Universe, text string) resource {
	name, args, err := model.ParseAtom(text)
	f := u.Fluent(name)
	if err != nil || f == nil {
		return resource{text: text}
	}
	whole := resource{text: text, fluent: f}
	if len(args) != len(f.Params) {
		return whole
	}
	r := whole
	for i, a := range args {
		o, ok := u.Find(f.Params[i].Type, a)
		if !ok {
			return whole
		}
		r.args = append(r.args, o)
	}
	return r
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
