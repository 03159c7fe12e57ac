package search

import (
	"slices"

	"github.com/fettleops/fettle/model"
)

// grounder finds by relaxed reachability, semi-naively, which ground actions
// can ever become applicable and which ground fluents they write. What it
// cannot decide it takes for reachable.
type grounder struct {
	u     *model.Universe
	start *model.State
	lim   *limiter
	// optimistic grounding takes an unknown fact of the start for one that may
	// have any value: it finds what unknown facts bear on.
	optimistic bool

	fluid        []bool // by fluent: some allowed action writes it
	schemas      []*schema
	rel          []*relation            // by fluent
	triggers     [2]map[int32][]trigger // by fluent: conjuncts wanting it true (or of a value), false
	queue        []fact
	reachedFacts int // how many were ever queued
	seen         map[string]struct{}
	ground       []model.Ground
	suspended    []suspended
	vars         *varTable
	objects      map[*model.Type][]int32 // by root: see anything
	statics      map[*model.Expr]bool
	key          []byte
}

type trigger struct {
	s    *schema
	atom int
}

// fact is a tuple of a relation, or a bool that may be false.
type fact struct {
	f     *model.Fluent
	neg   bool
	tuple []int32
}

// groundBytes is about what a ground action costs while grounding.
const groundBytes = 160

func newGrounder(p Problem, lim *limiter, optimistic bool) *grounder {
	g := &grounder{
		u: p.U, start: p.Start, lim: lim, optimistic: optimistic,
		fluid: make([]bool, len(p.U.Fluents)), rel: make([]*relation, len(p.U.Fluents)),
		seen: map[string]struct{}{}, vars: newVarTable(p.U), objects: map[*model.Type][]int32{}, statics: map[*model.Expr]bool{},
	}
	g.triggers = [2]map[int32][]trigger{{}, {}}
	actions := p.U.Actions
	if p.Allowed != nil {
		actions = slices.Clone(p.Allowed)
		slices.SortFunc(actions, func(a, b *model.Action) int { return a.ID() - b.ID() })
		actions = slices.Compact(actions)
	}
	for _, a := range actions {
		for i := range a.Effects {
			g.fluid[a.Effects[i].Fluent.ID()] = true
		}
	}
	for _, a := range actions {
		g.schemas = append(g.schemas, g.newSchema(a))
	}
	return g
}

// run grounds the actions, in the order of the actions and their arguments.
func (g *grounder) run() {
	for _, s := range g.schemas {
		for i, p := range s.atoms {
			g.relationOf(p.f)
			if g.fluid[p.f.ID()] {
				m := g.triggers[sign(p.neg)]
				m[int32(p.f.ID())] = append(m[int32(p.f.ID())], trigger{s, i})
			}
		}
	}
	for _, s := range g.schemas {
		g.extend(s, freeEnv(s.a), 0, 0)
	}
	for seen := -1; seen != g.reachedFacts && g.lim.ok(); {
		g.drain()
		seen = g.reachedFacts
		g.resume()
	}
	slices.SortFunc(g.ground, func(a, b model.Ground) int {
		if a.Action != b.Action {
			return a.Action.ID() - b.Action.ID()
		}
		return slices.Compare(a.Args, b.Args)
	})
}

// drain follows every fact that was reached.
func (g *grounder) drain() {
	for len(g.queue) > 0 && g.lim.ok() {
		f := g.queue[0]
		g.queue = g.queue[1:]
		for _, t := range g.triggers[sign(f.neg)][int32(f.f.ID())] {
			env := freeEnv(t.s.a)
			if g.bind(t.s, t.s.atoms[t.atom].terms, f.tuple, env) {
				g.extend(t.s, env, 1<<t.atom, 0)
			}
		}
	}
}

func sign(neg bool) int {
	if neg {
		return 1
	}
	return 0
}

func freeEnv(a *model.Action) []int32 {
	env := make([]int32, len(a.Params))
	for i := range env {
		env[i] = -1
	}
	return env
}

// relationOf returns the fluent's relation, filled from the start the first time.
func (g *grounder) relationOf(f *model.Fluent) *relation {
	if r := g.rel[f.ID()]; r != nil {
		return r
	}
	r := newRelation(f)
	g.rel[f.ID()] = r
	n := 1
	for _, p := range f.Params {
		if n *= max(1, len(g.u.Objects(p.Type))); n > maxListed {
			return r
		}
	}
	r.listed = true
	for args := range g.u.Instances(f.Params) {
		v := g.start.Get(model.Atom{Fluent: f, Args: args})
		switch {
		case !v.Known() && g.optimistic && f.Kind == model.KindObject:
			for _, o := range g.u.Objects(f.Type) {
				r.add(append(slices.Clone(args), o))
			}
		case f.Kind == model.KindObject && v.Known():
			r.add(append(slices.Clone(args), v.Object()))
		case f.Kind == model.KindBool && g.possibly(v.Tri()):
			r.add(args)
		}
	}
	return r
}

// possibly tells whether a truth value counts as true.
func (g *grounder) possibly(t model.Tri) bool {
	return t == model.True || g.optimistic && t == model.Unknown
}

// emit takes a ground action in, once, and what it may write.
func (g *grounder) emit(s *schema, env []int32) {
	g.key = append(g.key[:0], byte(s.a.ID()), byte(s.a.ID()>>8), byte(s.a.ID()>>16))
	for _, o := range env {
		g.key = append(g.key, byte(o), byte(o>>8), byte(o>>16), byte(o>>24))
	}
	if _, ok := g.seen[string(g.key)]; ok {
		return
	}
	g.seen[string(g.key)] = struct{}{}
	gr := model.Ground{Action: s.a, Args: slices.Clone(env)}
	g.ground = append(g.ground, gr)
	g.lim.use(groundBytes + 4*int64(len(env)))
	full := make([]int32, max(s.a.Slots, len(env)))
	copy(full, env)
	for i := range s.a.Effects {
		g.effect(&s.a.Effects[i], full, 0)
	}
}
