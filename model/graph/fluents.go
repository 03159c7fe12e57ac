package graph

import (
	"slices"

	"github.com/fettleops/fettle/model"
)

// Fluents returns the graph of a model's actions and fluents: which action
// changes what, which needs what, and what is derived from what.
func Fluents(m *model.Model) *Graph {
	g := &Graph{}
	for _, a := range m.Actions {
		g.Nodes = append(g.Nodes, actionNode(a))
	}
	at := map[*model.Fluent]int{}
	for _, f := range m.Fluents {
		at[f] = len(g.Nodes)
		g.Nodes = append(g.Nodes, Node{Name: f.Name, Text: signature(f.Name, f.Params), Doc: f.Doc, Fluent: true})
	}
	for i, a := range m.Actions {
		for _, e := range a.Effects {
			g.join(Edge{From: i, To: at[e.Fluent], Kind: effectKind(e)})
		}
		for _, r := range directReadings(a) {
			for _, k := range needs(r) {
				g.join(Edge{From: at[r.fluent], To: i, Kind: k})
			}
		}
	}
	for _, f := range m.Fluents {
		for _, base := range definedBy(f) {
			g.join(Edge{From: at[base], To: at[f], Kind: Derives})
		}
	}
	return g
}

// join adds an edge, once.
func (g *Graph) join(e Edge) {
	if !slices.ContainsFunc(g.Edges, func(o Edge) bool { return o.From == e.From && o.To == e.To && o.Kind == e.Kind }) {
		g.Edges = append(g.Edges, e)
	}
}

func effectKind(e model.Effect) Kind {
	switch e.Op {
	case model.Add:
		return Adds
	case model.Del:
		return Deletes
	}
	return Changes
}

// needs says how a precondition depends on what it reads.
func needs(r reading) []Kind {
	switch {
	case r.test != nil || r.fluent.Kind != model.KindBool || r.mono == up:
		return []Kind{Needs}
	case r.mono == down:
		return []Kind{Forbids}
	}
	return []Kind{Needs, Forbids}
}

// directReadings lists what the precondition itself names.
func directReadings(a *model.Action) []reading {
	if a.Precondition == nil {
		return nil
	}
	r := &readingList{flat: true, params: paramTerms(a.Params)}
	r.conjuncts(a)
	return r.list
}

// definedBy returns the fluents that a derived fluent's definition names.
func definedBy(f *model.Fluent) []*model.Fluent {
	if f.Derived == nil {
		return nil
	}
	r := &readingList{flat: true}
	r.expr(f.Derived, environment(f.Slots, paramTerms(f.Params)), up)
	var out []*model.Fluent
	for _, one := range r.list {
		if !slices.Contains(out, one.fluent) {
			out = append(out, one.fluent)
		}
	}
	return out
}
