package load

import (
	"encoding/binary"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/fettleops/fettle/model"
)

var stateSchema = schema("facts values unknown")

func (ld *loader) states() {
	for _, b := range ld.blocks["state"] {
		stands := ld.declareOnce("state", b)
		s := ld.state(b.Labels[0], ld.content(b.Body, stateSchema).Attributes)
		if stands {
			ld.m.States = append(ld.m.States, s)
		}
	}
}

// state reads facts, values and unknown.
func (ld *loader) state(name string, attrs hcl.Attributes) *model.NamedState {
	r := ld.stateReader(name)
	r.atoms(attrs["facts"], true)
	r.values(attrs["values"])
	r.atoms(attrs["unknown"], false)
	return r.state
}

func (ld *loader) stateReader(name string) *stateReader {
	return &stateReader{ld: ld, state: &model.NamedState{Name: name}, seen: map[string]hcl.Range{}}
}

type stateReader struct {
	ld    *loader
	state *model.NamedState
	seen  map[string]hcl.Range
	key   []byte
	// derived fluents are read as well: what a test expects may follow from
	// other fluents, what a state gives may not.
	derived bool
	// expected values are what a test looks for, and not what it starts from.
	expected bool
}

// atoms reads facts = ["in_lb(api)"], or the list of what is unknown.
func (r *stateReader) atoms(attr *hcl.Attribute, facts bool) {
	if attr == nil {
		return
	}
	exprs, diags := hcl.ExprList(attr.Expr)
	if diags.HasErrors() { // computed
		for _, text := range r.ld.texts(attr) {
			r.atomOf(text, attr.Expr.Range(), facts)
		}
		return
	}
	for _, e := range exprs {
		if v, ok := r.ld.evaluate(e, cty.String, attr.Name, "a list of ground fluents in quotes"); ok {
			r.atomOf(v.AsString(), e.Range(), facts)
		}
	}
}

func (r *stateReader) atomOf(text string, rng hcl.Range, fact bool) {
	a, ok := r.atom(text, rng)
	if !ok {
		return
	}
	v := model.Value{}
	if fact {
		if a.Fluent.Kind != model.KindBool {
			r.ld.errorAt(rng, "Wrong type", `%s is %s, and facts are bool fluents that are true. Write it into values, as in values = { "%s" = … }.`, a.Fluent.Name, noun(a.Fluent.Kind, a.Fluent.Type), text)
			return
		}
		v = model.BoolValue(true)
	}
	r.assign(a, v, text, rng)
}

func (r *stateReader) values(attr *hcl.Attribute) {
	if attr == nil {
		return
	}
	pairs, diags := hcl.ExprMap(attr.Expr)
	if !diags.HasErrors() {
		for _, p := range pairs {
			if key, ok := r.ld.key(p.Key); ok {
				if v, ok := r.ld.evaluate(p.Value, cty.DynamicPseudoType, key, "a value; what is not known stands in the list unknown"); ok {
					r.value(key, v, p.Key.Range(), p.Value.Range())
				}
			}
		}
		return
	}
	v, ok := r.ld.value(attr, cty.DynamicPseudoType, "a map")
	if !ok {
		return
	}
	if t := v.Type(); !t.IsObjectType() && !t.IsMapType() {
		r.ld.errorAt(attr.Expr.Range(), "Wrong type", `%s takes a map, as in { "replicas(api)" = 3 }.`, attr.Name)
		return
	}
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		r.value(k.AsString(), e, attr.Expr.Range(), attr.Expr.Range())
	}
}

func (r *stateReader) value(key string, v cty.Value, keyRange, valueRange hcl.Range) {
	a, ok := r.atom(key, keyRange)
	if !ok {
		return
	}
	mv, ok := r.ld.modelValue(a.Fluent, v)
	if !ok {
		r.ld.errorAt(valueRange, "Wrong value", "%s", r.ld.wrongValue(a.Fluent, v))
		return
	}
	r.assign(a, mv, key, keyRange)
}

func (r *stateReader) assign(a model.Atom, v model.Value, text string, rng hcl.Range) {
	r.key = append(r.key[:0], a.Fluent.Name...)
	for _, o := range a.Args {
		r.key = binary.BigEndian.AppendUint32(append(r.key, 0), uint32(o))
	}
	if first, dup := r.seen[string(r.key)]; dup {
		r.ld.errorAt(rng, "Given twice", "%s stands at %s already.", text, place(first))
		return
	}
	r.seen[string(r.key)] = rng
	r.state.Values = append(r.state.Values, model.Assignment{Atom: a, Value: v})
	switch {
	case r.expected:
		r.ld.l.expected[a.Fluent] = true
	case r.state.Name == "" && a.Fluent.Derived == nil:
		r.ld.l.given = append(r.ld.l.given, model.Assignment{Atom: a, Value: v})
	}
}

// atom reads a ground fluent in the grammar of atoms.
func (r *stateReader) atom(text string, rng hcl.Range) (model.Atom, bool) {
	ld := r.ld
	name, args, err := model.ParseAtom(text)
	if err != nil {
		ld.errorAt(rng, "Not a ground fluent", "%s. Write name(arg, …), such as in_lb(api); other characters than letters, digits and _.:/@- need single quotes.", capital(err.Error()))
		return model.Atom{}, false
	}
	d := ld.fluentNamed(name)
	switch {
	case d == nil && ld.tainted[name]:
		return model.Atom{}, false
	case d == nil:
		ld.errorAt(rng, fmt.Sprintf("Unknown fluent %q", name), "There is no fluent %q.%s", name, ld.near(name, ld.declaredNames("fluent")))
		return model.Atom{}, false
	case d.derived && !r.derived:
		ld.errorAt(rng, "Derived fluent in a state", "%s is derived: it follows from other fluents. Give those.", name)
		return model.Atom{}, false
	case d.broken:
		return model.Atom{}, false
	case len(args) != len(d.f.Params):
		ld.errorAt(rng, fmt.Sprintf("Wrong number of arguments for %q", name), "%s takes %s, got %d.", name, takes(d.f.Params), len(args))
		return model.Atom{}, false
	}
	a := model.Atom{Fluent: d.f, Args: make([]int32, len(args))}
	for i, arg := range args {
		id, ok := ld.find(d.f.Params[i].Type, cty.NormalizeString(arg))
		if !ok {
			ld.errorAt(rng, fmt.Sprintf("Unknown object %q", arg), "%s", ld.noObject(d.f.Params[i].Type, arg))
			return a, false
		}
		a.Args[i] = id
	}
	return a, true
}
