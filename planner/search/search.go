package search

import (
	"context"
	"fmt"
	"time"

	"github.com/fettleops/fettle/model"
)

// Problem is what a plan is sought for: from Start to a state in which Goal
// holds, by the allowed actions. Start is not changed.
type Problem struct {
	U        *model.Universe
	Start    *model.State
	Goal     *model.Cond // nil holds always
	GoalArgs []int32
	Allowed  []*model.Action // nil: any
	Rules    []Rule          // that deny steps
	// MaxSteps bounds the plans that are looked for where rules look at the step's
	// number; 0: as the search sees fit.
	MaxSteps int
}

// Options bound a search; zero values are no bounds, but memory's is then
// [DefaultMaxMemory].
type Options struct {
	MaxNodes  int           // states looked at
	MaxMemory int64         // bytes, counted about
	Timeout   time.Duration // beside the context's deadline
	Optimal   bool          // find a plan of least cost
}

// Status is how a search ended.
type Status string

// The ways a search ends.
const (
	Solved       Status = "solved"
	Unsolvable   Status = "unsolvable"   // there is no plan, whatever is unknown
	Unobservable Status = "unobservable" // no plan is known to work, but facts that bear on the goal are unknown
	Exhausted    Status = "exhausted"    // a limit was reached
	Denied       Status = "denied"       // the rules leave no plan
)

// Result is what a search found.
type Result struct {
	Status Status
	Plan   []model.Ground // of a solved problem; empty where the goal holds already
	Cost   float64        // the sum of the steps' costs, an unknown one counted as 1
	// Optimal is set where no plan costs less.
	Optimal   bool
	Expanded  int // states whose successors were generated
	Evaluated int // states whose distance was estimated
	// Reason says in a few words what ended a search that is not solved, and
	// which limit kept a solved one from being proved optimal.
	Reason string
	// Unknown are the facts that bear on the goal of an unobservable problem.
	Unknown []model.Atom
	// Without is the plan that a denied problem would have without its rules, nil
	// where that is not known, and Denials what they deny of it, or else some of
	// what they denied on the way.
	Without []model.Ground
	Denials []Denial
}

// Search looks for a plan. The error is the context's where that was
// cancelled; a deadline that passed is a limit, as are those of the options.
func Search(ctx context.Context, p Problem, o Options) (Result, error) {
	if o.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.Timeout)
		defer cancel()
	}
	return search(ctx, p, o, effort{polish: polishWork, window: windowWork})
}

// effort bounds what is done for a plan once there is one, in rules looked at.
type effort struct{ polish, window int }

func search(ctx context.Context, p Problem, o Options, e effort) (Result, error) {
	lim := newLimiter(ctx, o)
	if res, done := strictBroken(p); done {
		return res, nil
	}
	s := &searcher{ctx: ctx, p: p, o: o, effort: e, lim: lim, gate: newGate(p)}
	res, err := s.run()
	if err == nil {
		err = lim.err
	}
	if err != nil {
		return Result{}, fmt.Errorf("search: %w", err)
	}
	return res, nil
}

// searcher runs the phases of one search.
type searcher struct {
	p Problem
	o Options
	effort
	ctx  context.Context // of this search alone
	lim  *limiter
	gate *gate
	t    *task
	m    *machine
	rel  *relaxation
	gen  *generator
	res  Result
}

func (s *searcher) run() (Result, error) {
	s.t = build(s.p, s.lim, s.gate)
	if !s.lim.ok() {
		return s.stopped(), nil
	}
	s.m = s.t.newMachine()
	s.rel = s.t.relax()
	if !s.lim.ok() {
		return s.stopped(), nil
	}
	if s.t.hopeless || s.rel.never {
		return s.none()
	}
	s.prune()
	if !s.lim.ok() {
		return s.stopped(), nil
	}
	plan, outcome := s.greedy(0)
	switch {
	case outcome == found:
	case s.lim.ok():
		return s.none()
	default:
		return s.stopped(), nil
	}
	return s.solved(s.polish(plan))
}

