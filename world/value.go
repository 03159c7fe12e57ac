package world

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/types"
	"github.com/expr-lang/expr/vm"

	"github.com/fettleops/fettle/model"
)

// Bounds of an expression over an answer.
const (
	maxSource = 4 << 10 // bytes
	maxNodes  = 500
	maxTurns  = 300_000 // elements that its predicates may look at, all together
)

// builtins that an expression may call: none reads a clock, and none makes
// much out of little.
var builtins = []string{
	"all", "any", "one", "none", "filter", "map", "count", "sum", "find", "findIndex", "findLast", "findLastIndex",
	"len", "abs", "ceil", "floor", "round", "int", "float", "string", "trim", "trimPrefix", "trimSuffix", "upper", "lower",
	"split", "hasPrefix", "hasSuffix", "indexOf", "lastIndexOf", "min", "max", "mean", "median", "first", "last",
	"keys", "values", "fromJSON",
}

// collections are those of them that take their argument apart.
var collections = []string{
	"all", "any", "one", "none", "filter", "map", "count", "sum", "find", "findIndex", "findLast", "findLastIndex",
	"min", "max", "mean", "median", "first", "last", "keys", "values",
}

// program is a compiled expression over an answer. It is immutable.
type program struct {
	code   *vm.Program
	names  map[string]bool // of the answer and parameters, that it mentions
	fields bool            // it takes the body for an object or a list
	typ    reflect.Type    // of its value; an interface where not known before
}

// sourceError is a mistake at characters [from, to) of an expression's source.
type sourceError struct {
	from, to int
	msg      string
}

func (e *sourceError) Error() string { return e.msg }

// compile checks an expression over the names of an answer. In a list, item is
// the item, and a name that the answer does not have is a field of the item.
func compile(src string, answers types.Map, params []model.Param, list bool) (*program, error) {
	if len(src) > maxSource {
		return nil, &sourceError{0, 0, fmt.Sprintf("the expression is longer than %d bytes", maxSource)}
	}
	env := maps.Clone(answers)
	for _, p := range params {
		if _, taken := env[p.Name]; !taken {
			env[p.Name] = types.String
		}
	}
	if list {
		env["item"] = types.Any
	}
	config := newConfig(env)
	tree, err := parser.ParseWithConfig(src, config)
	if err != nil {
		return nil, at(err)
	}
	r := &rewriter{env: env, list: list, names: map[string]bool{}, lets: map[string]bool{}}
	if r.check(&tree.Node); r.err != nil {
		return nil, r.err
	}
	for _, p := range params {
		if _, both := answers[p.Name]; both && r.names[p.Name] {
			return nil, &sourceError{0, 0, fmt.Sprintf("%s is both a parameter and a name of the answer; rename the parameter", p.Name)}
		}
	}
	if _, err := checker.Check(tree, config); err != nil {
		return nil, hint(at(err), r, answers, list)
	}
	r.guard(&tree.Node, plainUse)
	typ, err := checker.Check(tree, config)
	if err != nil {
		return nil, at(err)
	}
	code, err := compiler.Compile(tree, config)
	if err != nil {
		return nil, at(err)
	}
	return &program{code: code, names: r.names, fields: r.fields, typ: typ}, nil
}

func newConfig(env types.Map) *conf.Config {
	guarded := maps.Clone(env)
	maps.Copy(guarded, guardTypes)
	c := conf.New(guarded)
	c.MaxNodes = maxNodes
	for name := range c.Builtins {
		if !slices.Contains(builtins, name) {
			delete(c.Builtins, name)
			c.Disabled[name] = true
		}
	}
	return c
}

// at turns a mistake found by expr into one of ours.
func at(err error) error {
	var e *file.Error
	if !errors.As(err, &e) {
		return &sourceError{0, 0, err.Error()}
	}
	return &sourceError{e.From, max(e.To, e.From+1), e.Message}
}

// hint adds to a mistake in a list that a name is the answer's, where an
// item's field may have been meant.
func hint(err error, r *rewriter, answers types.Map, list bool) error {
	var e *sourceError
	if !list || !errors.As(err, &e) {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(answers)) {
		if r.names[name] {
			e.msg += fmt.Sprintf("; %s is the answer's, an item's field is item.%s", name, name)
		}
	}
	return e
}

// mentions tells whether one of the programs looks at the name.
func mentions(name string, programs ...*program) bool {
	for _, p := range programs {
		if p != nil && p.names[name] {
			return true
		}
	}
	return false
}

// run evaluates the program. The note says what it read: leak = true.
func (p *program) run(env map[string]any) (v any, note string, err error) {
	t := &trace{}
	t.install(env)
	machine := vm.VM{}
	v, err = machine.Run(p.code, env)
	if err != nil {
		return nil, t.note(p, env), cause(err)
	}
	return v, t.note(p, env), nil
}

// cause strips the position and the source from an error of a program.
func cause(err error) error {
	var u *unknownError
	if errors.As(err, &u) {
		return u
	}
	var e *file.Error
	if errors.As(err, &e) {
		return errors.New(strings.TrimPrefix(e.Message, "runtime error: "))
	}
	return err
}

// rewriter checks an expression's tree and makes it tell unknown from false.
type rewriter struct {
	env    types.Map
	list   bool
	names  map[string]bool
	fields bool
	lets   map[string]bool
	err    error
}

func (r *rewriter) refuse(n ast.Node, format string, args ...any) {
	if r.err == nil {
		loc := n.Location()
		r.err = &sourceError{loc.From, max(loc.To, loc.From+1), fmt.Sprintf(format, args...)}
	}
}

// check refuses what an expression may not do, and makes bare names of a list
// fields of its item.
func (r *rewriter) check(node *ast.Node) {
	ast.Walk(node, visitor(func(n *ast.Node) {
		if v, ok := (*n).(*ast.VariableDeclaratorNode); ok {
			r.lets[v.Name] = true
		}
		switch v := (*n).(type) {
		case *ast.CallNode:
			r.refuse(v, "there is no function %s here", v.Callee)
		case *ast.BuiltinNode:
			r.fields = r.fields || slices.Contains(collections, v.Name) && len(v.Arguments) > 0 && isBody(v.Arguments[0])
		case *ast.MemberNode:
			r.fields = r.fields || isBody(v.Node)
			if v.Method {
				r.refuse(v, "an answer has no methods")
			}
		}
	}))
	ast.Walk(node, visitor(func(n *ast.Node) {
		id, ok := (*n).(*ast.IdentifierNode)
		if !ok || r.lets[id.Value] {
			return
		}
		_, known := r.env[id.Value]
		switch {
		case known:
			r.names[id.Value] = true
		case strings.HasPrefix(id.Value, "_") || strings.HasPrefix(id.Value, "$"):
			r.refuse(id, "there is no name %s here", id.Value)
		case r.list:
			r.names["item"] = true
			item := &ast.IdentifierNode{Value: "item"}
			item.SetLocation(id.Location())
			field := &ast.StringNode{Value: id.Value}
			field.SetLocation(id.Location())
			ast.Patch(n, &ast.MemberNode{Node: item, Property: field})
		default:
			r.refuse(id, "there is no name %s here; the answer has %s", id.Value, strings.Join(slices.Sorted(maps.Keys(r.env)), ", "))
		}
	}))
}

// isBody tells whether a node is the answer's body.
func isBody(n ast.Node) bool {
	id, ok := n.(*ast.IdentifierNode)
	return ok && id.Value == "body"
}

type visitor func(*ast.Node)

// Visit calls the function.
func (v visitor) Visit(n *ast.Node) { v(n) }
