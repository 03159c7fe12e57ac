package policy

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/file"
	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model"
)

// mistake is something wrong in a condition, at characters of its text.
type mistake struct {
	at              file.Location
	severity        hcl.DiagnosticSeverity
	summary, detail string
}

// builtins are the functions of expr that a condition may call: none reads a
// clock, draws a number, or makes much out of little.
var builtins = []string{
	"all", "any", "none", "one", "count", "filter", "map", "sum", "len", "min", "max", "abs", "int", "float", "lower", "upper",
}

// maxClosure is how deep predicates may be nested.
const maxClosure = 3

// ruleReader walks a condition as it is written. It finds what may not be there
// and gathers what the condition looks at.
type ruleReader struct {
	into     *condition
	lets     map[string]bool
	depth    int
	mistakes []mistake
}

func (r *ruleReader) refuse(n ast.Node, summary, format string, args ...any) {
	r.mistakes = append(r.mistakes, mistake{n.Location(), hcl.DiagError, summary, fmt.Sprintf(format, args...)})
}

func (r *ruleReader) warn(n ast.Node, summary, format string, args ...any) {
	r.mistakes = append(r.mistakes, mistake{n.Location(), hcl.DiagWarning, summary, fmt.Sprintf(format, args...)})
}

func (r *ruleReader) all(nodes []*ast.Node) {
	for _, n := range nodes {
		r.node(*n)
	}
}

const unsuited = "Unsuitable condition"

// node reads one node and what is below it.
func (r *ruleReader) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		r.name(n)
	case *ast.MemberNode:
		r.member(n)
	case *ast.BinaryNode:
		r.binary(n)
	case *ast.CallNode:
		r.call(n)
	case *ast.BuiltinNode:
		if !slices.Contains(builtins, n.Name) {
			r.unknownFunction(n, n.Name)
			return
		}
		r.all(children(n))
	case *ast.PredicateNode:
		if r.depth++; r.depth > maxClosure {
			r.refuse(n, unsuited, "Predicates are nested at most %d deep.", maxClosure)
		}
		r.node(n.Node)
		r.depth--
	case *ast.VariableDeclaratorNode:
		r.let(n)
	case *ast.NilNode:
		r.refuse(n, unsuited, "Nothing is nil here: a part that is not there stops the condition. Ask before, as in 's' in args && args.s == 'db'.")
	case *ast.ChainNode:
		r.refuse(n, unsuited, "There is no ?. here: a part that is not there stops the condition. Ask before, as in 's' in args && args.s == 'db'.")
	case *ast.MapNode, *ast.SequenceNode, *ast.BytesNode:
		r.refuse(n, unsuited, "A condition makes no maps, no sequences of statements and no bytes.")
	default:
		r.all(children(n))
	}
}

func (r *ruleReader) let(n *ast.VariableDeclaratorNode) {
	_, isWord := words[n.Name]
	_, isFunction := functions[n.Name]
	_, isBuiltin := builtin.Index[n.Name]
	if isWord || isFunction || isBuiltin || strings.HasPrefix(n.Name, "_") {
		r.refuse(n, "Name taken", "%q has a meaning in conditions of rules already. Choose another name.", n.Name)
		return
	}
	r.node(n.Value)
	r.lets[n.Name] = true
	r.node(n.Expr)
}

// name reads a name that stands for itself.
func (r *ruleReader) name(n *ast.IdentifierNode) {
	if r.lets[n.Value] {
		return
	}
	w, ok := words[n.Value]
	if !ok {
		r.unknownName(n)
		return
	}
	r.reads(n.Value, w.step)
	if fields, record := records[n.Value]; record {
		r.refuse(n, unsuited, "Say which part of %s is meant: %s.", n.Value, list(slices.Sorted(maps.Keys(fields))))
	} else if mapOf(n) != "" {
		r.refuse(n, unsuited, "%s is looked at by name: %[1]s.NAME, %[1]s['NAME'], or 'NAME' in %[1]s.", n.Value)
	}
}

func (r *ruleReader) reads(name string, step bool) {
	r.into.reads[name] = true
	r.into.step = r.into.step || step
}

