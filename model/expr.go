package model

import "regexp"

// Op is the operation of an [Expr].
type Op uint8

// The operations. The comment gives operands and result.
const (
	OpConst    Op = iota // Const: a bool, number or string
	OpObject             // Const: an object of Type
	OpSlot               // the object in environment slot Slot, of Type
	OpFluent             // Fluent(Args...), arguments of kind object
	OpNot                // bool
	OpAnd                // any number of bools
	OpOr                 // any number of bools
	OpEq                 // two operands of one kind; bool
	OpNe                 // likewise
	OpLt                 // two numbers; bool
	OpLe                 // likewise
	OpGt                 // likewise
	OpGe                 // likewise
	OpAdd                // two numbers
	OpSub                // two numbers
	OpMul                // two numbers
	OpDiv                // two numbers; unknown where the divisor may be zero
	OpNeg                // number
	OpAbs                // number
	OpLen                // string; its length in characters
	OpIf                 // bool, then two operands of one kind
	OpIn                 // an operand, then the list it is looked for in; bool
	OpIsA                // an object, Over; bool
	OpContains           // two strings; bool
	OpPrefix             // two strings; bool
	OpSuffix             // two strings; bool
	OpMatches            // string, Pattern; bool
	OpAll                // for each object of Over in Slot, Args[0]; bool
	OpAny                // likewise
	OpOne                // exactly one; bool
	OpCount              // number of objects for which Args[0] is true
	OpSum                // sum of the number Args[0] over the objects of Over
	OpMin                // least Args[0]; unknown over no object
	OpMax                // greatest Args[0]; unknown over no object
)

// Expr is the one compiled form of conditions and numeric expressions: the
// validator evaluates it lifted, over slots; the search grounds it. It is
// immutable once built, may be shared, and may be a directed acyclic graph.
// Objects move through an environment of slots, a []int32 of object indices.
type Expr struct {
	Op     Op
	Kind   Kind
	Type   *Type // of an object-valued expression
	Args   []*Expr
	Const  Value
	Fluent *Fluent
	Slot   int    // of OpSlot; the slot that a quantifier binds
	Over   *Type  // of quantifiers and OpIsA
	Name   string // of OpSlot and quantifiers: the name to show
	// Pattern is the compiled pattern of OpMatches, whose text is Const.
	Pattern *regexp.Regexp

	agg   *aggregate // of a quantifier that a state can track; set by [Model.Link]
	chain *chain     // of a quantifier whose body is another of its kind; likewise
}

// Constant expressions.
var (
	TrueExpr  = &Expr{Op: OpConst, Kind: KindBool, Const: BoolValue(true)}
	FalseExpr = &Expr{Op: OpConst, Kind: KindBool, Const: BoolValue(false)}
)

// And returns the conjunction of the expressions, flattened.
func And(es ...*Expr) *Expr { return nary(OpAnd, es) }

// Or returns the disjunction of the expressions, flattened.
func Or(es ...*Expr) *Expr { return nary(OpOr, es) }

func nary(op Op, es []*Expr) *Expr {
	var flat []*Expr
	for _, e := range es {
		if e.Op == op {
			flat = append(flat, e.Args...)
		} else {
			flat = append(flat, e)
		}
	}
	if len(flat) == 1 {
		return flat[0]
	}
	return &Expr{Op: op, Kind: KindBool, Args: flat}
}

var negated = map[Op]Op{
	OpEq: OpNe, OpNe: OpEq, OpLt: OpGe, OpGe: OpLt, OpGt: OpLe, OpLe: OpGt,
	OpAnd: OpOr, OpOr: OpAnd, OpAll: OpAny, OpAny: OpAll,
}

// NNF returns the expression in negation normal form: negation stands only
// before atoms and operators that have no dual. It has the same value in every
// state, unknown ones included.
func (e *Expr) NNF() *Expr { return e.nnf(false) }

func (e *Expr) nnf(neg bool) *Expr {
	switch e.Op {
	case OpNot:
		return e.Args[0].nnf(!neg)
	case OpAnd, OpOr:
		args := make([]*Expr, len(e.Args))
		for i, a := range e.Args {
			args[i] = a.nnf(neg)
		}
		op := e.Op
		if neg {
			op = negated[op]
		}
		return nary(op, args)
	case OpAll, OpAny:
		c := *e
		c.Args = []*Expr{e.Args[0].nnf(neg)}
		if neg {
			c.Op = negated[e.Op]
		}
		return &c
	case OpIf:
		if e.Kind != KindBool {
			return e
		}
		return &Expr{Op: OpIf, Kind: KindBool, Args: []*Expr{e.Args[0], e.Args[1].nnf(neg), e.Args[2].nnf(neg)}}
	}
	if !neg {
		return e
	}
	switch e.Op {
	case OpConst:
		return &Expr{Op: OpConst, Kind: KindBool, Const: TriValue(e.Const.Tri().Not())}
	case OpEq, OpNe, OpLt, OpLe, OpGt, OpGe:
		c := *e
		c.Op = negated[e.Op]
		return &c
	}
	return &Expr{Op: OpNot, Kind: KindBool, Args: []*Expr{e}}
}

// Walk calls visit for the expression and everything below it, derived
// definitions not included. It stops descending where visit returns false.
func (e *Expr) Walk(visit func(*Expr) bool) {
	if e == nil || !visit(e) {
		return
	}
	for _, a := range e.Args {
		a.Walk(visit)
	}
}

// BaseFluents adds to set the base fluents that the expression reads, derived
// ones expanded.
func (e *Expr) BaseFluents(set map[*Fluent]bool) {
	e.Walk(func(e *Expr) bool {
		if e.Op != OpFluent {
			return true
		}
		if e.Fluent.Derived != nil {
			e.Fluent.Derived.BaseFluents(set)
		} else {
			set[e.Fluent] = true
		}
		return true
	})
}
