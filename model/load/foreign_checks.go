package load

import (
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

func isText(ld *loader, attrs hcl.Attributes, name string) { ld.text(attrs, name) }

// isName checks a string that says something.
func isName(ld *loader, attrs hcl.Attributes, name string) {
	if v, ok := ld.value(attrs[name], cty.String, "a string"); ok && strings.TrimSpace(v.AsString()) == "" {
		ld.errorAt(attrs[name].Expr.Range(), "Empty "+name, "%s cannot be empty.", name)
	}
}

// isSecret checks a string that may come from an environment in which it is
// not set: without a key nobody can ask, but everything else can be done.
func isSecret(ld *loader, attrs hcl.Attributes, name string) {
	_, diags := attrs[name].Expr.Value(ld.l.Eval)
	for _, d := range diags {
		if x, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](d); ok {
			var unset *unsetError
			if errors.As(x.FunctionCallError(), &unset) {
				return
			}
		}
	}
	ld.text(attrs, name)
}

func isURL(ld *loader, attrs hcl.Attributes, name string) {
	v, ok := ld.value(attrs[name], cty.String, "a URL")
	if !ok {
		return
	}
	s := v.AsString()
	rest, secure := strings.CutPrefix(s, "https://")
	if !secure {
		var plain bool
		if rest, plain = strings.CutPrefix(s, "http://"); !plain {
			rest = ""
		}
	}
	if host, _, _ := strings.Cut(rest, "/"); host == "" || strings.ContainsAny(s, " \t\r\n") {
		ld.errorAt(attrs[name].Expr.Range(), "Invalid URL", "%s takes a URL of the form http://host/path or https://host/path.", name)
	}
}

func isFlag(ld *loader, attrs hcl.Attributes, name string) { ld.flag(attrs, name, false) }

func isTexts(ld *loader, attrs hcl.Attributes, name string) { ld.texts(attrs[name]) }

func isTextMap(ld *loader, attrs hcl.Attributes, name string) {
	const what = `a map of strings, as in { name = "text" }`
	v, ok := ld.value(attrs[name], cty.Map(cty.String), what)
	if !ok {
		return
	}
	for _, e := range v.AsValueMap() {
		if e.IsNull() {
			ld.errorAt(attrs[name].Expr.Range(), "Wrong type", "%s takes %s; null is none.", name, what)
			return
		}
	}
}

// isTextOrMap checks one text, or several by name.
func isTextOrMap(ld *loader, attrs hcl.Attributes, name string) {
	const what = "a string, or a map of strings"
	v, ok := ld.value(attrs[name], cty.DynamicPseudoType, what)
	switch {
	case !ok:
	case v.Type().IsPrimitiveType():
		isName(ld, attrs, name)
	case v.Type().IsObjectType(), v.Type().IsMapType():
		isTextMap(ld, attrs, name)
	default:
		ld.errorAt(attrs[name].Expr.Range(), "Wrong type", "%s takes %s.", name, what)
	}
}

func isObject(ld *loader, attrs hcl.Attributes, name string) {
	v, ok := ld.value(attrs[name], cty.DynamicPseudoType, "an object")
	if ok && !v.Type().IsObjectType() && !v.Type().IsMapType() {
		ld.errorAt(attrs[name].Expr.Range(), "Wrong type", "%s takes an object, as in { name = value }.", name)
	}
}

// isCommand checks a program and its arguments.
func isCommand(ld *loader, attrs hcl.Attributes, name string) {
	const what = `a list, as in ["./program", "argument"]`
	e := attrs[name].Expr
	if v, diags := e.Value(ld.l.Eval); !diags.HasErrors() && v.Type() == cty.String {
		ld.errorAt(e.Range(), "Wrong type", "%s takes %s: no shell takes a text apart.", name, what)
		return
	}
	n := len(ld.diags.all)
	if argv := ld.texts(attrs[name]); len(ld.diags.all) == n && (len(argv) == 0 || argv[0] == "") {
		if v, diags := e.Value(ld.l.Eval); !diags.HasErrors() && v.IsWhollyKnown() {
			ld.errorAt(e.Range(), "No program", "%s takes %s.", name, what)
		}
	}
}

func span(least time.Duration) check {
	return func(ld *loader, attrs hcl.Attributes, name string) { ld.duration(attrs, name, least, least) }
}

func integer(least, most int) check {
	return func(ld *loader, attrs hcl.Attributes, name string) { ld.integer(attrs, name, least, least, most) }
}

// isAmount checks a number that is not negative.
func isAmount(ld *loader, attrs hcl.Attributes, name string) {
	v, ok := ld.value(attrs[name], cty.Number, "a number")
	if !ok {
		return
	}
	switch n, _ := v.AsBigFloat().Float64(); {
	case n < 0:
		ld.errorAt(attrs[name].Expr.Range(), "Out of range", "%s takes a number of at least 0.", name)
	case math.IsInf(n, 0):
		ld.errorAt(attrs[name].Expr.Range(), "Out of range", "%s is too large.", name)
	}
}

func words(of ...string) check {
	return func(ld *loader, attrs hcl.Attributes, name string) { ld.oneOf(attrs, name, of...) }
}

// someOf checks a list of words.
func someOf(of ...string) check {
	return func(ld *loader, attrs hcl.Attributes, name string) {
		exprs, diags := hcl.ExprList(attrs[name].Expr)
		if diags.HasErrors() { // computed
			for _, w := range ld.texts(attrs[name]) {
				ld.word(attrs[name].Expr.Range(), name, w, of)
			}
			return
		}
		for _, e := range exprs {
			if v, ok := ld.evaluate(e, cty.String, name, "a list of strings"); ok {
				ld.word(e.Range(), name, v.AsString(), of)
			}
		}
	}
}

func (ld *loader) word(rng hcl.Range, name, w string, of []string) {
	if slices.Contains(of, w) {
		return
	}
	ld.errorAt(rng, "Unknown word", "%s lists words out of %s, not %q.%s", name, quotedList(of), w, ld.near(w, of))
}

// afterFits reports after where the occasion that it is about is not told.
func afterFits(ld *loader, attrs hcl.Attributes, _ hcl.Range) {
	if attrs["after"] == nil || attrs["on"] == nil {
		return
	}
	if on := ld.texts(attrs["on"]); len(on) > 0 && !slices.Contains(on, waitingLong) {
		ld.errorAt(attrs["after"].NameRange, "Nothing to wait for", "after says when a wait is told as %q, which on does not list.", waitingLong)
	}
}
