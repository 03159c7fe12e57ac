package search

import (
	"regexp"

	"github.com/fettleops/fettle/model"
)

// Operations that a grounded expression has beside those of [model.Op].
const (
	opLit   model.Op = 200 + iota // the variable v has the value code; bool
	opVar                         // the value of variable v; number, object or string
	opTable                       // fluent at arguments that depend on the state
)

// node is a grounded expression: every object is in its place, quantifiers are
// expanded, what no operator changes is folded to a constant. It has the same
// value as the [model.Expr] it comes from in every state that is reached.
// Nodes are shared and immutable.
type node struct {
	op   model.Op
	kind model.Kind
	id   int32
	memo int32 // where a machine keeps its value, -1 for nowhere
	args []*node

	v    int32  // of opLit and opVar
	code uint64 // of opLit

	tri    model.Tri // a constant bool
	lo, hi float64   // a constant number; what the constants of a count add
	obj    int32     // a constant object, -1 for unknown
	str    string    // a constant string
	known  bool      // whether it is known

	open    bool // a quantifier over a type with objects that are not known
	over    *model.Type
	own     bool // of OpIsA: the operand is of the type by its own
	pattern *regexp.Regexp
	fluent  *model.Fluent
	table   map[uint64]*node
	keys    []uint64 // of the table, in order
}

func (n *node) isConst() bool { return n.op == model.OpConst }

// vars calls visit for every variable below the node, once.
func (n *node) vars(seen map[*node]bool, visit func(int32)) {
	if n == nil || n.isConst() || seen[n] {
		return
	}
	seen[n] = true
	if n.op == opLit || n.op == opVar {
		visit(n.v)
		return
	}
	for _, a := range n.args {
		a.vars(seen, visit)
	}
	if n.op == opTable {
		for _, key := range n.keys {
			n.table[key].vars(seen, visit)
		}
	}
}
