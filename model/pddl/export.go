package pddl

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/fettleops/fettle/model"
)

// Export is a task written in the model language.
type Export struct {
	Text    []byte            // one file
	Actions map[string]string // by PDDL's name
	Objects map[string]string
}

// Export writes the task as a model of one file: types with their objects,
// fluents, actions, the start as a state and the goal. Its head says which names
// had to change and how.
func (t *Task) Export() Export {
	x := &exporter{t: t, n: newNames(t), kinds: widened(t.Model)}
	body := x.body()
	var b bytes.Buffer
	x.head(&b)
	b.WriteString(body)
	out := Export{Text: hclwrite.Format(b.Bytes()), Actions: map[string]string{}, Objects: x.n.objects}
	for a, name := range x.n.actions {
		out.Actions[a.Name] = name
	}
	return out
}

// exporter is the work in progress of one export.
type exporter struct {
	t      *Task
	n      *names
	kinds  map[*model.Fluent][]*model.Type // of the parameters
	inside string                          // what parts that are taken out are named after
	extra  []string                        // blocks of derived fluents for parts taken out
}

func (x *exporter) head(b *bytes.Buffer) {
	fmt.Fprintf(b, "# Imported from PDDL: domain %s, problem %s.\n", oneLine(x.t.Domain), oneLine(x.t.Problem))
	b.WriteString(`#
# Types, fluents, actions, objects and parameters share one set of names here. What
# is no identifier had its other characters replaced by _ and x_ put before a
# digit; what was then taken or reserved got its kind's letter behind it (_t, _f,
# _a, _o, _p). Plans name actions and objects as they are called here.
`)
	if len(x.n.renamed) > 0 {
		b.WriteString("#\n")
	}
	for i, r := range x.n.renamed {
		if i == 200 {
			fmt.Fprintf(b, "#   and %d more\n", len(x.n.renamed)-i)
			break
		}
		fmt.Fprintf(b, "#   %s\n", oneLine(r))
	}
	b.WriteByte('\n')
}

func oneLine(s string) string { return strings.Join(strings.Fields(model.Clip(s)), " ") }

func (x *exporter) body() string {
	var b strings.Builder
	for _, k := range x.t.Model.Types {
		x.kind(&b, k)
	}
	b.WriteByte('\n')
	var actions strings.Builder
	for _, a := range x.t.Model.Actions {
		x.action(&actions, a)
	}
	goal := x.goal()
	for _, f := range x.t.Model.Fluents {
		b.WriteString(x.fluent(f))
	}
	for _, block := range x.extra {
		b.WriteString(block)
	}
	b.WriteByte('\n')
	b.WriteString(actions.String())
	x.start(&b)
	b.WriteString(goal)
	return b.String()
}

// quoted writes a string of HCL.
func quoted(s string) string {
	return string(hclwrite.TokensForValue(cty.StringVal(s)).Bytes())
}

// attribute writes a list of strings, on one line where it is short.
func attribute(name string, items []string) string {
	for i, s := range items {
		items[i] = quoted(s)
	}
	if line := name + " = [" + strings.Join(items, ", ") + "]"; len(line) <= 100 {
		return line + "\n"
	}
	return name + " = [\n" + strings.Join(items, ",\n") + ",\n]\n"
}

func (x *exporter) kind(b *strings.Builder, k *model.Type) {
	var objects []string
	seen := map[int32]bool{}
	for _, o := range k.Objects {
		if !seen[o] {
			seen[o] = true
			objects = append(objects, x.n.objects[k.NameOf(o)])
		}
	}
	parent := ""
	if k.Parent != nil {
		parent = "parent = " + x.n.types[k.Parent] + "\n"
	}
	list := ""
	if len(objects) > 0 || !slices.ContainsFunc(x.t.Model.Types, func(s *model.Type) bool { return s.Parent == k }) {
		list = attribute("objects", objects)
	}
	if body := parent + list; strings.Count(body, "\n") < 2 {
		fmt.Fprintf(b, "type %s { %s }\n", quoted(x.n.types[k]), strings.TrimSpace(body))
	} else {
		fmt.Fprintf(b, "type %s {\n%s}\n", quoted(x.n.types[k]), body)
	}
}

func (x *exporter) fluent(f *model.Fluent) string {
	w := x.writer()
	params := slices.Clone(f.Params)
	for i := range params {
		params[i].Type = x.kinds[f][i]
	}
	vars := w.bind(params)
	name := x.n.fluents[f]
	if f.Derived == nil {
		body := x.params(vars, params)
		if f.Kind == model.KindNumber {
			body += "type = number\n"
		}
		if strings.Count(body, "\n") < 2 {
			return fmt.Sprintf("fluent %s { %s }\n", quoted(name), strings.TrimSpace(body))
		}
		return fmt.Sprintf("fluent %s {\n%s}\n", quoted(name), body)
	}
	before := len(x.extra)
	x.inside = name
	text := w.expr(f.Derived.NNF(), loose, 0)
	block := fmt.Sprintf("fluent %s {\n%sderive = %s\n}\n", quoted(name), x.params(vars, params), quoted(text))
	for _, part := range x.extra[before:] {
		block += part
	}
	x.extra = x.extra[:before]
	return block
}

// partBlock writes the derived fluent of a part that was taken out.
func (x *exporter) partBlock(name string, params []model.Param, derive string) string {
	var vars []string
	for _, p := range params {
		vars = append(vars, p.Name)
	}
	return fmt.Sprintf("fluent %s {\n%sderive = %s\n}\n", quoted(name), x.params(vars, params), quoted(derive))
}

// params writes params = { s = service }, nothing where there are none.
func (x *exporter) params(vars []string, params []model.Param) string {
	if len(params) == 0 {
		return ""
	}
	var ps []string
	for i, p := range params {
		ps = append(ps, vars[i]+" = "+x.n.types[p.Type])
	}
	return "params = { " + strings.Join(ps, ", ") + " }\n"
}

// start writes the initial state: what is true, and the numbers that are known.
func (x *exporter) start(b *strings.Builder) {
	var facts, values []string
	for _, f := range x.t.Model.Fluents {
		for a, v := range x.t.Start.Given(f) {
			var args []string
			for _, name := range x.t.U.Names(f.Params, a.Args) {
				args = append(args, x.n.objects[name])
			}
			text := model.FormatAtom(x.n.fluents[f], args...)
			if n, isNumber := v.Number(); isNumber {
				values = append(values, fmt.Sprintf("%s = %s", quoted(text), model.FormatNumber(n)))
			} else if v.Tri() == model.True {
				facts = append(facts, text)
			}
		}
	}
	b.WriteString("state \"start\" {\n")
	b.WriteString(attribute("facts", facts))
	if len(values) > 0 {
		fmt.Fprintf(b, "values = {\n%s\n}\n", strings.Join(values, "\n"))
	}
	b.WriteString("}\n\n")
}

func (x *exporter) goal() string {
	w := x.writer()
	x.inside = "goal"
	goal := w.conjuncts(x.t.Goal.Cond)
	if len(goal) == 0 {
		goal = []string{"true"}
	}
	return fmt.Sprintf("goal %s {\n%s}\n", quoted(goalName(x.t.Problem)), attribute("condition", goal))
}

func goalName(name string) string {
	if model.Bare(name) {
		return name
	}
	return identifier(name)
}
