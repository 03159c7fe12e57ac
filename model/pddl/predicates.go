package pddl

import (
	"fmt"

	"github.com/fettleops/fettle/model"
)

// predicate is a declared predicate.
type predicate struct {
	f     *model.Fluent
	kinds []*typ // of its parameters
}

// declarePredicates reads (name ?x - type …) for each.
func (ld *loader) declarePredicates(s *section) {
	ns, _ := ld.nodes(s)
	for _, n := range ns {
		if n.head() == "" {
			ld.errorAt(n.place(), "Not a predicate", "A predicate is declared as in (on ?x ?y - block).")
			continue
		}
		if n.head() == "=" {
			continue // equality is there without being declared
		}
		f, kinds := ld.declaration(n, model.KindBool)
		switch old := ld.predicates[f.Name]; {
		case old != nil && len(old.kinds) != len(kinds):
			ld.errorAt(n.place(), fmt.Sprintf("Second predicate %q", f.Name), "It is declared already, with %s.", count(len(old.kinds), "argument"))
		case old == nil:
			ld.m.AddFluent(f)
			p := &predicate{f, kinds}
			ld.predicates[f.Name] = p
			ld.bySym(n.kids[0].sym).predicate = p
		}
	}
}

// declareFunctions reads a typed list of (name ?x - type …), of which all must
// be numbers.
func (ld *loader) declareFunctions(s *section) {
	ns, _ := ld.nodes(s)
	for i := 0; i < len(ns); i++ {
		n := ns[i]
		if n.name == "-" {
			if i++; i < len(ns) && ns[i].name != "number" {
				ld.unsupported(ns[i].place(), "object fluents")
			}
			continue
		}
		if n.head() == "" && (n.list() || n.isVariable()) {
			ld.errorAt(n.place(), "Not a function", "A function is declared as in (distance ?from ?to - place).")
			continue
		}
		f, kinds := ld.declaration(n, model.KindNumber)
		if ld.functions[f.Name] != nil {
			ld.errorAt(n.place(), fmt.Sprintf("Second function %q", f.Name), "It is declared already.")
			continue
		}
		ld.m.AddFluent(f)
		p := &predicate{f, kinds}
		ld.functions[f.Name] = p
		sym := n.sym
		if n.list() {
			sym = n.kids[0].sym
		}
		ld.bySym(sym).function = p
	}
}

// declaration reads the name and the parameters of a fluent; a word alone has
// none.
func (ld *loader) declaration(n *node, kind model.Kind) (*model.Fluent, []*typ) {
	f := &model.Fluent{Name: n.name, Kind: kind}
	if !n.list() {
		return f, nil
	}
	f.Name = n.head()
	vars := ld.variables(n.kids[1:])
	var kinds []*typ
	for _, v := range vars {
		f.Params = append(f.Params, model.Param{Name: v.name[1:], Type: v.model()})
		kinds = append(kinds, v.t)
	}
	return f, kinds
}

// variables reads a typed list of variables.
func (ld *loader) variables(ns []*node) []bound {
	var out []bound
	for _, g := range ld.typedList(ns) {
		for _, n := range g.names {
			if !n.isVariable() {
				ld.errorAt(n.place(), "Not a variable", "%s stands where a variable such as ?x does.", text(n))
				continue
			}
			out = append(out, bound{name: n.name, t: ld.kind(g.kind), at: n})
		}
	}
	return out
}

// meaning is what a word names beside an object.
type meaning struct{ predicate, function *predicate }

// bySym returns the meaning of a word, which may be given one.
func (ld *loader) bySym(sym int32) *meaning {
	m := ld.meanings[sym]
	if m == nil {
		m = &meaning{}
		ld.meanings[sym] = m
	}
	return m
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// noPredicate says that there is no predicate, or function, of the name.
func (ld *loader) noPredicate(n *node, name, what string, all map[string]*predicate) {
	hint := near(name, keys(all))
	if contains(preferred, name) {
		ld.unsupported(n.place(), name)
		return
	}
	ld.errorAt(n.place(), fmt.Sprintf("Unknown %s %q", what, name), "There is no %s of that name.%s", what, hint)
}

// preferred are operators of later versions of PDDL.
var preferred = []string{
	"preference", "at-most-once", "sometime", "sometime-after", "sometime-before", "within", "always", "always-within",
	"hold-during", "hold-after",
}

// wrongArity says how many arguments a fluent takes.
func (ld *loader) wrongArity(n *node, p *predicate, got int) {
	ld.errorAt(n.place(), fmt.Sprintf("Wrong number of arguments for %q", p.f.Name), "%s takes %s, as in %s; got %d.",
		p.f.Name, count(len(p.kinds), "argument"), signature(p.f.Name, p.f.Params, ld.shown), got)
}
