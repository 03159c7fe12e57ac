package search

import (
	"math"

	"github.com/fettleops/fettle/model"
)

// linear is Σ coef·var + c. Where it stands for a comparison, that holds where
// the sum is not negative, or with strict is positive.
type linear struct {
	vars   []int32
	coefs  []float64
	c      float64
	strict bool
}

// touch is an effect that may change an opaque condition.
type touch struct {
	op  int32
	pre []int32
	v   int32
	p   part
}

// comparison returns the fact of a < b or a <= b: a counting rule where a
// count meets a constant, opaque otherwise.
func (r *relaxation) comparison(n *node, neg bool) int32 {
	a, b, strict := n.args[0], n.args[1], n.op == model.OpLt
	if neg {
		a, b, strict = b, a, !strict
	}
	switch {
	case a.op == model.OpCount && b.isConst() && b.lo == b.hi:
		k := math.Floor(b.lo)
		if strict {
			k = math.Ceil(b.lo) - 1
		}
		return r.counted(a, true, clampInt(k))
	case b.op == model.OpCount && a.isConst() && a.lo == a.hi:
		k := math.Ceil(a.lo)
		if strict {
			k = math.Floor(a.lo) + 1
		}
		return r.counted(b, false, clampInt(k))
	}
	f := r.opaque(n, neg)
	lin := &linear{strict: strict}
	if lin.add(b, 1) && lin.add(a, -1) {
		r.opaques[len(r.opaques)-1].lin = lin
	}
	return f
}

func clampInt(f float64) int { return int(max(-1<<30, min(1<<30, f))) }

// numbersEqual takes equality for two bounds, inequality for one of two strict ones.
func (r *relaxation) numbersEqual(n *node, neg bool) int32 {
	op := model.OpLe
	if neg {
		op = model.OpLt
	}
	bound := func(a, b *node) int32 {
		return r.fact(&node{op: op, kind: model.KindBool, memo: -1, args: []*node{a, b}}, false)
	}
	fs := []int32{bound(n.args[0], n.args[1]), bound(n.args[1], n.args[0])}
	if neg {
		return r.disjunction(fs)
	}
	return r.conjunction(fs)
}

// add adds factor times the node; false where it is not linear.
func (l *linear) add(n *node, factor float64) bool {
	switch n.op {
	case model.OpConst:
		l.c += factor * n.lo
		return n.lo == n.hi
	case opVar:
		for i, v := range l.vars {
			if v == n.v {
				l.coefs[i] += factor
				return true
			}
		}
		l.vars, l.coefs = append(l.vars, n.v), append(l.coefs, factor)
		return true
	case model.OpNeg:
		return l.add(n.args[0], -factor)
	case model.OpAdd:
		return l.add(n.args[0], factor) && l.add(n.args[1], factor)
	case model.OpSub:
		return l.add(n.args[0], factor) && l.add(n.args[1], -factor)
	case model.OpMul, model.OpDiv:
		return l.scale(n, factor)
	case model.OpSum:
		for _, a := range n.args {
			if !l.add(a, factor) {
				return false
			}
		}
		return !n.open
	}
	return false
}

func (l *linear) scale(n *node, factor float64) bool {
	a, b := n.args[0], n.args[1]
	if n.op == model.OpMul && a.isConst() {
		a, b = b, a
	}
	if !b.isConst() || b.lo != b.hi {
		return false
	}
	if n.op == model.OpMul {
		return l.add(a, factor*b.lo)
	}
	return b.lo != 0 && l.add(a, factor/b.lo)
}

func (l *linear) coef(v int32) float64 {
	for i, x := range l.vars {
		if x == v {
			return l.coefs[i]
		}
	}
	return 0
}

// opaque returns the fact of a condition that is evaluated in the state.
func (r *relaxation) opaque(n *node, neg bool) int32 {
	f := r.newFact()
	i := int32(len(r.opaques))
	r.opaques = append(r.opaques, opaque{fact: f, n: n, neg: neg})
	n.vars(map[*node]bool{}, func(v int32) {
		if rs := r.readers[v]; len(rs) == 0 || rs[len(rs)-1] != i {
			r.readers[v] = append(rs, i)
		}
	})
	return f
}

// connect makes a rule for every effect that may make an opaque condition true.
func (r *relaxation) connect() {
	for _, t := range r.touches {
		for _, i := range r.readers[t.v] {
			gain, helps := r.opaques[i].helped(t)
			if !helps {
				continue
			}
			if gain > 0 {
				r.opaques[i].by = append(r.opaques[i].by, int32(len(r.rules)))
			}
			r.rules = append(r.rules, rule{op: t.op, pre: t.pre, need: int32(len(t.pre)), add: []int32{r.opaques[i].fact}, gain: gain})
		}
	}
	r.touches = nil
}

// helped tells whether an effect may make the condition true, and by how much
// it brings it nearer where that is known. The last step that makes a linear
// comparison true raises its sum, or sets what it is a function of.
func (o *opaque) helped(t touch) (gain float64, helps bool) {
	if o.lin == nil {
		return 0, true
	}
	coef := o.lin.coef(t.v)
	known := t.p.value != nil && t.p.value.isConst() && t.p.value.lo == t.p.value.hi
	switch {
	case !known:
		return 0, true
	case t.p.op == model.Set:
		return 0, len(o.lin.vars) > 1 || o.lin.holds(coef*t.p.value.lo+o.lin.c)
	case t.p.op == model.Decrease:
		gain = -coef * t.p.value.lo
	default:
		gain = coef * t.p.value.lo
	}
	return gain, gain > 0
}

// slack is the tolerance for rounding: the sum is computed otherwise than the
// comparison that it stands for.
const slack = 1e-6

func (l *linear) holds(sum float64) bool { return sum >= -slack*max(1, math.Abs(l.c)) }

// times returns how often a step of this gain closes the gap in the state loaded.
func (l *linear) times(m *machine, gain float64) float64 {
	sum := l.c
	for i, v := range l.vars {
		sum += l.coefs[i] * number(m.get(v))
	}
	n := math.Ceil(-sum / gain)
	if l.strict && n*gain+sum <= 0 {
		n++
	}
	if !(n > 1) {
		return 1
	}
	return min(n, 1e6)
}