func (r *ruleReader) unknownName(n *ast.IdentifierNode) {
	if f, ok := functions[n.Value]; ok {
		r.refuse(n, unsuited, "%s is a function: %s.", n.Value, f.usage)
		return
	}
	names := slices.Collect(maps.Keys(words))
	for name, fields := range records {
		for part := range fields {
			names = append(names, name+"."+part)
		}
	}
	slices.Sort(names)
	detail := "A condition of a rule looks at " + list(slices.Sorted(maps.Keys(words))) + "."
	if near := model.Nearest(n.Value, names); near != "" {
		detail = fmt.Sprintf("Did you mean %s? %s", near, detail)
	} else if i := slices.IndexFunc(names, func(name string) bool { return strings.HasSuffix(name, "."+n.Value) }); i >= 0 {
		detail = fmt.Sprintf("Did you mean %s? %s", names[i], detail)
	} else {
		detail += fmt.Sprintf(" If a text is meant, quote it: '%s'.", n.Value)
	}
	r.refuse(n, fmt.Sprintf("Unknown name %q", n.Value), "%s", detail)
}

// member reads a part of something.
func (r *ruleReader) member(n *ast.MemberNode) {
	base := nameOf(n.Node)
	fields, record := records[base]
	switch {
	case n.Optional:
		r.refuse(n, unsuited, "There is no ?. here: a part that is not there stops the condition. Ask before, as in 's' in args && args.s == 'db'.")
	case record && !r.lets[base]:
		part, fixed := literal(n.Property)
		if !fixed || fields[part] == nil {
			r.unknownPart(n, base, part)
			return
		}
		r.reads(base, false)
		r.reads(base+"."+part, false)
		if mapOf(n) != "" {
			r.refuse(n, unsuited, "%s is looked at by name: %[1]s.NAME, %[1]s['NAME'], or 'NAME' in %[1]s.", base+"."+part)
		}
	case mapOf(n.Node) != "":
		r.inMap(n.Node)
		r.node(n.Property)
	default:
		r.all(children(n))
	}
}

func (r *ruleReader) unknownPart(n *ast.MemberNode, base, part string) {
	names := slices.Sorted(maps.Keys(records[base]))
	detail := fmt.Sprintf("%s has %s.", base, list(names))
	if near := model.Nearest(part, names); near != "" {
		detail = fmt.Sprintf("Did you mean %s.%s? %s", base, near, detail)
	}
	r.refuse(n.Property, fmt.Sprintf("Unknown name %q", base+"."+part), "%s", detail)
}

// inMap notes that a map is looked at.
func (r *ruleReader) inMap(n ast.Node) {
	if name := mapOf(n); name == "trigger.labels" {
		r.reads("trigger", false)
		r.reads(name, false)
	} else {
		r.reads(name, words[name].step)
	}
}

func (r *ruleReader) binary(n *ast.BinaryNode) {
	switch {
	case n.Operator == "??":
		r.refuse(n, unsuited, "There is no ?? here: a part that is not there stops the condition. Ask before, as in 's' in args && args.s == 'db'.")
	case n.Operator == "in" && mapOf(n.Right) != "":
		r.node(n.Left)
		r.inMap(n.Right)
	case n.Operator == "matches":
		r.node(n.Left)
		pattern, fixed := literal(n.Right)
		if !fixed {
			r.refuse(n.Right, unsuited, "A pattern is written out, in quotes: nothing that a plan or an alert contains is taken for one.")
		} else if _, err := regexp.Compile(pattern); err != nil {
			r.refuse(n.Right, "Invalid pattern", "It cannot be read: %s.", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
	default:
		r.all(children(n))
		r.compared(n)
	}
}

func (r *ruleReader) unknownFunction(n ast.Node, name string) {
	names := slices.Concat(slices.Sorted(maps.Keys(functions)), builtins)
	detail := "A condition of a rule may call " + list(names) + "."
	switch near := model.Nearest(name, names); {
	case words[name].typ == textsType:
		detail = fmt.Sprintf("%s is a list. Look into it as in 'in_lb(api)' in %[1]s, or any(%[1]s, # startsWith 'in_lb(').", name)
	case words[name].typ != nil:
		detail = fmt.Sprintf("%s is no function.", name)
	case near != "":
		detail = fmt.Sprintf("Did you mean %s? %s", near, detail)
	case name == "now" || name == "timezone" || name == "duration":
		detail = "Time is asked for in words whose zone is written out. Is it during('mon-fri', '09:00-17:00', 'Europe/Berlin'), hour(…), weekday(…) or date(…)?"
	}
	r.refuse(n, fmt.Sprintf("Unknown function %q", name), "%s", detail)
}
