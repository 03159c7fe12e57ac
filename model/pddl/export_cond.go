package pddl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fettleops/fettle/model"
)

// The bounds of one condition in the model language, with room to spare: what
// is beyond them becomes a derived fluent.
const (
	maxText    = 1200 // bytes
	maxClosure = 3    // quantifiers within each other
)

// writer writes expressions in the model language.
type writer struct {
	x    *exporter
	used map[string]bool // local names of the action at hand
	vars map[int]string  // by slot
}

func (x *exporter) writer() *writer {
	return &writer{x: x, used: map[string]bool{}, vars: map[int]string{}}
}

// bind names parameters, which are the first slots.
func (w *writer) bind(params []model.Param) []string {
	var out []string
	for i, p := range params {
		w.vars[i] = w.x.n.local(w.used, p.Name)
		out = append(out, w.vars[i])
	}
	return out
}

// Binding strengths, weakest first.
const (
	loose   = iota // a whole condition
	joined         // an operand of && or ||
	operand        // of a comparison
	term           // of a sum, but the first
	factor         // of a product
)

// infix are the operators between two operands: how strong they are, and what
// their operands must be.
var infix = map[model.Op]struct {
	text             string
	own, left, right int
}{
	model.OpEq: {" == ", operand, operand, operand}, model.OpNe: {" != ", operand, operand, operand},
	model.OpLt: {" < ", operand, operand, operand}, model.OpLe: {" <= ", operand, operand, operand},
	model.OpGt: {" > ", operand, operand, operand}, model.OpGe: {" >= ", operand, operand, operand},
	model.OpAdd: {" + ", term, operand, term}, model.OpSub: {" - ", term, operand, term},
	model.OpMul: {" * ", factor, term, factor}, model.OpDiv: {" / ", factor, term, factor},
}

// expr writes an expression below this many quantifiers.
func (w *writer) expr(e *model.Expr, strength, depth int) string {
	switch e.Op {
	case model.OpConst:
		if e.Kind == model.KindBool {
			return e.Const.Tri().String()
		}
		f, _ := e.Const.Number()
		return model.FormatNumber(f)
	case model.OpObject:
		return objectText(w.x.n.objects[w.x.t.U.Name(e.Type, e.Const.Object())])
	case model.OpSlot:
		return w.vars[e.Slot]
	case model.OpFluent:
		return w.atom(e.Fluent, e.Args)
	case model.OpNot:
		return "!" + parens(w.expr(e.Args[0], loose, depth), e.Args[0].Op != model.OpFluent)
	case model.OpNeg:
		return "-" + parens(w.expr(e.Args[0], loose, depth), e.Args[0].Op != model.OpFluent)
	case model.OpAnd, model.OpOr:
		return w.junction(e, strength, depth)
	case model.OpIsA:
		return parens(w.expr(e.Args[0], operand, depth)+" in "+w.x.n.types[e.Over], strength >= operand)
	case model.OpIf:
		return parens(w.expr(e.Args[0], joined, depth)+" ? "+w.expr(e.Args[1], joined, depth)+" : "+w.expr(e.Args[2], joined, depth), strength > loose)
	case model.OpAll, model.OpAny, model.OpSum:
		return w.quantified(e, depth)
	}
	op := infix[e.Op]
	return parens(w.expr(e.Args[0], op.left, depth)+op.text+w.expr(e.Args[1], op.right, depth), strength >= op.own)
}

func parens(s string, need bool) string {
	if need {
		return "(" + s + ")"
	}
	return s
}

func (w *writer) atom(f *model.Fluent, args []*model.Expr) string {
	if len(args) == 0 {
		return w.x.n.fluents[f]
	}
	var words []string
	for _, a := range args {
		words = append(words, w.expr(a, loose, 0))
	}
	return w.x.n.fluents[f] + "(" + strings.Join(words, ", ") + ")"
}

