package world

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"golang.org/x/sync/errgroup"

	"github.com/fettleops/fettle/model"
)

// Bounds of what is discovered. A name must fit into an argument of a program, a
// key of the store and a line of a plan.
const (
	maxObjects    = 50_000
	maxObjectName = 256 // bytes
)

// Found is what was discovered of one type.
type Found struct {
	Type    *model.Type
	Objects []string // sorted, each once
	// Err says in one line why there may be more objects than those, or why none
	// could be told; "" where the answer is whole.
	Err     string
	Note    string    // what a person should know of the answer: how many duplicates it had
	Sampled time.Time // when it was asked
	Source  Source
}

// discoverer is a compiled discover block.
type discoverer struct {
	typ        *model.Type
	asker      asker
	answered   *observer // judges the answer, and finds the list in it
	object     *program  // names an item's object, or a series'
	allowEmpty bool
	at         places
}

// discoverAttributes adds to the attributes of a question those that make
// objects of its answer.
func (k *kind) discoverAttributes() []hcl.AttributeSchema {
	attrs := []hcl.AttributeSchema{{Name: "object", Required: true}, {Name: "allow_empty"}}
	if k.series == nil { // Otherwise the answer is a list of series.
		attrs = append(attrs, hcl.AttributeSchema{Name: "items", Required: true})
	}
	return append(attrs, k.question...)
}

func (w *World) compileDiscover(t *model.Type, b Block) (*discoverer, hcl.Diagnostics) {
	k, diags := findKind("discover", b)
	if k == nil {
		return nil, diags
	}
	d := w.newDecoder(fmt.Sprintf("discover %q of type %q", b.Kind, t.Name), nil)
	d.open(b, k.discoverAttributes(), nil)
	out := &discoverer{typ: t, asker: k.discover(d), answered: &observer{kind: *k}, at: d.places()}
	if v, ok := d.fixed("allow_empty", cty.Bool); ok {
		out.allowEmpty = v.True()
	}
	out.answered.items = d.program("items", k.answers, nil, false)
	out.object = d.program("object", k.answers, nil, k.series == nil)
	if p := out.object; p != nil && !names(p) {
		d.errorf(d.attrs["object"].Expr.Range(), "Unsuitable value", "The object of %s must be a name, and this is %s.", d.what, typeWords(p.typ))
	}
	if d.diags.HasErrors() {
		return nil, d.diags
	}
	return out, d.diags
}

// names tells whether an expression can give the name of an object.
func names(p *program) bool {
	return fits(&model.Fluent{Kind: model.KindString}, p.typ) || fits(&model.Fluent{Kind: model.KindNumber}, p.typ)
}

// Discovers tells whether the model has types whose objects the world is asked for.
func (w *World) Discovers() bool { return len(w.discoverers) > 0 }

// Discover asks the world which objects there are, for each type that has a
// discover block, in the model's order. Declared objects are not among them
// unless they are found too. What an answer says of the objects' names is taken
// as data: any text but an empty one, one with a NUL, and one of more than 256
// bytes.
func (w *World) Discover(ctx context.Context) []Found {
	out := make([]Found, len(w.discoverers))
	var g errgroup.Group
	g.SetLimit(maxQueries)
	for i, d := range w.discoverers {
		g.Go(func() error {
			f := d.discover(ctx, w)
			f.Err, f.Note, f.Source = w.sensitive.text(f.Err), w.sensitive.text(f.Note), f.Source.with(w.sensitive.text)
			out[i] = f
			return nil
		})
	}
	_ = g.Wait() // the functions return no error
	return out
}

func (d *discoverer) discover(ctx context.Context, w *World) Found {
	f := Found{Type: d.typ, Source: Source{Kind: d.answered.kind.name}}
	q, err := d.asker.query(&ground{outer: w.eval})
	if err != nil {
		f.Err = clip(err.Error(), 300)
		return f
	}
	f.Source, f.Sampled = q.source(), time.Now()
	a := q.ask(ctx, w)
	if err := ctx.Err(); err != nil {
		f.Err = "interrupted: " + err.Error()
	} else {
		d.read(&f, &a)
	}
	hide := func(s string) string { return redact(s, a.redact) }
	f.Err, f.Note, f.Source = hide(f.Err), hide(f.Note), f.Source.with(hide)
	return f
}

// read takes the objects out of an answer.
func (d *discoverer) read(f *Found, a *answer) {
	n := namer{seen: map[string]bool{}}
	switch {
	case a.env == nil:
		f.Err = clip(a.err, 300)
		return
	case a.series != nil:
		for _, s := range a.series.samples {
			n.add(d.object, map[string]any{"value": s.value, "labels": s.labels})
		}
		f.Note = strings.Join(a.series.notes, "; ")
	default:
		items, why := d.answered.listOf(a)
		if why != "" {
			f.Err = clip(why, 300)
			return
		}
		env := maps.Clone(a.env)
		for _, item := range items {
			env["item"] = item
			n.add(d.object, env)
		}
	}
	d.take(f, a, &n)
}

// take judges what was found: an answer that may not be whole leaves the type
// open, and what it does tell is kept.
func (d *discoverer) take(f *Found, a *answer, n *namer) {
	f.Objects = slices.Sorted(maps.Keys(n.seen))
	if n.twice > 0 {
		f.Note = clip(strings.TrimSuffix(fmt.Sprintf("%d of %d are duplicates; %s", n.twice, n.asked, f.Note), "; "), 300)
	}
	switch {
	case len(f.Objects) > maxObjects:
		f.Objects, f.Err = nil, fmt.Sprintf("it gives more than %d objects", maxObjects)
	case a.series != nil && a.series.partial != "":
		f.Err = clip("the answer may not be whole: "+a.series.partial, 300)
	case n.blind > 0:
		f.Err = clip(fmt.Sprintf("%d of %d do not name an object: %s", n.blind, n.asked, n.why), 300)
	case len(f.Objects) == 0 && !d.allowEmpty:
		f.Err = fmt.Sprintf("no %s was found; where that is as it may be, say allow_empty = true", d.typ.Name)
	}
}

// namer gathers the names of objects.
type namer struct {
	seen  map[string]bool
	asked int    // items or series
	twice int    // that name an object named before
	blind int    // that do not say which object they are
	why   string // of the first such
}

func (n *namer) add(object *program, env map[string]any) {
	n.asked++
	name, err := object.name(env)
	if err == nil {
		err = usable(name)
	}
	switch {
	case err != nil:
		if n.blind++; n.blind == 1 {
			n.why = err.Error()
		}
	case n.seen[name]:
		n.twice++
	default:
		n.seen[name] = true
	}
}

// usable tells why a text cannot be the name of an object.
func usable(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("the name is empty")
	case strings.Contains(name, "\x00"):
		return fmt.Errorf("the name %s has a NUL", scalar(name))
	case len(name) > maxObjectName:
		return fmt.Errorf("the name %s is longer than %d bytes", scalar(name), maxObjectName)
	case !utf8.ValidString(name):
		return fmt.Errorf("the name %s is not valid UTF-8", scalar(name))
	}
	return nil
}
