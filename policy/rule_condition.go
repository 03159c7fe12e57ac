package policy

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/types"
	"github.com/expr-lang/expr/vm"
	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model"
)

// Bounds of a condition.
const (
	maxSource = 4 << 10 // bytes
	maxNodes  = 500
	maxMemory = 10_000 // values that one evaluation may make
)

// condition is the condition of a rule, read and compiled. It is immutable; what
// is not compiled cannot be evaluated, and stops like an error.
type condition struct {
	src     source
	tree    ast.Node // as written
	code    *vm.Program
	reads   map[string]bool  // the words and functions that it names, with parts: plan.cost
	step    bool             // it looks at a step
	windows []dayWindow      // on which it depends,
	zones   []*time.Location // the dates in these zones,
	hourly  bool             // their hours,
	spans   []time.Duration  // and what is older than these
}

// compile reads a condition. The mistakes are in the order in which they were
// found; where one is an error, the condition is not compiled.
func compile(src source) (*condition, []mistake) {
	c := &condition{src: src, reads: map[string]bool{}}
	if len(src.text) > maxSource {
		return c, []mistake{{severity: hcl.DiagError, summary: "Condition too long", detail: fmt.Sprintf("The condition of a rule has at most %d bytes. Write several rules.", maxSource)}}
	}
	outer := types.Map{}
	for name, w := range words {
		outer[name] = w.typ
	}
	for name, f := range functions {
		outer[name] = f.typ
	}
	tree, err := parser.ParseWithConfig(src.text, config(outer))
	if err != nil {
		return c, []mistake{syntaxMistake(err)}
	}
	c.tree = tree.Node
	r := &ruleReader{into: c, lets: map[string]bool{}}
	r.node(tree.Node)
	if slices.ContainsFunc(r.mistakes, func(m mistake) bool { return m.severity == hcl.DiagError }) {
		return c, r.mistakes
	}
	if m := c.translate(outer); m != nil {
		return c, append(r.mistakes, *m)
	}
	return c, r.mistakes
}

func config(env types.Map) *conf.Config {
	c := conf.New(env)
	c.MaxNodes = maxNodes
	for _, name := range builtin.Names {
		if !slices.Contains(builtins, name) {
			delete(c.Builtins, name)
			c.Disabled[name] = true
		}
	}
	return c
}

// translate checks the types and compiles a copy of the tree.
func (c *condition) translate(outer types.Map) *mistake {
	conf := config(outer)
	tree, err := parser.ParseWithConfig(c.src.text, conf)
	if err != nil {
		m := syntaxMistake(err)
		return &m
	}
	typ, err := checker.Check(tree, conf)
	if err != nil {
		return typeMistake(err)
	}
	if typ.Kind() != reflect.Bool {
		return &mistake{severity: hcl.DiagError, summary: "Unsuitable condition", detail: fmt.Sprintf("The condition of a rule holds or does not; this is %s.", typeWord(typ.String()))}
	}
	if m := unordered(tree.Node); m != nil {
		return m
	}
	onlyNumbers(tree.Node)
	rewrite(&tree.Node)
	all := maps.Clone(outer)
	maps.Copy(all, inner)
	conf = config(all)
	if _, err = checker.Check(tree, conf); err != nil {
		return typeMistake(err)
	}
	if c.code, err = compiler.Compile(tree, conf); err != nil {
		return typeMistake(err)
	}
	return nil
}

// rewrite puts in place of what a condition says that which carries it out:
// what could be nil or of another type than expected stops the evaluation, and
// what says when is what was read.
func rewrite(n *ast.Node) {
	for _, c := range children(*n) {
		rewrite(c)
	}
	switch v := (*n).(type) {
	case *ast.MemberNode:
		switch nameOf(v.Node) {
		case "args":
			ast.Patch(n, called(v, callArg, v.Node, v.Property))
		case "sets":
			ast.Patch(n, called(v, callSet, v.Node, v.Property))
		}
	case *ast.BinaryNode:
		rewriteComparison(n, v)
	case *ast.CallNode:
		rewriteCall(n, v)
	case *ast.PredicateNode:
		body := &ast.SequenceNode{Nodes: []ast.Node{called(v, callTurn), v.Node}}
		body.SetLocation(v.Location())
		v.Node = body
	}
}

func rewriteComparison(n *ast.Node, v *ast.BinaryNode) {
	if !dynamic(v.Left) && !dynamic(v.Right) {
		return
	}
	switch {
	case v.Operator == "==":
		ast.Patch(n, called(v, callEqual, v.Left, v.Right))
	case v.Operator == "!=":
		ast.Patch(n, &ast.UnaryNode{Operator: "not", Node: called(v, callEqual, v.Left, v.Right)})
	case v.Operator == "in" && mapOf(v.Right) == "":
		ast.Patch(n, called(v, callIn, v.Left, v.Right))
	}
}

// dynamic tells whether a node's type is only known once there is a value.
func dynamic(n ast.Node) bool {
	if c, ok := n.(*ast.CallNode); ok && nameOf(c.Callee) == callSet {
		return true
	}
	return n.Type() == nil || n.Type().Kind() == reflect.Interface
}

func rewriteCall(n *ast.Node, v *ast.CallNode) {
	constant := func(value any) ast.Node { return &ast.ConstantNode{Value: value} }
	zone := func() ast.Node {
		name, _ := literal(v.Arguments[0])
		z, _ := parseZone(name)
		return constant(z)
	}
	switch nameOf(v.Callee) {
	case "during":
		w, _ := windowOf(v.Arguments)
		ast.Patch(n, called(v, callDuring, constant(w)))
	case "hour":
		ast.Patch(n, called(v, callHour, zone()))
	case "weekday":
		ast.Patch(n, called(v, callWeekday, zone()))
	case "date":
		ast.Patch(n, called(v, callDate, zone()))
	case "times":
		text, _ := literal(v.Arguments[1])
		span, _ := parseSpan(text)
		ast.Patch(n, called(v, callTimes, v.Arguments[0], constant(span)))
	}
}

var errUnread = errors.New("its condition was not read")

// holds evaluates the condition on a scene, which it may change.
func (c *condition) holds(scene map[string]any) (bool, error) {
	if c.code == nil {
		return false, errUnread
	}
	scene[callTurn] = turns()
	machine := vm.VM{MemoryBudget: maxMemory}
	v, err := machine.Run(c.code, scene)
	if err != nil {
		return false, cause(err)
	}
	b, ok := v.(bool)
	if !ok {
		return false, fmt.Errorf("its condition gave no answer but %T", v)
	}
	return b, nil
}

// cause strips the position and the source from an error of an evaluation, and
// what it tells of a long text that it came from.
func cause(err error) error {
	var e *file.Error
	switch {
	case !errors.As(err, &e):
		return err
	case e.Prev != nil:
		err = e.Prev
	default:
		err = errors.New(strings.TrimPrefix(e.Message, "runtime error: "))
	}
	return errors.New(model.Clip(err.Error()))
}
