package graph

import "github.com/fettleops/fettle/model"

// term is an argument: an object, or a variable that stands for one of a type.
type term struct {
	object int32
	typ    *model.Type
	v      *variable // nil for an object
}

// variable is a parameter, or what a quantifier binds.
type variable struct {
	typ   *model.Type
	param bool
}

func fresh(t *model.Type) term { return term{typ: t, v: &variable{typ: t}} }

func paramTerms(params []model.Param) []term {
	out := make([]term, len(params))
	for i, p := range params {
		out[i] = term{typ: p.Type, v: &variable{typ: p.Type, param: true}}
	}
	return out
}

// environment returns slots of which the first hold these terms.
func environment(slots int, first []term) []term {
	env := make([]term, max(slots, len(first)))
	copy(env, first)
	return env
}

// termOf returns the term of an argument. One that depends on the state may be
// any object of its type.
func termOf(e *model.Expr, env []term) term {
	switch e.Op {
	case model.OpSlot:
		return env[e.Slot]
	case model.OpObject:
		return term{object: e.Const.Object(), typ: e.Type}
	}
	return fresh(e.Type)
}

// operand is one side of a comparison, or a value that an effect sets: an
// object, a constant, or what only a state can tell.
type operand struct {
	term  term
	isObj bool
	value model.Value
}

func newOperand(e *model.Expr, env []term) operand {
	switch e.Op {
	case model.OpSlot, model.OpObject:
		return operand{term: termOf(e, env), isObj: true}
	case model.OpConst:
		return operand{value: e.Const}
	}
	return operand{}
}
