package search

import "github.com/fettleops/fettle/model"

// task is the grounded, compiled problem.
type task struct {
	lim     *limiter
	u       *model.Universe
	start   *model.State
	vars    []variable
	table   *varTable
	strings intern
	memos   int32 // values that a machine keeps while the state does not change
	words   int   // of a state
	ops     []operator
	goal    []*node // conjuncts that some operator may change
	// hopeless is set where a conjunct of the goal cannot become true.
	hopeless   bool
	components []component
	init       []uint64
}

// find returns the variable of a ground fluent, -1 where nothing changes it.
func (t *task) find(f *model.Fluent, i uint64) int32 { return t.table.find(f, i) }

// operator is a compiled ground action.
type operator struct {
	g       model.Ground
	pre     []lit   // conjuncts that are one value of one variable
	rest    []*node // the other conjuncts
	set     []lit   // unconditional constants
	updates []update
	cost    float64
	price   *node   // where the cost depends on the state; cost is then a lower bound
	checks  []int32 // components of invariants that it may make worse
}

// lit is a variable's value: a condition or an assignment.
type lit struct {
	v    int32
	code uint64
}

// update is everything that an operator's effects say of one variable.
type update struct {
	v     int32
	parts []part
}

// part is one effect on a variable; a nil when holds always.
type part struct {
	op    model.EffectOp
	when  *node
	value *node
}

// build grounds and compiles the problem. What was done is of no use where the
// limiter stopped it.
func build(p Problem, lim *limiter, gt *gate) *task {
	t, c := compileProblem(p, lim, false)
	if !lim.ok() {
		return t
	}
	if gt.fixed() {
		gt.drop(t)
	}
	t.findFuzzy(len(c.nodes))
	if !lim.ok() {
		return t
	}
	if gt == nil || gt.fixed() {
		t.prune()
	} // Otherwise anything may bear on what the rules answer.
	t.layout()
	gt.over(t)
	return t
}

// compileProblem grounds and compiles; every variable still is as grounding
// left it.
func compileProblem(p Problem, lim *limiter, optimistic bool) (*task, *compiler) {
	g := newGrounder(p, lim, optimistic)
	g.run()
	t := &task{lim: lim, u: p.U, start: p.Start, strings: newIntern(), table: g.vars}
	c := newCompiler(t, lim)
	c.optimistic = optimistic
	if optimistic {
		g.openUnknown()
	}
	t.vars = g.vars.vars
	t.setUnknown()
	for _, gr := range g.ground {
		if !lim.ok() {
			break
		}
		c.ground(gr)
	}
	c.goal(p)
	c.components(p)
	return t, c
}

// setUnknown gives every variable the code of its unknown value.
func (t *task) setUnknown() {
	for i := range t.vars {
		x := &t.vars[i]
		switch x.f.Kind {
		case model.KindBool:
			x.unknown = codeUnknown
		case model.KindObject:
			x.unknown = uint64(len(x.vals))
		case model.KindNumber:
			x.unknown = nan
		default:
			x.unknown = 0
		}
	}
}

// goal compiles the goal.
func (c *compiler) goal(p Problem) {
	if p.Goal == nil {
		return
	}
	env := make([]int32, max(p.Goal.Slots, len(p.GoalArgs)))
	copy(env, p.GoalArgs)
	for _, e := range p.Goal.Conjuncts {
		n := c.expr(e, env)
		if n.isConst() {
			c.t.hopeless = c.t.hopeless || n.tri != model.True
			continue
		}
		c.t.goal = append(c.t.goal, flatten(n)...)
	}
}

// flatten returns the conjuncts of a conjunction.
func flatten(n *node) []*node {
	if n.op != model.OpAnd {
		return []*node{n}
	}
	var out []*node
	for _, a := range n.args {
		out = append(out, flatten(a)...)
	}
	return out
}
