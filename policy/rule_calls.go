package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/expr-lang/expr/ast"

	"github.com/fettleops/fettle/model"
)

// call reads a call of one of our functions. What says when is written out: it
// is read here, once, and nothing else can become a part of it.
func (r *ruleReader) call(n *ast.CallNode) {
	name := nameOf(n.Callee)
	f, ok := functions[name]
	switch {
	case name == "":
		r.refuse(n, unsuited, "Only functions are called, by their names.")
		return
	case !ok:
		r.unknownFunction(n, name)
		return
	}
	if want := strings.Count(f.usage, "', '") + 1; len(n.Arguments) != want {
		r.refuse(n, unsuited, "%s takes %s: %s.", name, counted(want, "argument"), f.usage)
		return
	}
	r.into.reads[name] = true
	args := n.Arguments
	if name == "times" {
		r.node(args[0])
		if what, fixed := literal(args[0]); fixed {
			r.readable(args[0], what)
		}
		args = args[1:]
	}
	for i, a := range args {
		if _, fixed := literal(a); !fixed {
			r.refuse(a, unsuited, "The arguments of %s are written out, in quotes, as in %s.", name, f.usage)
			args = args[:i]
			break
		}
	}
	r.fixed(n, name, args)
}

func counted(n int, noun string) string {
	if n == 1 {
		return "one " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func (r *ruleReader) readable(n ast.Node, what string) {
	if _, _, err := deedName(what); err != nil {
		r.refuse(n, "Invalid name", "times counts an action, as in times('restart', '1h'), or a ground action, as in times('restart(api)', '1h'): %s.", err)
	}
}

// fixed reads the arguments of a call that are written out, and gives the call
// what they mean.
func (r *ruleReader) fixed(n *ast.CallNode, name string, args []ast.Node) {
	var value any
	ok := true
	for i, a := range args {
		text, _ := literal(a)
		var err error
		switch {
		case name == "times":
			value, err = parseSpan(text)
		case name != "during" || i == 2:
			value, err = parseZone(text)
			r.fixedZone(a, text)
		case i == 0:
			_, err = parseDays(text)
		default:
			_, _, err = parseHours(text)
		}
		if err != nil {
			ok = false
			r.refuse(a, "Invalid "+partOf(name, i), "%s", sentenceOf(err))
		}
	}
	if !ok {
		return
	}
	r.into.asks(name, args, value)
}

// partOf says what an argument that is written out is.
func partOf(name string, i int) string {
	switch {
	case name == "times":
		return "span"
	case name == "during" && i < 2:
		return [...]string{"days", "hours"}[i]
	}
	return "time zone"
}

func (r *ruleReader) fixedZone(n ast.Node, name string) {
	if zone := fixedZones[name]; zone != "" {
		r.warn(n, "Zone without summer time", "%s never changes its clocks. If the time of a place is meant, name the place: %q.", name, zone)
	}
}

// asks notes which times a condition depends on, to find when it changes.
func (c *condition) asks(name string, args []ast.Node, value any) {
	switch v := value.(type) {
	case time.Duration:
		c.spans = append(c.spans, v)
	case *time.Location:
		if name == "during" {
			if w, ok := windowOf(args); ok {
				c.windows = append(c.windows, w)
			}
			return
		}
		c.zones = append(c.zones, v)
		c.hourly = c.hourly || name == "hour"
	}
}

// windowOf reads the arguments of during; false where they cannot be read.
func windowOf(args []ast.Node) (w dayWindow, ok bool) {
	if len(args) != 3 {
		return w, false
	}
	days, _ := literal(args[0])
	hours, _ := literal(args[1])
	zone, _ := literal(args[2])
	var errs [3]error
	w.days, errs[0] = parseDays(days)
	w.start, w.end, errs[1] = parseHours(hours)
	w.zone, errs[2] = parseZone(zone)
	return w, errs == [3]error{}
}

// parseSpan reads how far back the history is looked at.
func parseSpan(text string) (time.Duration, error) {
	d, err := parseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%q is no span of time; write it as in \"30m\", \"1h\" or \"7d\"", model.Clip(text))
	}
	return d, nil
}

// deedName reads the name of an action or a ground action, and tells whether it
// is a ground action with arguments.
func deedName(what string) (name string, ground bool, err error) {
	name, args, err := model.ParseAtom(what)
	if err != nil {
		return "", false, fmt.Errorf("%q names no action: %w", model.Clip(what), err)
	}
	return model.FormatAtom(name, args...), len(args) > 0, nil
}

// risks are the words for the risk of an action. One whose model tells none has
// "", which may be asked for too.
var risks = []string{"low", "medium", "high"}

// compared finds texts that something of the language is compared with, and
// never equals.
func (r *ruleReader) compared(n *ast.BinaryNode) {
	if n.Operator != "==" && n.Operator != "!=" && n.Operator != "in" {
		return
	}
	for _, pair := range [][2]ast.Node{{n.Left, n.Right}, {n.Right, n.Left}} {
		if nameOf(pair[0]) == "risk" {
			r.oneOf("risk", risks, pair[1])
		} else if c, ok := pair[0].(*ast.CallNode); ok && nameOf(c.Callee) == "weekday" {
			r.oneOf("weekday", slices.Concat(weekdays[1:], weekdays[:1]), pair[1])
		}
	}
}

func (r *ruleReader) oneOf(what string, of []string, n ast.Node) {
	for _, l := range literals(n) {
		if slices.Contains(of, l.Value) || what == "risk" && l.Value == "" {
			continue
		}
		detail := fmt.Sprintf("It is one of %s.", strings.Join(of, ", "))
		if near := model.Nearest(l.Value, of); near != "" {
			detail += fmt.Sprintf(" Did you mean %q?", near)
		}
		r.refuse(l, fmt.Sprintf("Unknown %s %q", what, model.Clip(l.Value)), "%s", detail)
	}
}

// literals are the texts that a node is: one, or those in a list that is
// written out.
func literals(n ast.Node) []*ast.StringNode {
	switch n := n.(type) {
	case *ast.StringNode:
		return []*ast.StringNode{n}
	case *ast.ArrayNode:
		var out []*ast.StringNode
		for _, e := range n.Nodes {
			if s, ok := e.(*ast.StringNode); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

// sentenceOf makes a sentence of an error.
func sentenceOf(err error) string {
	s := capital(err.Error())
	if strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
