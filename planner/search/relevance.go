package search

// relevance finds by going backwards from the goal what bears on it: the
// variables that it reads; the operators that write one of them; what those
// read in preconditions, conditions and values of effects on such variables,
// and costs; and the components of invariants that may forbid them.
type relevance struct {
	t          *task
	vars       []bool
	ops        []bool
	components []bool
	writers    [][]int32 // by variable
	touchers   [][]int32 // by variable: components
	queue      []int32
	seen       map[*node]bool
}

func (t *task) relevant() *relevance {
	r := &relevance{
		t: t, vars: make([]bool, len(t.vars)), ops: make([]bool, len(t.ops)), components: make([]bool, len(t.components)),
		writers: make([][]int32, len(t.vars)), touchers: make([][]int32, len(t.vars)), seen: map[*node]bool{},
	}
	for i := range t.ops {
		t.ops[i].written(func(v int32) { r.writers[v] = append(r.writers[v], int32(i)) })
	}
	for i := range t.components {
		for _, v := range t.components[i].watched() {
			r.touchers[v] = append(r.touchers[v], int32(i))
		}
	}
	for _, n := range t.goal {
		r.node(n)
	}
	for len(r.queue) > 0 && t.lim.ok() {
		v := r.queue[len(r.queue)-1]
		r.queue = r.queue[:len(r.queue)-1]
		for _, o := range r.writers[v] {
			r.operator(&t.ops[o], o)
			r.parts(&t.ops[o], v)
		}
	}
	return r
}

// written calls visit for every variable that the operator writes.
func (op *operator) written(visit func(int32)) {
	for _, l := range op.set {
		visit(l.v)
	}
	for i := range op.updates {
		visit(op.updates[i].v)
	}
}

func (r *relevance) variable(v int32) {
	if !r.vars[v] {
		r.vars[v] = true
		r.queue = append(r.queue, v)
	}
}

func (r *relevance) node(n *node) { n.vars(r.seen, r.variable) }

// parts takes in what the operator's effects on a variable read.
func (r *relevance) parts(op *operator, v int32) {
	for i := range op.updates {
		if u := &op.updates[i]; u.v == v {
			for _, p := range u.parts {
				r.node(p.when)
				r.node(p.value)
			}
		}
	}
}

func (r *relevance) operator(op *operator, i int32) {
	if r.ops[i] {
		return
	}
	r.ops[i] = true
	for _, l := range op.pre {
		r.variable(l.v)
	}
	for _, n := range op.rest {
		r.node(n)
	}
	r.node(op.price)
	for k := range op.updates {
		if u := &op.updates[k]; u.mayConflict() {
			r.variable(u.v)
		}
	}
	op.written(func(v int32) {
		for _, c := range r.touchers[v] {
			r.component(c)
		}
	})
}

func (r *relevance) component(c int32) {
	if r.components[c] {
		return
	}
	r.components[c] = true
	cp := &r.t.components[c]
	for _, v := range cp.watched() {
		r.variable(v)
	}
}

// mayConflict tells whether the effects on the variable may contradict, which
// makes the step mean nothing.
func (u *update) mayConflict() bool {
	for _, p := range u.parts {
		if p.op > 1 && len(u.parts) > 1 {
			return true
		}
	}
	return false
}

// prune drops the operators, effects and components that do not bear on the
// goal. Their variables get no place in states.
func (t *task) prune() {
	r := t.relevant()
	ops := t.ops[:0]
	for i := range t.ops {
		if !r.ops[i] {
			continue
		}
		op := t.ops[i]
		set, updates := op.set[:0], op.updates[:0]
		for _, l := range op.set {
			if r.vars[l.v] {
				set = append(set, l)
			}
		}
		for _, u := range op.updates {
			if r.vars[u.v] {
				updates = append(updates, u)
			}
		}
		op.set, op.updates = set, updates
		ops = append(ops, op)
	}
	t.ops = ops
	components := t.components[:0]
	for i := range t.components {
		if r.components[i] {
			components = append(components, t.components[i])
		}
	}
	t.components = components
	for v := range t.vars {
		t.vars[v].word = -1
		if r.vars[v] {
			t.vars[v].word = 0 // placed by layout
		}
	}
}
