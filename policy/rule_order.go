package policy

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/expr-lang/expr/ast"
	"github.com/hashicorp/hcl/v2"
)

// orders are the operators that put values in an order.
var orders = []string{"<", "<=", ">", ">="}

// unordered finds the first comparison, in a tree whose types are known, by which
// texts would be put in the order of the alphabet: low would be above high. Dates
// alone are written so that it is theirs.
func unordered(n ast.Node) *mistake {
	if b, ok := n.(*ast.BinaryNode); ok && slices.Contains(orders, b.Operator) && (isText(b.Left) || isText(b.Right)) && (!isDate(b.Left) || !isDate(b.Right)) {
		return &mistake{at: b.Location(), severity: hcl.DiagError, summary: "Texts have no order", detail: orderHint(b)}
	}
	for _, k := range children(n) {
		if m := unordered(*k); m != nil {
			return m
		}
	}
	return nil
}

func isText(n ast.Node) bool { return n.Type() != nil && n.Type().Kind() == reflect.String }

// isDate tells whether a node is date(…), or a date that is written out.
func isDate(n ast.Node) bool {
	if c, ok := n.(*ast.CallNode); ok {
		return nameOf(c.Callee) == "date"
	}
	text, fixed := literal(n)
	_, err := time.Parse(time.DateOnly, text)
	return fixed && err == nil
}

// orderHint says what to write instead.
func orderHint(b *ast.BinaryNode) string {
	instead := "Name those that are meant, with == or in"
	if nameOf(b.Left) == "risk" || nameOf(b.Right) == "risk" {
		instead += ", as in risk in ['medium', 'high']"
	}
	return fmt.Sprintf("Here %s would compare them letter by letter. %s. Only dates are put in an order, as in date('UTC') < '2026-12-24'.", b.Operator, instead)
}

// onlyNumbers lets nothing else be put in an order where the types, which are
// known as of a tree that was checked, are those of values to come.
func onlyNumbers(n ast.Node) {
	for _, k := range children(n) {
		onlyNumbers(*k)
	}
	b, ok := n.(*ast.BinaryNode)
	if !ok || !slices.Contains(orders, b.Operator) {
		return
	}
	for _, side := range []*ast.Node{&b.Left, &b.Right} {
		if of := (*side).Type(); of != nil && of.Kind() == reflect.Interface {
			ast.Patch(side, called(b, callNumber, *side))
		}
	}
}

var errNoOrder = errors.New("what is no number is put in an order")

func number(a any) (any, error) {
	if v := reflect.ValueOf(a); v.CanInt() || v.CanFloat() {
		return a, nil
	}
	return nil, errNoOrder
}
