package search

import (
	"fmt"
	"slices"

	"github.com/fettleops/fettle/model"
)

// noPlan decides between unsolvable and unobservable once no plan is known to
// work: it grounds the problem again, taking an unknown fact for one that may
// have any value, and goes backwards from the goal. The problem is unsolvable
// where no unknown fact is met on the way, or where the goal cannot be reached
// even so.
func (s *searcher) noPlan() Result {
	if t := openType(s.p); t != nil {
		s.res.Status = Unobservable
		s.res.Reason = fmt.Sprintf("not all objects of type %s are known: their discovery failed", t.Name)
		if len(s.p.U.Objects(t)) == 0 {
			s.res.Reason += " or found none"
		}
		return s.res
	}
	unknown := s.unknownFacts()
	if !s.lim.ok() {
		return s.stopped()
	}
	s.res.Status, s.res.Unknown = Unsolvable, unknown
	if len(unknown) > 0 {
		s.res.Status = Unobservable
	}
	s.res.Reason = reasonOf(s.p.U, unknown)
	return s.res
}

// reasonText is how many facts a reason names.
const reasonText = 8

func reasonOf(u *model.Universe, unknown []model.Atom) string {
	if len(unknown) == 0 {
		return "no sequence of actions reaches the goal"
	}
	text := "unknown: "
	for i, a := range unknown[:min(len(unknown), reasonText)] {
		if i > 0 {
			text += ", "
		}
		text += u.Text(a)
	}
	if n := len(unknown) - reasonText; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// unknownFacts returns the facts unknown at the start that bear on the goal,
// in the order of the model.
func (s *searcher) unknownFacts() []model.Atom {
	t, c := compileProblem(s.p, s.lim, true)
	if !s.lim.ok() || t.hopeless {
		return nil
	}
	t.findFuzzy(len(c.nodes))
	for i := range t.components {
		t.components[i].fuzzy = false // once everything is known, it is
	}
	if !s.lim.ok() {
		return nil
	}
	t.layout()
	if !t.reachOptimistic() {
		return nil
	}
	r := t.relevant()
	var out []model.Atom
	for v := range t.vars {
		if x := &t.vars[v]; !x.start.Known() && r.vars[v] {
			out = append(out, model.Atom{Fluent: x.f, Args: t.u.Args(x.f, x.index)})
		}
	}
	slices.SortFunc(out, func(a, b model.Atom) int {
		if a.Fluent != b.Fluent {
			return a.Fluent.ID() - b.Fluent.ID()
		}
		return slices.Compare(a.Args, b.Args)
	})
	return out
}

// reachOptimistic drops the operators that are out of reach whatever the
// unknown facts are, and tells whether the goal is not.
func (t *task) reachOptimistic() bool {
	r := t.relax()
	if r.never || !t.lim.ok() {
		return false
	}
	x := newExplorer(r, t.newMachine(), false, func(*operator) float64 { return 0 })
	x.optimistic = true
	x.m.load(t.init)
	x.run(true)
	t.dropUnreached(x)
	return x.goalCost() == 0
}

// openUnknown makes a variable of every ground fluent that is unknown at the
// start, which may have any value of its type.
func (g *grounder) openUnknown() {
	for _, f := range g.u.Fluents {
		if f.Derived != nil {
			continue
		}
		for args := range g.u.Instances(f.Params) {
			if !g.start.Get(model.Atom{Fluent: f, Args: args}).Known() {
				g.openAtom(f, g.u.Index(f, args))
			}
			if !g.lim.ok() {
				return
			}
		}
	}
}

func (g *grounder) openAtom(f *model.Fluent, i uint64) {
	v, _ := g.vars.add(f, i, g.start)
	g.lim.use(variableBytes)
	x := &g.vars.vars[v]
	x.canTrue, x.canFalse = true, true
	if f.Kind == model.KindObject {
		for _, o := range g.u.Objects(f.Type) {
			x.addVal(o)
		}
	}
}
