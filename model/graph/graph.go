package graph

import (
	"slices"

	"github.com/fettleops/fettle/model"
)

// Kind says what an edge means.
type Kind string

// The kinds of edges: the first three join actions, the others stand where
// fluents are drawn too.
const (
	Enables   Kind = "enables"   // action → action: can make a part of its precondition true
	Threatens Kind = "threatens" // action → action: can make a part of its precondition false
	Relieves  Kind = "relieves"  // action → action: can relieve an invariant that the other can make worse
	Adds      Kind = "adds"      // action → fluent: makes a bool true
	Deletes   Kind = "deletes"   // action → fluent: makes a bool false
	Changes   Kind = "changes"   // action → fluent: gives it another value
	Needs     Kind = "needs"     // fluent → action: reads it, to be true or of some value
	Forbids   Kind = "forbids"   // fluent → action: needs it false
	Derives   Kind = "derives"   // fluent → fluent: the second is defined by the first
)

// Node is an action or a fluent.
type Node struct {
	Name   string
	Text   string // with its parameters: drain(s)
	Doc    string
	Fluent bool
}

// Edge joins two nodes. There is one edge at most of each kind between two nodes.
type Edge struct {
	From, To int // into Nodes
	Kind     Kind
	// Fluents are those through which one action bears on the other, in the
	// order of the precondition that reads them. Other kinds have none.
	Fluents []string
	// Invariants are those that the first of two actions can relieve and the
	// other make worse, in the order of the model.
	Invariants []string
}

// Graph is what is drawn. Nodes are in the order of the model, edges in the
// order of their nodes, so that one model always gives one text.
type Graph struct {
	Nodes []Node
	Edges []Edge
}

// Actions returns the graph of a model's actions. An action is joined to itself
// only where one of its ground actions bears on another one.
func Actions(m *model.Model) *Graph {
	g := &Graph{}
	d := newDomains(m)
	known := newAmounts(m)
	readers := map[*model.Fluent][]reader{}
	for i, a := range m.Actions {
		g.Nodes = append(g.Nodes, actionNode(a))
		for k, r := range readings(known, a) {
			readers[r.fluent] = append(readers[r.fluent], reader{action: i, order: k, reading: r})
		}
	}
	strains := strainsOf(d, m, known)
	for i, a := range m.Actions {
		g.Edges = append(g.Edges, edgesFrom(d, i, a, readers)...)
		g.Edges = append(g.Edges, relief(m, i, strains)...)
	}
	return g
}

// reader is one thing that the precondition of an action reads.
type reader struct {
	action, order int
	reading
}

// edgesFrom returns the edges of one action to those that read what it writes.
func edgesFrom(d *domains, from int, a *model.Action, readers map[*model.Fluent][]reader) []Edge {
	met := map[Kind]map[int][]reader{Enables: {}, Threatens: {}}
	for _, w := range writings(d, a) {
		for _, r := range readers[w.fluent] {
			helps, hurts := w.meets(r.reading, from == r.action)
			if helps {
				met[Enables][r.action] = append(met[Enables][r.action], r)
			}
			if hurts {
				met[Threatens][r.action] = append(met[Threatens][r.action], r)
			}
		}
	}
	var edges []Edge
	for to := range d.u.Actions {
		for _, k := range []Kind{Enables, Threatens} {
			if rs := met[k][to]; len(rs) > 0 {
				edges = append(edges, Edge{From: from, To: to, Kind: k, Fluents: labels(rs)})
			}
		}
	}
	return edges
}

// labels returns the names under which the precondition reads what is written,
// each once, in the order of the precondition.
func labels(rs []reader) []string {
	slices.SortStableFunc(rs, func(a, b reader) int { return a.order - b.order })
	var out []string
	for _, r := range rs {
		if !slices.Contains(out, r.label) {
			out = append(out, r.label)
		}
	}
	return out
}

func actionNode(a *model.Action) Node {
	return Node{Name: a.Name, Text: signature(a.Name, a.Params), Doc: a.Doc}
}

// signature writes a name with its parameters' names, which say more in a
// picture than their types do.
func signature(name string, params []model.Param) string {
	if len(params) == 0 {
		return name
	}
	s := name + "("
	for i, p := range params {
		if i > 0 {
			s += ", "
		}
		s += p.Name
	}
	return s + ")"
}
