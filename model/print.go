package model

import (
	"slices"
	"strconv"
	"strings"
)

// Binding strengths of the printer, weakest first.
const (
	precIf = iota
	precOr
	precAnd
	precCompare
	precAdd
	precMul
	precUnary
	precAtom
)

var infix = map[Op]struct {
	text string
	prec int
}{
	OpOr: {" || ", precOr}, OpAnd: {" && ", precAnd},
	OpEq: {" == ", precCompare}, OpNe: {" != ", precCompare},
	OpLt: {" < ", precCompare}, OpLe: {" <= ", precCompare}, OpGt: {" > ", precCompare}, OpGe: {" >= ", precCompare},
	OpContains: {" contains ", precCompare}, OpPrefix: {" startsWith ", precCompare},
	OpSuffix: {" endsWith ", precCompare}, OpMatches: {" matches ", precCompare},
	OpAdd: {" + ", precAdd}, OpSub: {" - ", precAdd}, OpMul: {" * ", precMul}, OpDiv: {" / ", precMul},
}

var calls = map[Op]string{
	OpAll: "all", OpAny: "any", OpOne: "one", OpCount: "count", OpSum: "sum", OpMin: "min", OpMax: "max",
	OpAbs: "abs", OpLen: "len",
}

// Text writes the expression in the model language with the objects of the
// environment in place of their slots. A nil environment keeps the parameters'
// names.
func (e *Expr) Text(u *Universe, env []int32) string {
	p := printer{u: u, env: env}
	p.expr(e, precIf)
	return p.b.String()
}

type printer struct {
	b     strings.Builder
	u     *Universe
	env   []int32
	bound []variable // of the enclosing quantifiers
}

// variable is what a quantifier binds. It is # unless a quantifier within
// needs a name for it.
type variable struct {
	slot int
	name string
}

func (p *printer) expr(e *Expr, prec int) {
	if op, ok := infix[e.Op]; ok {
		p.infix(e, op.text, op.prec, prec)
		return
	}
	switch e.Op {
	case OpConst:
		p.b.WriteString(p.u.valueText(nil, e.Const))
	case OpObject:
		name := p.u.Name(e.Type, e.Const.Object())
		if e.Type.Enum {
			p.b.WriteString(quoteText(name))
		} else {
			p.b.WriteString(Quote(name))
		}
	case OpSlot:
		p.slot(e)
	case OpFluent:
		p.fluent(e)
	case OpNot:
		p.b.WriteByte('!')
		p.expr(e.Args[0], precUnary)
	case OpNeg:
		p.b.WriteByte('-')
		p.expr(e.Args[0], precUnary)
	case OpIf:
		p.parens(prec > precIf, func() {
			p.expr(e.Args[0], precOr)
			p.b.WriteString(" ? ")
			p.expr(e.Args[1], precOr)
			p.b.WriteString(" : ")
			p.expr(e.Args[2], precIf)
		})
	case OpIn:
		p.parens(prec > precCompare, func() {
			p.expr(e.Args[0], precAdd)
			p.b.WriteString(" in [")
			p.list(e.Args[1:])
			p.b.WriteByte(']')
		})
	case OpIsA:
		p.parens(prec > precCompare, func() {
			p.expr(e.Args[0], precAdd)
			p.b.WriteString(" in " + e.Over.Name)
		})
	default:
		p.call(e)
	}
}

func (p *printer) parens(need bool, body func()) {
	if need {
		p.b.WriteByte('(')
	}
	body()
	if need {
		p.b.WriteByte(')')
	}
}

func (p *printer) infix(e *Expr, text string, own, outer int) {
	p.parens(outer > own, func() {
		for i, a := range e.Args {
			if i > 0 {
				p.b.WriteString(text)
			}
			inner := own
			if own == precCompare || i > 0 {
				inner++
			}
			p.expr(a, inner)
		}
		if e.Op == OpMatches {
			p.b.WriteString(text + p.u.valueText(nil, e.Const))
		}
	})
}

// slot writes an object, or the variable that an enclosing quantifier binds.
func (p *printer) slot(e *Expr) {
	for i := len(p.bound) - 1; i >= 0; i-- {
		if p.bound[i].slot == e.Slot {
			p.b.WriteString(p.bound[i].name)
			return
		}
	}
	if p.env == nil || e.Slot >= len(p.env) {
		p.b.WriteString(e.Name)
		return
	}
	p.b.WriteString(Quote(p.u.Name(e.Type, p.env[e.Slot])))
}

func (p *printer) fluent(e *Expr) {
	p.b.WriteString(e.Fluent.Name)
	if len(e.Args) > 0 {
		p.b.WriteByte('(')
		p.list(e.Args)
		p.b.WriteByte(')')
	}
}

func (p *printer) list(es []*Expr) {
	for i, a := range es {
		if i > 0 {
			p.b.WriteString(", ")
		}
		p.expr(a, precIf)
	}
}

func (p *printer) call(e *Expr) {
	p.b.WriteString(calls[e.Op] + "(")
	switch e.Op {
	case OpAbs, OpLen:
		p.expr(e.Args[0], precIf)
	case OpMin, OpMax:
		p.b.WriteString("map(")
		p.body(e)
		p.b.WriteByte(')')
	default:
		p.body(e)
	}
	p.b.WriteByte(')')
}

func (p *printer) body(e *Expr) {
	p.b.WriteString(e.Over.Name + ", ")
	v := variable{e.Slot, "#"}
	if name, within := e.Args[0].named(e.Slot, false); within {
		v.name = p.free(name, e.Over)
		p.b.WriteString("let " + v.name + " = #; ")
	}
	p.bound = append(p.bound, v)
	p.expr(e.Args[0], precIf)
	p.bound = p.bound[:len(p.bound)-1]
}

// named finds a use of the slot within a quantifier, and a name that it has.
func (e *Expr) named(slot int, inner bool) (name string, within bool) {
	switch {
	case e.Op == OpSlot:
		return e.Name, inner && e.Slot == slot
	case e.Over != nil && e.Op != OpIsA:
		if inner && e.Slot == slot {
			return "", false
		}
		inner = true
	}
	for _, a := range e.Args {
		if name, within = a.named(slot, inner); within {
			return name, true
		}
	}
	return "", false
}

// free returns a name for a variable that nothing else has: the one it was
// given, else its type's first letter.
func (p *printer) free(name string, t *Type) string {
	if name == "" || name == "#" {
		name = strings.ToLower(t.Name[:1])
	}
	for base, n := name, 2; p.taken(name); n++ {
		name = base + strconv.Itoa(n)
	}
	return name
}

// taken tells whether a name stands for a variable, a fluent or an object.
func (p *printer) taken(name string) bool {
	return p.u.fluents[name] != nil ||
		slices.ContainsFunc(p.bound, func(v variable) bool { return v.name == name }) ||
		slices.ContainsFunc(p.u.Types, func(t *Type) bool { _, ok := p.u.Find(t, name); return ok })
}

// quoteText writes a string constant in single quotes.
func quoteText(s string) string {
	q := Quote(s)
	if q[0] == '\'' {
		return q
	}
	return "'" + q + "'"
}
