package world

import (
	"fmt"
	"maps"

	"github.com/fettleops/fettle/model"
)

// list is an answer about many objects, its items found by instance.
type list struct {
	items  map[uint64][]any
	blind  int    // items of which it cannot be said which object they are about
	reason string // why the answer has no list
	told   *Matched
}

// index evaluates `items`, and `object` of each item. An item that names no
// object of the model is ignored.
func (o *observer) index(u *model.Universe, a *answer) list {
	items, why := o.listOf(a)
	if why != "" {
		return list{reason: why}
	}
	l := list{items: map[uint64][]any{}, told: o.matching("items")}
	l.told.Of = len(items)
	env := maps.Clone(a.env)
	for _, item := range items {
		env["item"] = item
		args, known, foreign := o.about(u, env)
		switch {
		case foreign != "":
			l.told.ignore(func() string { return itemText(item) }, foreign)
			if !known {
				l.blind++
			}
		default:
			i := u.Index(o.fluent, args)
			l.items[i] = append(l.items[i], item)
			l.told.To++
		}
	}
	return l
}

// listOf evaluates `items`; why says why the answer has no list.
func (o *observer) listOf(a *answer) (items []any, why string) {
	if why := o.judge(a); why != "" {
		return nil, why
	}
	if a.notJSON != "" && mentions("body", o.items) {
		return nil, joinReasons(a.failed, a.notJSON)
	}
	v, _, err := o.items.run(maps.Clone(a.env))
	if err != nil {
		return nil, joinReasons(a.failed, err.Error())
	}
	items, ok := v.([]any)
	if !ok {
		return nil, joinReasons(a.failed, fmt.Sprintf("items wants a list, got %s", describe(v)))
	}
	return items, ""
}

// about finds the objects an item is about. Foreign says why it is about nothing
// in the model; it is not known that it is not where the item does not say.
func (o *observer) about(u *model.Universe, env map[string]any) (args []int32, known bool, foreign string) {
	for k, p := range o.fluent.Params {
		name, err := o.object[k].name(env)
		if err != nil {
			return nil, false, err.Error()
		}
		id, ok := u.Find(p.Type, name)
		if !ok && foreign == "" {
			foreign = noSuch(p.Type, name)
		}
		args = append(args, id)
	}
	return args, true, foreign
}

// name evaluates an expression that names an object. A number is as good a name
// as a text.
func (p *program) name(env map[string]any) (string, error) {
	v, _, err := p.run(env)
	if err != nil {
		return "", err
	}
	if name, ok := v.(string); ok {
		return name, nil
	}
	if n, ok := number(v); ok {
		return model.FormatNumber(n), nil
	}
	return "", fmt.Errorf("a name is wanted, got %s", describe(v))
}

// readItem turns an answer about many objects into the reading of one.
func (o *observer) readItem(u *model.Universe, g *ground, r Reading, a *answer, l *list) Reading {
	if a.env == nil {
		return o.missing(u, g, r, a.err, a.absent)
	}
	if l.reason != "" {
		r.Err = clip(l.reason, 300)
		return r
	}
	r.Matched = l.told
	found := l.items[u.Index(o.fluent, r.Atom.Args)]
	what := model.FormatAtom(o.fluent.Name, u.Names(o.fluent.Params, r.Atom.Args)...)
	switch {
	case len(found) > 1:
		r.Err = clip(fmt.Sprintf("%d items are about %s", len(found), what), 300)
		return r
	case len(found) == 0 && l.blind > 0:
		r.Err = clip(fmt.Sprintf("no item is about %s, but %d items do not say what they are about", what, l.blind), 300)
		return r
	case len(found) == 0:
		return o.missing(u, g, r, "no item is about "+what, true)
	}
	env := maps.Clone(a.env)
	env["item"] = found[0]
	return o.evaluate(u, g, r, a, env)
}
