package pddl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/builtin"

	"github.com/fettleops/fettle/model"
)

// reserved are the words that the model language keeps for itself, beside the
// functions of expr.
var reserved = []string{
	"in", "not", "and", "or", "let", "if", "else", "true", "false", "nil", "matches", "contains", "startsWith", "endsWith",
	"bool", "number", "string", "enum", "var", "local",
}

// names gives everything a name of its own in the model language, in which
// types, fluents, actions, objects and parameters share one set of names.
type names struct {
	taken   map[string]bool
	types   map[*model.Type]string
	fluents map[*model.Fluent]string
	actions map[*model.Action]string
	objects map[string]string
	renamed []string // "action 4ops: x_4ops"
}

// newNames names all that is declared: objects first, which keep their names
// wherever they can, then actions, fluents and types.
func newNames(t *Task) *names {
	n := &names{
		taken: map[string]bool{}, types: map[*model.Type]string{}, fluents: map[*model.Fluent]string{},
		actions: map[*model.Action]string{}, objects: map[string]string{},
	}
	for _, k := range t.Model.Types {
		for _, o := range k.Objects {
			n.object(k.NameOf(o))
		}
	}
	for _, a := range t.Model.Actions {
		n.actions[a] = n.declared("action", a.Name)
	}
	for _, f := range t.Model.Fluents {
		n.fluents[f] = n.declared("fluent", f.Name)
	}
	for _, k := range t.Model.Types {
		n.types[k] = n.declared("type", k.Name)
	}
	return n
}

func (n *names) object(name string) {
	if _, ok := n.objects[name]; ok {
		return
	}
	n.objects[name] = name
	if isReserved(name) {
		n.objects[name] = n.free(name, "_o")
		n.note("object", name, n.objects[name])
	}
	n.taken[n.objects[name]] = true
}

func (n *names) declared(kind, name string) string {
	out := n.claim(name, "_"+kind[:1])
	n.note(kind, name, out)
	return out
}

func (n *names) note(kind, name, out string) {
	if name != out {
		n.renamed = append(n.renamed, fmt.Sprintf("%s %s is %s", kind, name, out))
	}
}

// claim makes an identifier of a name, unlike all others.
func (n *names) claim(name, suffix string) string {
	out := n.free(identifier(name), suffix)
	n.taken[out] = true
	return out
}

// free returns the name, with the suffix of its kind and a number where it is
// taken.
func (n *names) free(name, suffix string) string {
	out := name
	for i := 1; n.taken[out] || isReserved(out); i++ {
		out = name + suffix
		if i > 1 {
			out += fmt.Sprint(i)
		}
	}
	return out
}

func isReserved(name string) bool {
	_, isBuiltin := builtin.Index[name]
	return isBuiltin || slices.Contains(reserved, name)
}

// identifier replaces what cannot stand in a name by underscores, and puts x_
// before a digit.
func identifier(name string) string {
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c >= '0' && c <= '9':
			b.WriteByte(c)
		default:
			b.WriteByte('_')
		}
	}
	if s := b.String(); s != "" && (s[0] < '0' || s[0] > '9') {
		return s
	}
	return "x_" + b.String()
}

// local names a parameter or a variable, which may stand again elsewhere.
func (n *names) local(used map[string]bool, name string) string {
	base := identifier(name)
	out := base
	for i := 1; used[out] || n.taken[out] || isReserved(out); i++ {
		out = base + "_p"
		if i > 1 {
			out += fmt.Sprint(i)
		}
	}
	used[out] = true
	return out
}

// objectText writes an object where the model language reads one: bare where it is
// an identifier.
func objectText(name string) string {
	if identifier(name) == name {
		return name
	}
	q := model.Quote(name)
	if q[0] == '\'' {
		return q
	}
	return "'" + q + "'"
}
