package graph

import (
	"fmt"
	"strings"

	"github.com/fettleops/fettle/model"
)

// change is a set of directions: a bool becoming true or a number growing is
// up, the contrary is down.
type change uint8

const (
	up   change = 1
	down change = 2
	both        = up | down
)

func (c change) flip() change { return c>>1 | c<<1&both }

// reading is one occurrence of a base fluent in a precondition, derived fluents
// expanded.
type reading struct {
	fluent *model.Fluent
	args   []term
	params []term // of the action that reads
	label  string // the fluent that the precondition names, !fluent where it should be false
	mono   change // which change of what is read, or of its test, can make the conjunct true
	test   *test  // the comparison that it is an operand of; nil for a bool that stands alone
}

// test compares a fluent with something else.
type test struct {
	op     model.Op
	grows  change // which change of a number can make the comparison true
	others []operand
}

// readings lists what the precondition of an action reads, in the order written.
func readings(known amounts, a *model.Action) []reading {
	if a.Precondition == nil {
		return nil
	}
	r := &readingList{amounts: known, params: paramTerms(a.Params), seen: map[string]bool{}}
	r.conjuncts(a)
	return r.list
}

type readingList struct {
	amounts amounts
	flat    bool // derived fluents are not expanded
	params  []term
	label   string // of the derived fluent that is being expanded
	list    []reading
	seen    map[string]bool // derived fluents expanded, by what they read
}

func (r *readingList) conjuncts(a *model.Action) {
	env := environment(max(a.Slots, a.Precondition.Slots), r.params)
	for _, e := range a.Precondition.Conjuncts {
		r.expr(e, env, up)
	}
}

// expr gathers what is read by an expression of which a change in the
// directions of mono helps. Environment slots that quantifiers bind are set anew.
func (r *readingList) expr(e *model.Expr, env []term, mono change) {
	switch e.Op {
	case model.OpFluent:
		r.fluent(e, env, mono, nil)
	case model.OpNot, model.OpNeg:
		r.expr(e.Args[0], env, mono.flip())
	case model.OpAnd, model.OpOr, model.OpAdd:
		r.each(e.Args, env, mono)
	case model.OpSub:
		r.expr(e.Args[0], env, mono)
		r.expr(e.Args[1], env, mono.flip())
	case model.OpAll, model.OpAny, model.OpCount, model.OpSum, model.OpMin, model.OpMax:
		env[e.Slot] = fresh(e.Over)
		r.expr(e.Args[0], env, mono)
	case model.OpOne:
		env[e.Slot] = fresh(e.Over)
		r.expr(e.Args[0], env, both)
	case model.OpMul, model.OpDiv:
		r.product(e, env, mono)
	case model.OpAbs:
		r.expr(e.Args[0], env, r.along(mono, e.Args[0]))
	case model.OpIf:
		r.expr(e.Args[0], env, r.chosen(e, mono))
		r.each(e.Args[1:], env, mono)
	case model.OpEq, model.OpNe, model.OpLt, model.OpLe, model.OpGt, model.OpGe, model.OpIn:
		r.comparison(e, env, mono)
	default:
		r.each(e.Args, env, both)
	}
}

func (r *readingList) each(es []*model.Expr, env []term, mono change) {
	for _, e := range es {
		r.expr(e, env, mono)
	}
}

// comparison gathers the operands of a comparison: a fluent that is one of them
// keeps the others, so that a value set can be held against them.
func (r *readingList) comparison(e *model.Expr, env []term, mono change) {
	for i, a := range e.Args {
		grows := operandGrows(e.Op, i)
		if a.Op != model.OpFluent || e.Op == model.OpIn && i > 0 {
			r.expr(a, env, turn(mono, grows))
			continue
		}
		t := &test{op: e.Op, grows: grows}
		for k, other := range e.Args {
			if k != i {
				t.others = append(t.others, newOperand(other, env))
			}
		}
		if i == 1 { // the test is read from its left
			t.op = mirrored(e.Op)
		}
		r.fluent(a, env, mono, t)
	}
}

// operandGrows tells which change of operand i makes the comparison true.
func operandGrows(op model.Op, i int) change {
	c := both
	switch op {
	case model.OpGt, model.OpGe:
		c = up
	case model.OpLt, model.OpLe:
		c = down
	}
	if i == 1 {
		c = c.flip()
	}
	return c
}

// turn gives the direction of an operand whose growth turns the comparison in
// the direction of grows.
func turn(mono, grows change) change {
	switch grows {
	case up:
		return mono
	case down:
		return mono.flip()
	}
	return both
}

func mirrored(op model.Op) model.Op {
	switch op {
	case model.OpLt:
		return model.OpGt
	case model.OpLe:
		return model.OpGe
	case model.OpGt:
		return model.OpLt
	case model.OpGe:
		return model.OpLe
	}
	return op
}

func (r *readingList) fluent(e *model.Expr, env []term, mono change, t *test) {
	args := make([]term, len(e.Args))
	for i, a := range e.Args {
		if args[i] = termOf(a, env); a.Op != model.OpSlot && a.Op != model.OpObject {
			r.expr(a, env, both)
		}
	}
	label := r.label
	if label == "" {
		label = named(e.Fluent, mono, t)
	}
	if e.Fluent.Derived != nil && !r.flat {
		if t != nil {
			mono = turn(mono, t.grows)
		}
		r.derived(e.Fluent, args, mono, label)
		return
	}
	r.list = append(r.list, reading{fluent: e.Fluent, args: args, params: r.params, label: label, mono: mono, test: t})
}

// named is the fluent as the precondition wants it: with ! where it should be false.
func named(f *model.Fluent, mono change, t *test) string {
	if mono == down && t == nil && f.Kind == model.KindBool {
		return "!" + f.Name
	}
	return f.Name
}

// derived expands a derived fluent under the name that the precondition gives
// it. Once is enough for what reads the same: a definition may name another many
// times, and that one a third.
func (r *readingList) derived(f *model.Fluent, args []term, mono change, label string) {
	key := fmt.Sprintf("%s %s %d%s", label, f.Name, mono, pattern(args))
	if r.seen[key] {
		return
	}
	r.seen[key] = true
	outer := r.label
	r.label = label
	r.expr(f.Derived, environment(f.Slots, args), mono)
	r.label = outer
}

// pattern writes the shape of arguments: which are the same, and what they can be.
func pattern(args []term) string {
	var b strings.Builder
	number := map[*variable]int{}
	for _, t := range args {
		switch {
		case t.v == nil:
			fmt.Fprintf(&b, " =%d", t.object)
		case t.v.param:
			fmt.Fprintf(&b, " %p", t.v)
		default:
			if _, ok := number[t.v]; !ok {
				number[t.v] = len(number)
			}
			fmt.Fprintf(&b, " %d:%p", number[t.v], t.v.typ)
		}
	}
	return b.String()
}
