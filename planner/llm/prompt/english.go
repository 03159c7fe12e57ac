package prompt

import (
	"fmt"
	"strings"

	"github.com/fettleops/fettle/model"
)

// english writes conditions of the model in plain words. Parameters keep their
// names, quantified objects are called x, y, z. Names of objects and texts that
// the model itself writes are its author's.
type english struct {
	u     *model.Universe
	names map[int]string // of slots that quantifiers bind
	taken map[string]bool
	left  int // nodes that may still be written
}

// maxNodes bounds one condition: an expression may share parts, and written out
// be longer than its source by far.
const maxNodes = 2000

func newEnglish(u *model.Universe, params []model.Param) *english {
	w := &english{u: u, names: map[int]string{}, taken: map[string]bool{}, left: maxNodes}
	for _, p := range params {
		w.taken[p.Name] = true
	}
	return w
}

// bind gives a quantified slot a name that is free.
func (w *english) bind(slot int) (name string, release func()) {
	name = "x"
	for i := 0; w.taken[name]; i++ {
		if i < 2 {
			name = string("yz"[i])
		} else {
			name = fmt.Sprintf("x%d", i)
		}
	}
	before, bound := w.names[slot]
	w.names[slot], w.taken[name] = name, true
	return name, func() {
		delete(w.taken, name)
		if delete(w.names, slot); bound {
			w.names[slot] = before
		}
	}
}

var comparisons = map[model.Op]string{
	model.OpEq: " is ", model.OpNe: " is not ", model.OpLt: " is below ", model.OpLe: " is at most ",
	model.OpGt: " is above ", model.OpGe: " is at least ",
	model.OpContains: " contains ", model.OpPrefix: " begins with ", model.OpSuffix: " ends with ",
}

// condition writes a bool expression as a clause: "in_lb(s) is true".
func (w *english) condition(e *model.Expr) string {
	if w.left--; w.left < 0 {
		return "…"
	}
	if verb := comparisons[e.Op]; verb != "" {
		return w.term(e.Args[0]) + verb + w.term(e.Args[1])
	}
	switch e.Op {
	case model.OpConst:
		return "it is " + e.Text(w.u, nil)
	case model.OpNot:
		return w.negation(e.Args[0])
	case model.OpAnd:
		return w.conjunction(e.Args)
	case model.OpOr:
		return w.joined(e.Args, " or ")
	case model.OpIf:
		return fmt.Sprintf("if %s then %s, and otherwise %s", w.part(e.Args[0]), w.part(e.Args[1]), w.part(e.Args[2]))
	case model.OpIn:
		return w.term(e.Args[0]) + " is one of " + w.terms(e.Args[1:])
	case model.OpIsA:
		return w.term(e.Args[0]) + " is of type " + typeName(e.Over)
	case model.OpMatches:
		return w.term(e.Args[0]) + " matches the regular expression " + quote(e.Pattern.String())
	case model.OpAll:
		return w.quantified(e, "for every %s %s, ")
	case model.OpAny:
		return w.quantified(e, "there is a %s %s for which ")
	case model.OpOne:
		return w.quantified(e, "there is exactly one %s %s for which ")
	}
	return w.term(e) + " is true"
}

// negation writes that a bool expression is false.
func (w *english) negation(e *model.Expr) string {
	switch e.Op {
	case model.OpFluent:
		return w.term(e) + " is false"
	case model.OpIn:
		return w.term(e.Args[0]) + " is none of " + w.terms(e.Args[1:])
	case model.OpIsA:
		return w.term(e.Args[0]) + " is not of type " + typeName(e.Over)
	}
	if n := (&model.Expr{Op: model.OpNot, Kind: model.KindBool, Args: []*model.Expr{e}}).NNF(); n.Op != model.OpNot {
		return w.condition(n)
	}
	return "it is not so that " + w.part(e)
}

// conjunction writes facts that are all true in a few words.
func (w *english) conjunction(es []*model.Expr) string {
	var names []string
	for _, e := range es {
		if e.Op != model.OpFluent {
			return w.joined(es, " and ")
		}
		names = append(names, w.term(e))
	}
	all := " are all true"
	if len(names) == 2 {
		all = " are both true"
	}
	return enumerate(names, " and ") + all
}