// junction writes a conjunction or a disjunction. Where it is too long, runs of
// its operands become derived fluents.
func (w *writer) junction(e *model.Expr, strength, depth int) string {
	op := " && "
	if e.Op == model.OpOr {
		op = " || "
	}
	if len(e.Args) == 0 {
		return model.Bool(e.Op == model.OpAnd).String()
	}
	size := 0
	var parts []string
	for _, a := range e.Args {
		s := w.expr(a, joined, depth)
		if len(s) > maxText/2 {
			s = w.part(a)
		}
		parts = append(parts, s)
		size += len(s) + len(op)
	}
	if size > maxText && len(parts) > 2 {
		half := len(e.Args) / 2
		halves := &model.Expr{Op: e.Op, Kind: e.Kind, Args: []*model.Expr{
			{Op: e.Op, Kind: e.Kind, Args: e.Args[:half]}, {Op: e.Op, Kind: e.Kind, Args: e.Args[half:]},
		}}
		return w.part(halves.Args[0]) + op + w.part(halves.Args[1])
	}
	return parens(strings.Join(parts, op), strength >= joined && len(parts) > 1)
}

// quantified writes a quantifier. Its object is # unless an inner quantifier
// needs a name for it.
func (w *writer) quantified(e *model.Expr, depth int) string {
	if depth == maxClosure && e.Kind == model.KindBool {
		return w.part(e)
	}
	word := map[model.Op]string{model.OpAll: "all", model.OpAny: "any", model.OpSum: "sum"}[e.Op]
	if !within(e.Args[0], e.Slot) {
		w.vars[e.Slot] = "#"
		return fmt.Sprintf("%s(%s, %s)", word, w.x.n.types[e.Over], w.expr(e.Args[0], loose, depth+1))
	}
	name := w.x.n.local(w.used, e.Name)
	defer delete(w.used, name) // it is known within the quantifier alone
	w.vars[e.Slot] = name
	return fmt.Sprintf("%s(%s, let %s = #; %s)", word, w.x.n.types[e.Over], name, w.expr(e.Args[0], loose, depth+1))
}

// within tells whether a quantifier within the expression uses the slot.
func within(e *model.Expr, slot int) bool {
	found := false
	e.Walk(func(q *model.Expr) bool {
		if q.Op == model.OpAll || q.Op == model.OpAny || q.Op == model.OpSum {
			found = found || slices.ContainsFunc(free(q), func(s *model.Expr) bool { return s.Slot == slot })
		}
		return !found
	})
	return found
}

// free returns the slots that an expression reads and does not bind, each once.
func free(e *model.Expr) []*model.Expr {
	var out []*model.Expr
	bound := map[int]bool{}
	e.Walk(func(q *model.Expr) bool {
		if q.Over != nil && q.Op != model.OpIsA {
			bound[q.Slot] = true
		}
		return true
	})
	e.Walk(func(s *model.Expr) bool {
		if s.Op == model.OpSlot && !bound[s.Slot] && !slices.ContainsFunc(out, func(o *model.Expr) bool { return o.Slot == s.Slot }) {
			out = append(out, s)
		}
		return true
	})
	return out
}

// part makes a derived fluent of a condition, over the variables that it reads,
// and writes its reading.
func (w *writer) part(e *model.Expr) string {
	slots := free(e)
	name := w.x.n.claim(w.x.inside+"_part", "")
	inner := w.x.writer()
	var params []model.Param
	var args []string
	for _, s := range slots {
		inner.vars[s.Slot] = w.x.n.local(inner.used, s.Name)
		params = append(params, model.Param{Name: inner.vars[s.Slot], Type: s.Type})
		args = append(args, w.vars[s.Slot])
	}
	w.x.extra = append(w.x.extra, w.x.partBlock(name, params, inner.expr(e, loose, 0)))
	if len(args) == 0 {
		return name
	}
	return name + "(" + strings.Join(args, ", ") + ")"
}
