package pddl

import (
	"maps"
	"slices"
	"strings"

	"github.com/fettleops/fettle/model"
)

func contains(words []string, w string) bool { return slices.Contains(words, w) }

func list(words []string) string { return strings.Join(words, ", ") }

// keys returns a map's keys in their order.
func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// text shows a node as it is written, shortened.
func text(n *node) string {
	return model.Clip(strings.Join(strings.Fields(string(n.src.text[n.from:n.to])), " "))
}

// article puts a or an before a noun.
func article(noun string) string {
	if noun != "" && strings.IndexByte("aeiou", noun[0]) >= 0 {
		return "an " + noun
	}
	return "a " + noun
}

// signature shows parameters as PDDL declares them: (at ?obj - locatable).
func signature(name string, params []model.Param, kind func(*model.Type) string) string {
	var b strings.Builder
	b.WriteString("(" + name)
	for _, p := range params {
		b.WriteString(" ?" + p.Name + " - " + kind(p.Type))
	}
	return b.String() + ")"
}
