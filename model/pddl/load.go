package pddl

import (
	"fmt"
	"os"

	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model"
)

// Task is a planning task as fettle sees it. It is read-only.
type Task struct {
	Domain, Problem string // their names
	Model           *model.Model
	U               *model.Universe
	Start           *model.State
	Goal            *model.Goal          // of the model, named like the problem
	Files           map[string]*hcl.File // by the name that ranges carry; bytes alone
}

// Load reads a domain's and a problem's file. The diagnostics are the author's
// mistakes; where there are errors among them the task has files alone. The
// error is a file that cannot be read.
func Load(domain, problem string) (*Task, hcl.Diagnostics, error) {
	var text [2][]byte
	for i, file := range []string{domain, problem} {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, nil, fmt.Errorf("read the %s: %w", [...]string{"domain", "problem"}[i], err)
		}
		text[i] = b
	}
	t, diags := Parse(domain, text[0], problem, text[1])
	return t, diags, nil
}

// Parse reads a domain and a problem whose files have these names.
func Parse(domain string, domainText []byte, problem string, problemText []byte) (*Task, hcl.Diagnostics) {
	ld := newLoader(&source{name: domain, text: domainText}, &source{name: problem, text: problemText}, false)
	t := ld.load()
	if ld.mixed { // objects of several types meet: they need one root
		ld = newLoader(ld.domain, ld.problem, true)
		t = ld.load()
	}
	return t, ld.sorted()
}

// loader is the work in progress of one reading.
type loader struct {
	domain, problem *source
	syms            symbols
	diags           hcl.Diagnostics
	failed          bool

	// joined: all types share the root "object". Otherwise each type that has no
	// parent is a root of its own, which keeps the states compact. mixed is set
	// where that turned out not to do.
	joined, mixed bool

	m       *model.Model
	state   *model.State
	types   map[string]*typ
	ordered []*typ
	kindOf  map[*model.Type]*typ
	eithers []*typ
	objects []object
	byName  []int32          // 1 + object, by symbol; see tainted
	further map[int32][]*typ // of objects declared with several, by symbol

	predicates map[string]*predicate
	functions  map[string]*predicate
	meanings   map[int32]*meaning
	derived    map[*model.Fluent]*derivation
	patience   int // how many more near names are looked for among many
}

func newLoader(domain, problem *source, joined bool) *loader {
	return &loader{
		domain: domain, problem: problem, joined: joined, m: model.New(), syms: newSymbols(len(domain.text) + len(problem.text)), types: map[string]*typ{},
		kindOf: map[*model.Type]*typ{}, predicates: map[string]*predicate{}, functions: map[string]*predicate{},
		meanings: map[int32]*meaning{}, further: map[int32][]*typ{}, derived: map[*model.Fluent]*derivation{}, patience: 20,
	}
}

// load reads both files. Everything but the initial state is read before the
// universe is made; where something was wrong the initial state is read for its
// mistakes alone.
func (ld *loader) load() *Task {
	t := &Task{Files: map[string]*hcl.File{}}
	for _, s := range []*source{ld.domain, ld.problem} {
		t.Files[s.name] = &hcl.File{Bytes: s.text}
	}
	d, ok := ld.outline(ld.domain, "domain")
	if !ok || !ld.legible(ld.domain) || !ld.legible(ld.problem) {
		return t
	}
	p, ok := ld.outline(ld.problem, "problem")
	if !ok {
		return t
	}
	ld.known(d, domainSections)
	ld.known(p, problemSections)
	if ld.failed || !ld.sameDomain(d, p) {
		return t // the rest would be one mistake after the other
	}
	ld.m.FoldCase = true
	ld.declare(d, p)
	if ld.mixed {
		return t
	}
	goal := ld.behaviour(d, p)
	if ld.mixed {
		return t
	}
	var u *model.Universe
	if !ld.failed {
		ld.m.Link()
		u = model.NewUniverse(ld.m)
		ld.state = u.NewState(true)
	}
	ld.initial(p)
	if !ld.failed {
		t.Domain, t.Problem, t.Model, t.U, t.Start, t.Goal = d.name, p.name, ld.m, u, ld.state, goal
	}
	return t
}

// declare reads what other parts refer to.
func (ld *loader) declare(d, p *definition) {
	ld.declareTypes(d)
	ld.each(d, ":constants", ld.declareObjects)
	ld.each(p, ":objects", ld.declareObjects)
	ld.each(d, ":predicates", ld.declarePredicates)
	ld.each(d, ":functions", ld.declareFunctions)
}

// behaviour reads what is built of the declarations.
func (ld *loader) behaviour(d, p *definition) *model.Goal {
	ld.each(d, ":derived", ld.declareDerived)
	ld.deriveAll()
	ld.each(d, ":action", ld.action)
	goal := &model.Goal{Name: p.name}
	ld.each(p, ":goal", func(s *section) { ld.goal(goal, s) })
	ld.m.Goals = append(ld.m.Goals, goal)
	ld.each(p, ":metric", ld.optimise)
	ld.fillEithers()
	return goal
}

func (ld *loader) each(d *definition, key string, read func(*section)) {
	for i := range d.sections {
		if d.sections[i].key == key {
			read(&d.sections[i])
		}
	}
}

var (
	domainSections  = []string{":requirements", ":types", ":constants", ":predicates", ":functions", ":action", ":derived"}
	problemSections = []string{":domain", ":requirements", ":objects", ":init", ":goal", ":metric", ":length"}
	unsupported     = map[string]string{
		":durative-action": "durative actions", ":constraints": "constraints", ":axiom": "axioms; write (:derived …)",
		":process": "processes", ":event": "events", ":task": "hierarchical tasks", ":method": "hierarchical tasks",
		":htn": "hierarchical tasks", ":timeless": "timeless facts; write them into :init", ":modules": "modules", ":class": "modules",
	}
)

// known reports sections that mean nothing, or more than fettle can do.
func (ld *loader) known(d *definition, keys []string) {
	seen := map[string]bool{}
	for i := range d.sections {
		s := &d.sections[i]
		once := s.key == ":goal" || s.key == ":metric" || s.key == ":domain"
		switch what := unsupported[s.key]; {
		case what != "":
			ld.unsupported(s.place(), what)
		case !contains(keys, s.key):
			ld.errorAt(s.place(), fmt.Sprintf("Unknown section %q", s.key), "A section here is one of %s.%s", list(keys), near(s.key, keys))
		case once && seen[s.key]:
			ld.errorAt(s.place(), fmt.Sprintf("Second section %q", s.key), "There can be but one.")
		}
		seen[s.key] = true
	}
}

// sameDomain compares the problem's domain with the domain's name.
func (ld *loader) sameDomain(d, p *definition) bool {
	ld.each(p, ":domain", func(s *section) {
		ns, _ := ld.nodes(s)
		for _, n := range ns {
			if n.name != d.name {
				ld.errorAt(n.place(), "Another domain", "The problem is for the domain %q, and %s defines %q.", text(n), ld.domain.name, d.name)
			}
		}
	})
	return !ld.failed
}

// goal reads the condition to be reached.
func (ld *loader) goal(g *model.Goal, s *section) {
	ns, ok := ld.nodes(s)
	if !ok {
		return
	}
	if len(ns) != 1 {
		ld.errorAt(s.place(), "Not one condition", "A goal is one condition; join several with (and …).")
		return
	}
	l := &lowerer{ld: ld}
	if e := l.condition(ns[0]); e != nil {
		g.Cond = model.NewCond(l.slots, e)
	}
}
