package model

import "strings"

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
	bound []*Expr // enclosing quantifiers
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

// slot writes an object, or the name of a variable that an enclosing
// quantifier binds: # for the innermost.
func (p *printer) slot(e *Expr) {
	for i := len(p.bound) - 1; i >= 0; i-- {
		if p.bound[i].Slot != e.Slot {
			continue
		}
		if i == len(p.bound)-1 || e.Name == "" {
			p.b.WriteByte('#')
		} else {
			p.b.WriteString(e.Name)
		}
		return
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
	p.bound = append(p.bound, e)
	p.expr(e.Args[0], precIf)
	p.bound = p.bound[:len(p.bound)-1]
}

// quoteText writes a string constant in single quotes.
func quoteText(s string) string {
	q := Quote(s)
	if q[0] == '\'' {
		return q
	}
	return "'" + q + "'"
}