// prune drops the operators that cannot be reached even without deletes.
func (s *searcher) prune() {
	x := newExplorer(s.rel, s.m, false, func(*operator) float64 { return 0 })
	s.m.load(s.t.init)
	x.run(true)
	if !s.lim.ok() {
		return
	}
	if s.t.dropUnreached(x) {
		s.t.watch()
		s.lim.use(-s.rel.bytes())
		if s.rel = s.t.relax(); !s.lim.ok() {
			return
		}
	}
	s.gen = s.t.newGenerator()
}

// dropUnreached drops the operators of which no rule fired and tells whether
// there were any.
func (t *task) dropUnreached(x *explorer) bool {
	reached := make([]bool, len(t.ops))
	n := 0
	for i := range x.r.rules {
		if o := x.r.rules[i].op; o >= 0 && x.rules[i].need <= 0 && !reached[o] {
			reached[o] = true
			n++
		}
	}
	if n == len(t.ops) {
		return false
	}
	ops := make([]operator, 0, n)
	for i := range t.ops {
		if reached[i] {
			ops = append(ops, t.ops[i])
		}
	}
	t.ops = ops
	return true
}

// greedy searches for any plan; with deepest, for one of at most so many steps,
// with a state for another one at another depth.
func (s *searcher) greedy(deepest int) ([]int32, outcome) {
	g := newGreedy(s.t, s.m, s.lim, s.rel, s.gen, s.gate)
	if deepest > 0 {
		g.separate(deepest)
	}
	plan, ok := g.run()
	s.res.Evaluated += g.evaluated
	s.res.Expanded += g.expanded
	switch {
	case ok:
		return plan, found
	case s.lim.ok():
		return nil, exhausted
	}
	return nil, stopped
}

// polishWork bounds the second search where the least cost is not asked for, in
// rules looked at: it ends small problems with a proof, in some 0.1 s at most,
// and keeps out of large ones.
const polishWork = 10_000_000

// polish shortens a plan, and looks for one of least cost as far as is asked
// or cheap.
func (s *searcher) polish(plan []int32) []int32 {
	plan = s.t.eliminate(s.m, s.lim, s.gate, plan)
	cost, _, _ := s.t.follow(s.m, s.gate, plan, -1)
	work := 0
	if !s.o.Optimal {
		work = s.effort.polish
	}
	a := newAstar(s.t, s.m, s.lim, s.rel, s.gen, s.gate, cost, work)
	better, out := a.run()
	s.res.Evaluated += a.evaluated
	s.res.Expanded += a.expanded
	s.res.Optimal = out != stopped && !s.m.unpriced && (!s.gate.denied() || !s.gate.byStep)
	switch {
	case out == found && s.allowed(better):
		return better
	case s.res.Optimal || s.o.Optimal:
		return plan
	}
	return s.shorten(plan)
}

// allowed tells whether the rules let every step of a plan pass in its place. A*
// keeps the cheapest way to a state, which need not be the one by which it asked.
func (s *searcher) allowed(plan []int32) bool {
	if s.gate == nil || !s.gate.byStep {
		return true
	}
	_, kept, ok := s.t.follow(s.m, s.gate, plan, -1)
	return ok && len(kept) == len(plan)
}

func (s *searcher) solved(plan []int32) (Result, error) {
	if s.lim.err != nil {
		return Result{}, s.lim.err
	}
	s.res.Status = Solved
	s.res.Cost, _, _ = s.t.follow(s.m, s.gate, plan, -1)
	for _, o := range plan {
		s.res.Plan = append(s.res.Plan, s.t.ops[o].g)
	}
	if s.o.Optimal && !s.res.Optimal {
		s.res.Reason = s.lim.reason
		if s.m.unpriced {
			s.res.Reason = "a cost is unknown"
		}
	}
	return s.res, verify(s.p, s.res.Plan)
}

func (s *searcher) stopped() Result {
	s.res.Status, s.res.Reason = Exhausted, s.lim.reason
	return s.res
}
