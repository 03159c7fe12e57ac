package world

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/fettleops/fettle/model"
)

// lease returns the expression of a lease's name, checked where it is known.
// The name is that of a resource which `locks` and `fettle lease` take as well,
// and must not be one that guards a fluent: a run holds those itself while it acts.
func (d *decoder) lease(name string) hcl.Expression {
	v, ok := d.known(name, cty.String)
	if !ok {
		return d.given(name)
	}
	at := d.attrs[name].Expr.Range()
	head, _, err := model.ParseAtom(v.AsString())
	switch {
	case err != nil:
		d.errorf(at, "Unsuitable value", "The %s of %s must name a resource, as in \"deploy\" or \"rack(1)\": %s.", name, d.what, err)
	case d.w.model.Fluent(head) != nil:
		d.errorf(at, "Unsuitable value", "The %s of %s is the name of a fluent, and every action that touches %s holds a lease of that name. Choose another name.", name, d.what, head)
	case name == "acquire" && slices.ContainsFunc(d.locks, func(l string) bool { return canonical(l) == canonical(v.AsString()) }):
		d.errorf(at, "Lock of its own", "The %s acquires %q, which the action's locks take for the time it runs: it would always find it held. Remove it from locks.", d.what, v.AsString())
	}
	return d.given(name)
}

// canonical writes a resource's name in the one way in which it is a key.
func canonical(name string) string {
	head, args, err := model.ParseAtom(name)
	if err != nil {
		return name
	}
	return model.FormatAtom(head, args...)
}

// lease evaluates the name of a lease. It refuses an object's name that would
// change which resource is meant.
func (g *ground) lease(e hcl.Expression) (string, error) {
	v, marks, err := g.value(e, cty.String)
	if err != nil {
		return "", err
	}
	for m := range marks {
		p, ok := m.(rawName)
		if n := g.names[p.param]; ok && !model.Bare(n) {
			return "", fmt.Errorf("the name %q does not fit into that of a lease as it is; write '${urlencode(%s)}' in it, in single quotes", n, p.param)
		}
	}
	if _, _, err := model.ParseAtom(v.AsString()); err != nil {
		return "", fmt.Errorf("%q names no resource: %w", v.AsString(), err)
	}
	return canonical(v.AsString()), nil
}

// LeaseNames returns the names of the leases that are observed or acquired, each
// once and sorted. Who holds one bears on what can be planned: a goal that is out
// of reach now may be reached once it is free.
func (w *World) LeaseNames(u *model.Universe) []string {
	var out []string
	add := func(name hcl.Expression, params []model.Param) {
		if name == nil {
			return
		}
		for args := range u.Instances(params) {
			if name, err := w.ground(u, params, args).lease(name); err == nil { // Otherwise its use says why.
				out = append(out, name)
			}
			if len(dependsOn(params, []hcl.Expression{name})) == 0 {
				return
			}
		}
	}
	for f, o := range w.observers {
		if l, ok := o.asker.(*leaseObserve); ok {
			add(l.name, f.Params)
		}
	}
	for a, r := range w.actions {
		if l, ok := r.act.(*leaseRun); ok {
			add(l.acquire, a.Params)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
