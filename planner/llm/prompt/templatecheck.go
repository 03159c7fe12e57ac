package prompt

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"text/template"
	"text/template/parse"
)

// checkFields returns the fields that a template names; an error where it names
// one that there is not, or cannot be executed.
func checkFields(t *template.Template) (map[string]bool, error) {
	n := named{}
	for _, d := range t.Templates() {
		if d.Tree != nil {
			n.list(d.Root)
		}
	}
	used := map[string]bool{}
	for _, idents := range n.fields {
		if _, ok := reflect.TypeFor[Fields]().FieldByName(idents[0]); !ok || len(idents) > 1 {
			return nil, fmt.Errorf("template %s names .%s, which there is not; there are %s", t.Name(), strings.Join(idents, "."), fieldNames())
		}
		used[idents[0]] = true
	}
	for _, f := range []Fields{{}, filled()} {
		if err := t.Execute(io.Discard, f); err != nil {
			return nil, fmt.Errorf("execute: %w", err)
		}
	}
	return used, nil
}

// filled returns fields none of which is empty, for what a template says only
// then.
func filled() Fields {
	f := Fields{MaxPlanSteps: 1}
	v := reflect.ValueOf(&f).Elem()
	for i := range v.NumField() {
		if v.Field(i).Kind() == reflect.String {
			v.Field(i).SetString("text")
		}
	}
	return f
}

func fieldNames() string {
	var names []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Fields]()) {
		names = append(names, "."+f.Name)
	}
	return enumerate(names, " and ")
}

// named gathers the fields that a parsed template names.
type named struct{ fields [][]string }

func (n *named) list(l *parse.ListNode) {
	if l == nil {
		return
	}
	for _, node := range l.Nodes {
		n.node(node)
	}
}

func (n *named) branch(b *parse.BranchNode) {
	n.pipe(b.Pipe)
	n.list(b.List)
	n.list(b.ElseList)
}

func (n *named) pipe(p *parse.PipeNode) {
	if p == nil {
		return
	}
	for _, c := range p.Cmds {
		for _, a := range c.Args {
			n.node(a)
		}
	}
}

func (n *named) node(node parse.Node) {
	switch x := node.(type) {
	case *parse.ActionNode:
		n.pipe(x.Pipe)
	case *parse.PipeNode:
		n.pipe(x)
	case *parse.IfNode:
		n.branch(&x.BranchNode)
	case *parse.WithNode:
		n.branch(&x.BranchNode)
	case *parse.RangeNode:
		n.branch(&x.BranchNode)
	case *parse.TemplateNode:
		n.pipe(x.Pipe)
	case *parse.FieldNode:
		n.fields = append(n.fields, x.Ident)
	case *parse.VariableNode:
		if len(x.Ident) > 1 {
			n.fields = append(n.fields, x.Ident[1:])
		}
	case *parse.ChainNode:
		n.node(x.Node)
		n.fields = append(n.fields, x.Field)
	}
}