func (w *english) joined(es []*model.Expr, word string) string {
	var parts []string
	for _, e := range es {
		parts = append(parts, w.part(e))
	}
	return strings.Join(parts, word)
}

// enumerate writes a, b and c.
func enumerate(names []string, last string) string {
	n := len(names) - 1
	if n < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:n], ", ") + last + names[n]
}

// part writes a clause within another one.
func (w *english) part(e *model.Expr) string {
	s := w.condition(e)
	switch e.Op {
	case model.OpAnd, model.OpOr, model.OpIf, model.OpAll, model.OpAny, model.OpOne:
		return "(" + s + ")"
	}
	return s
}

func (w *english) quantified(e *model.Expr, format string) string {
	name, release := w.bind(e.Slot)
	defer release()
	return fmt.Sprintf(format, typeName(e.Over), name) + w.body(e.Args[0])
}

// body writes what a quantifier says of each object; a conjunction needs no
// brackets there, being all that follows.
func (w *english) body(e *model.Expr) string {
	if e.Op == model.OpAnd {
		return w.condition(e)
	}
	return w.part(e)
}

var operators = map[model.Op]string{model.OpAdd: " + ", model.OpSub: " - ", model.OpMul: " * ", model.OpDiv: " / "}

// term writes an expression that stands for a value.
func (w *english) term(e *model.Expr) string {
	if w.left--; w.left < 0 {
		return "…"
	}
	if op := operators[e.Op]; op != "" {
		return "(" + w.term(e.Args[0]) + op + w.term(e.Args[1]) + ")"
	}
	switch e.Op {
	case model.OpConst, model.OpObject:
		return e.Text(w.u, nil)
	case model.OpSlot:
		return w.slot(e)
	case model.OpFluent:
		return w.fluent(e.Fluent, e.Args)
	case model.OpNeg:
		return "-" + w.term(e.Args[0])
	case model.OpAbs:
		return "the absolute value of " + w.term(e.Args[0])
	case model.OpLen:
		return "the length of " + w.term(e.Args[0])
	case model.OpIf:
		return fmt.Sprintf("(%s if %s, otherwise %s)", w.term(e.Args[1]), w.part(e.Args[0]), w.term(e.Args[2]))
	case model.OpCount:
		return w.count(e)
	case model.OpSum:
		return w.over(e, "the sum of %s over every %s %s")
	case model.OpMin:
		return w.over(e, "the least %s of every %s %s")
	case model.OpMax:
		return w.over(e, "the greatest %s of every %s %s")
	}
	return "(whether " + w.condition(e) + ")"
}

func (w *english) terms(es []*model.Expr) string {
	var out []string
	for _, e := range es {
		out = append(out, w.term(e))
	}
	return strings.Join(out, ", ")
}

func (w *english) slot(e *model.Expr) string {
	if name, ok := w.names[e.Slot]; ok {
		return name
	}
	return e.Name
}

func (w *english) fluent(f *model.Fluent, args []*model.Expr) string {
	if len(args) == 0 {
		return f.Name
	}
	return f.Name + "(" + w.terms(args) + ")"
}

func (w *english) count(e *model.Expr) string {
	name, release := w.bind(e.Slot)
	defer release()
	if b := e.Args[0]; b.Op == model.OpConst && b.Const.Tri() == model.True {
		return "(the number of objects of type " + typeName(e.Over) + ")"
	}
	return fmt.Sprintf("(the number of objects %s of type %s for which %s)", name, typeName(e.Over), w.body(e.Args[0]))
}

func (w *english) over(e *model.Expr, format string) string {
	name, release := w.bind(e.Slot)
	defer release()
	return "(" + fmt.Sprintf(format, w.term(e.Args[0]), typeName(e.Over), name) + ")"
}

// typeName names a type; an enum by its words.
func typeName(t *model.Type) string { return t.String() }
