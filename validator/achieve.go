package validator

import (
	"slices"

	"github.com/fettleops/fettle/model"
)

const (
	maxAchievers = 8
	// The work of finding achievers, counted in evaluated expression nodes: so
	// much for a whole report, and at most so much for one fact.
	reportWork = 4e6
	leafWork   = 2.5e5
	// maxCures bounds the achievers that are tried as insertions.
	maxCures = 32
)

// achievers finds ground actions whose effect makes a fact as wanted, within
// bounded work whatever the number of objects.
type achievers struct {
	v     *validation
	w     weights
	left  float64 // work
	d     model.Delta
	cures []model.Ground // applicable ones, each once
	other []model.Ground // those that are not
}

func newAchievers(v *validation) *achievers {
	return &achievers{v: v, w: newWeights(v.U), left: reportWork}
}

// search is the search for the achievers of one leaf.
type search struct {
	*achievers
	f     *model.Failure
	l     model.Leaf
	left  float64
	now   []string // applicable in this state
	later []string // not
	seen  map[string]bool
}

// of returns the achievers of a leaf, the applicable ones first and how many
// these are, and whether the search was complete.
func (a *achievers) of(f *model.Failure, l model.Leaf) (names []string, applicable int, complete bool) {
	s := &search{achievers: a, f: f, l: l, left: min(leafWork, a.left), seen: map[string]bool{}}
	before := s.left
	complete = s.actions()
	a.left -= before - max(s.left, 0)
	names = append(append([]string{}, s.now...), s.later...)
	return names[:min(len(names), maxAchievers)], min(len(s.now), maxAchievers), complete
}

// actions tries every action that may be used; false where work or room ran out.
func (s *search) actions() bool {
	for _, act := range s.v.U.Actions {
		if s.v.allowed != nil && !s.v.allowed[act.ID()] {
			continue
		}
		for i := range act.Effects {
			e := &act.Effects[i]
			if e.Fluent != s.l.Atom.Fluent || !helps(e.Op, s.l.Want) {
				continue
			}
			if args, ok := s.unify(act, e); ok && !s.candidates(act, args, 0) {
				return false
			}
		}
	}
	return true
}

// helps tells whether an effect's operation may give a bool the wanted value;
// anything may for what is no bool.
func helps(op model.EffectOp, want model.Tri) bool {
	switch {
	case want == model.True && op == model.Del, want == model.False && op == model.Add:
		return false
	}
	return true
}

// unify returns the arguments that the action must have for the effect to
// write the leaf's atom, -1 where any will do.
func (s *search) unify(act *model.Action, e *model.Effect) ([]int32, bool) {
	slots := make([]int32, act.Slots+len(act.Params))
	for i := range slots {
		slots[i] = -1
	}
	for k, o := range s.l.Atom.Args {
		a := e.Args[k]
		if a.Op != model.OpSlot {
			if a.Const.Object() != o {
				return nil, false
			}
			continue
		}
		if slots[a.Slot] >= 0 && slots[a.Slot] != o {
			return nil, false
		}
		slots[a.Slot] = o
	}
	for _, b := range e.Forall {
		if slots[b.Slot] >= 0 && !s.v.U.Has(b.Type, slots[b.Slot]) {
			return nil, false
		}
	}
	args := slots[:len(act.Params)]
	for i, p := range act.Params {
		if args[i] >= 0 && !s.v.U.Has(p.Type, args[i]) {
			return nil, false
		}
	}
	return args, true
}

// candidates tries every completion of the arguments from parameter k on.
func (s *search) candidates(act *model.Action, args []int32, k int) bool {
	if k == len(args) {
		return s.try(model.Ground{Action: act, Args: args})
	}
	if args[k] >= 0 {
		return s.candidates(act, args, k+1)
	}
	for _, o := range s.v.U.Objects(act.Params[k].Type) {
		args[k] = o
		if !s.candidates(act, args, k+1) {
			return false
		}
	}
	args[k] = -1
	return true
}

// try adds the ground action where it does what is wanted; false where the
// search is to end.
func (s *search) try(g model.Ground) bool {
	if s.left <= 0 || len(s.now) == maxAchievers {
		return false
	}
	s.left -= s.w.action(g.Action) + s.w.expr(s.f.Expr)
	name := s.v.U.StepText(g)
	if s.seen[name] {
		return true
	}
	s.seen[name] = true
	if s.useless(g) {
		return true
	}
	applicable := g.Applicable(s.v.s, &s.d) == model.True
	if g.Effects(s.v.s, &s.d) != nil {
		return true
	}
	s.d.Commit(s.v.s)
	does := s.does()
	applicable = applicable && does && g.Worsened(s.v.s, &s.d) == nil
	s.d.Revert(s.v.s)
	switch {
	case applicable:
		s.now = append(s.now, name)
		s.cures = cure(s.cures, g)
	case does && len(s.later) < maxAchievers:
		s.later = append(s.later, name)
		s.other = cure(s.other, g)
	}
	return true
}

// useless tells whether the action cannot mend anything: it is the violating
// step itself, a conjunct of its precondition is false in every state, or asks
// for the very fact that is wanted.
func (s *search) useless(g model.Ground) bool {
	if own := s.v.r.Ground; own.Action == g.Action && slices.Equal(own.Args, g.Args) {
		return true
	}
	if g.Action.Precondition == nil {
		return false
	}
	env := make([]int32, max(g.Action.Precondition.Slots, len(g.Args)))
	copy(env, g.Args)
	return slices.ContainsFunc(g.Action.Precondition.Conjuncts, func(e *model.Expr) bool {
		return s.never(e, env) || s.asks(e, env)
	})
}

// never tells whether a condition is false by constants and equality alone.
func (s *search) never(e *model.Expr, env []int32) bool {
	never := func(a *model.Expr) bool { return s.never(a, env) }
	switch e.Op {
	case model.OpAnd:
		return slices.ContainsFunc(e.Args, never)
	case model.OpOr:
		return !slices.ContainsFunc(e.Args, func(a *model.Expr) bool { return !never(a) })
	}
	return s.w.fixed(e) && e.Eval(s.v.s, env) == model.False
}

// asks tells whether a condition is the fact that is wanted, as it is wanted.
func (s *search) asks(e *model.Expr, env []int32) bool {
	value := model.True
	if e.Op == model.OpNot {
		e, value = e.Args[0], model.False
	}
	if value != s.l.Want || e.Op != model.OpFluent || e.Fluent != s.l.Atom.Fluent {
		return false
	}
	for i, a := range e.Args {
		if x := a.Value(s.v.s, env); !x.Known() || x.Object() != s.l.Atom.Args[i] {
			return false
		}
	}
	return true
}

// does tells whether the leaf is as wanted on the present state: of a bool the
// value; else another one than it was, with which the conjunct holds.
func (s *search) does() bool {
	if s.l.Want != model.Unknown {
		return s.v.s.Get(s.l.Atom).Tri() == s.l.Want
	}
	if s.v.s.Get(s.l.Atom) == s.l.Value {
		return false
	}
	return s.f.Expr.Eval(s.v.s, append([]int32(nil), s.f.Env...)) == model.True
}

// cure adds an action that may be put in, once.
func cure(cures []model.Ground, g model.Ground) []model.Ground {
	if len(cures) == maxCures {
		return cures
	}
	for _, c := range cures {
		if c.Action == g.Action && slices.Equal(c.Args, g.Args) {
			return cures
		}
	}
	return append(cures, model.Ground{Action: g.Action, Args: append([]int32(nil), g.Args...)})
}
