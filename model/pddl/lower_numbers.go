package pddl

import (
	"strconv"

	"github.com/fettleops/fettle/model"
)

func (l *lowerer) comparison(op model.Op, ns []*node) *model.Expr {
	a, b := l.number(ns[0]), l.number(ns[1])
	if a == nil || b == nil {
		return nil
	}
	return &model.Expr{Op: op, Kind: model.KindBool, Args: []*model.Expr{a, b}}
}

// number reads a number as PDDL writes it.
func number(s string) (float64, bool) {
	if c := s[0]; c != '-' && c != '+' && c != '.' && (c < '0' || c > '9') {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil
}

var arithmetic = map[string]model.Op{"+": model.OpAdd, "-": model.OpSub, "*": model.OpMul, "/": model.OpDiv}

// number lowers a numeric expression.
func (l *lowerer) number(n *node) *model.Expr {
	if !n.list() {
		if f, ok := number(n.name); ok {
			return constant(f)
		}
	} else if op, ok := arithmetic[n.head()]; ok {
		return l.arithmetic(n, op)
	}
	name := n.name
	if n.list() {
		name = n.head()
	}
	p := l.ld.functions[name]
	switch {
	case p != nil:
		return l.read(n, p)
	case name == "" || name[0] == '?':
		l.ld.errorAt(n.place(), "Not a number", "%s stands where a number does.", text(n))
	case name == "total-time" || name == "#t" || name == "?duration":
		l.ld.unsupported(n.place(), "time in conditions and effects")
	default:
		l.ld.noPredicate(n, name, "function", l.ld.functions)
	}
	return nil
}

func constant(f float64) *model.Expr {
	return &model.Expr{Op: model.OpConst, Kind: model.KindNumber, Const: model.NumberValue(f)}
}

// arithmetic lowers + - * / over two operands, + and * over any number, - over one.
func (l *lowerer) arithmetic(n *node, op model.Op) *model.Expr {
	args := n.kids[1:]
	if op == model.OpSub && len(args) == 1 {
		if e := l.number(args[0]); e != nil {
			return &model.Expr{Op: model.OpNeg, Kind: model.KindNumber, Args: []*model.Expr{e}}
		}
		return nil
	}
	if many := op == model.OpAdd || op == model.OpMul; len(args) == 0 || !many && len(args) != 2 {
		l.takes(n, 2)
		return nil
	}
	var sum *model.Expr
	for _, a := range args {
		e := l.number(a)
		switch {
		case e == nil:
			return nil
		case sum == nil:
			sum = e
		default:
			sum = &model.Expr{Op: op, Kind: model.KindNumber, Args: []*model.Expr{sum, e}}
		}
	}
	return sum
}
