package graph_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/model/graph"
	"github.com/fettleops/fettle/model/load"
)

// loadModel loads the model at a path.
func loadModel(t *testing.T, path string) *model.Model {
	t.Helper()
	l, diags := load.Model(path, load.Options{LookupEnv: func(string) (string, bool) { return "", false }})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return l.Model
}

// write loads a model from its text.
func write(t *testing.T, text string) *model.Model {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "m.fettle.hcl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return loadModel(t, dir)
}

// edges writes the edges of a graph, one a line: "readd enables drain: capacity, in_lb".
func edges(g *graph.Graph) string {
	var lines []string
	for _, e := range g.Edges {
		line := g.Nodes[e.From].Name + " " + string(e.Kind) + " " + g.Nodes[e.To].Name
		if len(e.Fluents) > 0 {
			line += ": " + strings.Join(e.Fluents, ", ")
		}
		if len(e.Invariants) > 0 {
			line += ": " + strings.Join(e.Invariants, ", ")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
