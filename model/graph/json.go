package graph

import "encoding/json"

type nodeJSON struct {
	Name      string `json:"name"`
	Signature string `json:"signature"`
	Doc       string `json:"doc,omitempty"`
}

type edgeJSON struct {
	From       string   `json:"from"`
	To         string   `json:"to"`
	Kind       Kind     `json:"kind"`
	Fluents    []string `json:"fluents,omitempty"`
	Invariants []string `json:"invariants,omitempty"`
}

// MarshalJSON writes the graph with its nodes' names: an edge's kind tells which
// end is an action and which is a fluent.
func (g *Graph) MarshalJSON() ([]byte, error) {
	out := struct {
		Actions []nodeJSON `json:"actions"`
		Fluents []nodeJSON `json:"fluents,omitempty"`
		Edges   []edgeJSON `json:"edges"`
	}{Actions: []nodeJSON{}, Edges: []edgeJSON{}}
	for _, n := range g.Nodes {
		node := nodeJSON{n.Name, n.Text, n.Doc}
		if n.Fluent {
			out.Fluents = append(out.Fluents, node)
		} else {
			out.Actions = append(out.Actions, node)
		}
	}
	for _, e := range g.Edges {
		out.Edges = append(out.Edges, edgeJSON{g.Nodes[e.From].Name, g.Nodes[e.To].Name, e.Kind, e.Fluents, e.Invariants})
	}
	return json.Marshal(out)
}
