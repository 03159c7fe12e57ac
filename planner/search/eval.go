package search

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/fettleops/fettle/model"
)

// machine evaluates nodes over a packed state. Shared nodes keep their value
// until the next state is loaded.
type machine struct {
	t    *task
	s    []uint64
	gen  uint32
	memo []memo
	args []int32
	// unpriced is set once an operator's cost was unknown: it counted as one.
	unpriced bool
	scratch  *model.State // for what is left to the model
	delta    model.Delta
}

type memo struct {
	gen    uint32
	tri    model.Tri
	lo, hi float64
}

func (t *task) newMachine() *machine {
	return &machine{t: t, memo: make([]memo, t.memos), gen: 1}
}

// load makes s the state that nodes are evaluated over. It is read, not copied.
func (m *machine) load(s []uint64) {
	m.s = s
	if m.gen++; m.gen == 0 {
		clear(m.memo)
		m.gen = 1
	}
}

func (m *machine) get(v int32) uint64 { return m.t.vars[v].get(m.s) }

// eval evaluates a bool.
func (m *machine) eval(n *node) model.Tri {
	switch n.op {
	case model.OpConst:
		return n.tri
	case opLit:
		return m.lit(n)
	}
	if n.memo < 0 {
		return m.compute(n)
	}
	if c := &m.memo[n.memo]; c.gen == m.gen {
		return c.tri
	}
	t := m.compute(n)
	c := &m.memo[n.memo]
	c.gen, c.tri = m.gen, t
	return t
}

func (m *machine) lit(n *node) model.Tri {
	x := &m.t.vars[n.v]
	switch c := x.get(m.s); c {
	case n.code:
		return model.True
	case x.unknown:
		return model.Unknown
	}
	return model.False
}

func (m *machine) compute(n *node) model.Tri {
	switch n.op {
	case model.OpNot:
		return m.eval(n.args[0]).Not()
	case model.OpAnd:
		t := model.True
		for _, a := range n.args {
			if t = t.And(m.eval(a)); t == model.False {
				break
			}
		}
		return t
	case model.OpOr:
		t := model.False
		for _, a := range n.args {
			if t = t.Or(m.eval(a)); t == model.True {
				break
			}
		}
		return t
	case model.OpEq:
		return m.equal(n.args[0], n.args[1])
	case model.OpLt, model.OpLe:
		return m.compare(n)
	case model.OpIf:
		return m.ifBool(n)
	case model.OpOne:
		lo, hi := m.count(n)
		return decide(lo == 1 && hi == 1, lo > 1 || hi < 1)
	case model.OpIsA:
		return m.isA(n)
	case opTable:
		if e := m.entry(n); e != nil {
			return m.eval(e)
		}
		return model.Unknown
	}
	return m.textual(n)
}

func (m *machine) isA(n *node) model.Tri {
	o := m.object(n.args[0])
	switch {
	case o < 0 && n.own:
		return model.True
	case o < 0:
		return model.Unknown
	case m.t.u.Has(n.over, o):
		return model.True
	case n.open:
		return model.Unknown
	}
	return model.False
}

// entry returns the table's entry for the arguments in this state, nil where
// one of them is unknown.
func (m *machine) entry(n *node) *node {
	at := len(m.args)
	defer func() { m.args = m.args[:at] }()
	for _, a := range n.args {
		o := m.object(a)
		if o < 0 {
			return nil
		}
		m.args = append(m.args, o)
	}
	return n.table[m.t.u.Index(n.fluent, m.args[at:])]
}

func (m *machine) compare(n *node) model.Tri {
	alo, ahi := m.number(n.args[0])
	blo, bhi := m.number(n.args[1])
	if n.op == model.OpLt {
		return decide(ahi < blo, alo >= bhi)
	}
	return decide(ahi <= blo, alo > bhi)
}

func decide(yes, no bool) model.Tri {
	switch {
	case yes:
		return model.True
	case no:
		return model.False
	}
	return model.Unknown
}

func (m *machine) equal(a, b *node) model.Tri {
	switch a.kind {
	case model.KindNumber:
		alo, ahi := m.number(a)
		blo, bhi := m.number(b)
		return decide(alo == ahi && blo == bhi && alo == blo && !math.IsInf(alo, 0), ahi < blo || bhi < alo)
	case model.KindObject:
		x, y := m.object(a), m.object(b)
		if x < 0 || y < 0 {
			return model.Unknown
		}
		return model.Bool(x == y)
	case model.KindString:
		x, ok := m.text(a)
		y, ok2 := m.text(b)
		if !ok || !ok2 {
			return model.Unknown
		}
		return model.Bool(x == y)
	}
	x, y := m.eval(a), m.eval(b)
	if x == model.Unknown || y == model.Unknown {
		return model.Unknown
	}
	return model.Bool(x == y)
}

func (m *machine) ifBool(n *node) model.Tri {
	switch m.eval(n.args[0]) {
	case model.True:
		return m.eval(n.args[1])
	case model.False:
		return m.eval(n.args[2])
	}
	x, y := m.eval(n.args[1]), m.eval(n.args[2])
	if x != y {
		return model.Unknown
	}
	return x
}

func (m *machine) textual(n *node) model.Tri {
	x, ok := m.text(n.args[0])
	if !ok {
		return model.Unknown
	}
	if n.op == model.OpMatches {
		return model.Bool(n.pattern.MatchString(x))
	}
	y, ok := m.text(n.args[1])
	if !ok {
		return model.Unknown
	}
	switch n.op {
	case model.OpContains:
		return model.Bool(strings.Contains(x, y))
	case model.OpPrefix:
		return model.Bool(strings.HasPrefix(x, y))
	}
	return model.Bool(strings.HasSuffix(x, y))
}

// object evaluates an object, -1 for unknown.
func (m *machine) object(n *node) int32 {
	switch n.op {
	case model.OpConst:
		return n.obj
	case opVar:
		x := &m.t.vars[n.v]
		if c := x.get(m.s); c != x.unknown {
			return x.vals[c]
		}
		return -1
	case opTable:
		if e := m.entry(n); e != nil {
			return m.object(e)
		}
		return -1
	}
	c := m.eval(n.args[0]) // OpIf
	x, y := int32(-1), int32(-1)
	if c != model.False {
		x = m.object(n.args[1])
	}
	if c != model.True {
		y = m.object(n.args[2])
	}
	switch {
	case c == model.True || x == y:
		return x
	case c == model.False:
		return y
	}
	return -1
}

// text evaluates a string.
func (m *machine) text(n *node) (string, bool) {
	switch n.op {
	case model.OpConst:
		return n.str, n.known
	case opVar:
		c := m.get(n.v)
		return m.t.strings.names[c], c != 0
	case opTable:
		if e := m.entry(n); e != nil {
			return m.text(e)
		}
		return "", false
	}
	c := m.eval(n.args[0]) // OpIf
	if c == model.False {
		return m.text(n.args[2])
	}
	x, ok := m.text(n.args[1])
	if c == model.True || !ok {
		return x, ok
	}
	y, ok := m.text(n.args[2])
	return x, ok && x == y
}

func runes(s string) float64 { return float64(utf8.RuneCountInString(s)) }
