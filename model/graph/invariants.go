package graph

import "github.com/fettleops/fettle/model"

// strain tells by action what it can do to an invariant: up where it can relieve
// it, down where it can make it worse.
type strain map[*model.Action]change

// strainsOf holds the effects of each action against what each invariant reads.
func strainsOf(d *domains, m *model.Model, known amounts) []strain {
	strains := make([]strain, len(m.Invariants))
	for i, inv := range m.Invariants {
		strains[i] = strain{}
		list := invariantReadings(known, inv)
		for _, a := range m.Actions {
			for _, w := range writings(d, a) {
				for _, r := range list {
					strains[i][a] |= w.bears(r)
				}
			}
		}
	}
	return strains
}

// invariantReadings lists what an invariant reads, in the order written.
func invariantReadings(known amounts, inv *model.Invariant) []reading {
	r := &readingList{amounts: known, seen: map[string]bool{}}
	env := environment(inv.Cond.Slots, nil)
	for _, e := range inv.Cond.Conjuncts {
		r.expr(e, env, up)
	}
	return r.list
}

// bears tells what the effect can do to the conjunct in which a fluent is read.
func (w writing) bears(r reading) (c change) {
	if w.fluent != r.fluent {
		return 0
	}
	helps, hurts := w.meets(r, false)
	if helps {
		c |= up
	}
	if hurts {
		c |= down
	}
	return c
}

// relief returns the edges of an action to those that can go on where it has
// relieved an invariant. An action has none to itself: that each of its ground
// actions can do both says nothing of their order.
func relief(m *model.Model, from int, strains []strain) []Edge {
	var edges []Edge
	for to, a := range m.Actions {
		e := Edge{From: from, To: to, Kind: Relieves}
		for i, inv := range m.Invariants {
			if strains[i][m.Actions[from]]&up != 0 && strains[i][a]&down != 0 {
				e.Invariants = append(e.Invariants, inv.Name)
			}
		}
		if from != to && len(e.Invariants) > 0 {
			edges = append(edges, e)
		}
	}
	return edges
}

// labels are what an edge shows.
func (e Edge) labels() []string {
	return append(e.Fluents[:len(e.Fluents):len(e.Fluents)], e.Invariants...)
}
