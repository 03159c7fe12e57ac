package world

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/fettleops/fettle/model"
)

// rawName marks text that contains the name of a parameter's object as it is.
// Names may come from discovery, so they must not change what a URL or an
// argument means; urlencode takes the mark away.
type rawName struct{ param string }

// urlencode makes a text safe as one segment or one query value of a URL.
var urlencode = function.New(&function.Spec{
	Description: "Escapes a text for use as a segment or a query value of a URL.",
	Params:      []function.Parameter{{Name: "text", Type: cty.String, AllowMarked: true}},
	Type:        function.StaticReturnType(cty.String),
	Impl: func(args []cty.Value, ret cty.Type) (cty.Value, error) {
		v, marks := args[0].Unmark()
		if !v.IsKnown() {
			return cty.UnknownVal(ret), nil
		}
		kept := cty.NewValueMarks()
		for m := range marks {
			if _, raw := m.(rawName); !raw {
				kept[m] = struct{}{}
			}
		}
		return cty.StringVal(encode(v.AsString())).WithMarks(kept), nil
	},
})

// encode escapes everything but letters, digits and -._~, and also a segment
// that would otherwise mean this or the upper folder.
func encode(s string) string {
	if s == "." || s == ".." {
		return strings.ReplaceAll(s, ".", "%2E")
	}
	return strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
}

// withFunctions returns a context for bodies, with urlencode.
func withFunctions(parent *hcl.EvalContext) *hcl.EvalContext {
	c := &hcl.EvalContext{}
	if parent != nil {
		c = parent.NewChild()
	}
	c.Functions = map[string]function.Function{"urlencode": urlencode}
	return c
}

// ground evaluates a body's expressions for given objects.
type ground struct {
	outer *hcl.EvalContext
	names map[string]string // by parameter
	ctx   *hcl.EvalContext  // with the parameters; nil until it is asked for
}

// ground binds parameters to objects. An argument below zero leaves its
// parameter unbound.
func (w *World) ground(u *model.Universe, params []model.Param, args []int32) *ground {
	g := &ground{outer: w.eval, names: make(map[string]string, len(params))}
	for i, p := range params {
		if args[i] >= 0 {
			g.names[p.Name] = u.Name(p.Type, args[i])
		}
	}
	return g
}

// context is where the parameters have their objects. It is made when it is
// asked for: where one answer serves all objects, most are never looked at.
func (g *ground) context() *hcl.EvalContext {
	if g.ctx == nil {
		g.ctx = g.outer.NewChild()
		g.ctx.Variables = make(map[string]cty.Value, len(g.names))
		for param, name := range g.names {
			g.ctx.Variables[param] = cty.StringVal(name).Mark(rawName{param})
		}
	}
	return g.ctx
}

// value evaluates an expression to a type; the marks say which parameters it
// was made of.
func (g *ground) value(e hcl.Expression, want cty.Type) (cty.Value, cty.ValueMarks, error) {
	v, diags := e.Value(g.context())
	if diags.HasErrors() {
		i := slices.IndexFunc(diags, func(d *hcl.Diagnostic) bool { return d.Severity == hcl.DiagError })
		return cty.NilVal, nil, fmt.Errorf("line %d: %s: %s", e.Range().Start.Line, diags[i].Summary, diags[i].Detail)
	}
	v, marks := v.UnmarkDeep()
	v, err := convert.Convert(v, want)
	switch {
	case err != nil:
		return cty.NilVal, nil, fmt.Errorf("line %d: %w", e.Range().Start.Line, err)
	case v.IsNull():
		return cty.NilVal, nil, fmt.Errorf("line %d: the value is null", e.Range().Start.Line)
	case !v.IsWhollyKnown():
		return cty.NilVal, nil, fmt.Errorf("line %d: the value is not known", e.Range().Start.Line)
	}
	return v, marks, nil
}

// text evaluates an expression to a text; nil gives "".
func (g *ground) text(e hcl.Expression) (string, error) {
	if e == nil {
		return "", nil
	}
	v, _, err := g.value(e, cty.String)
	if err != nil {
		return "", err
	}
	return v.AsString(), nil
}

// texts evaluates an expression to a map of texts; nil gives none.
func (g *ground) texts(e hcl.Expression) (map[string]string, error) {
	if e == nil {
		return nil, nil
	}
	v, _, err := g.value(e, cty.Map(cty.String))
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for k, t := range v.AsValueMap() {
		if t.IsNull() {
			return nil, fmt.Errorf("line %d: the value of %q is null", e.Range().Start.Line, k)
		}
		out[k] = t.AsString()
	}
	return out, nil
}

// url evaluates an expression to a URL. It refuses an object's name that would
// change what the URL means.
func (g *ground) url(e hcl.Expression) (string, error) {
	v, marks, err := g.value(e, cty.String)
	if err != nil {
		return "", err
	}
	s := v.AsString()
	for m := range marks {
		p, ok := m.(rawName)
		if !ok {
			continue
		}
		if n := g.names[p.param]; !plain(n) && strings.Contains(s, n) {
			return "", &misfitError{
				question: shownURL(strings.ReplaceAll(s, n, encode(n))),
				why:      fmt.Sprintf("the name %q does not fit into a URL as it is; write urlencode(%s) in the url", n, p.param),
			}
		}
	}
	return s, checkURL(s)
}

// misfitError refuses an object's name where it would change what is asked or
// done.
type misfitError struct{ question, why string }

// Error says why, and how to mend it.
func (e *misfitError) Error() string { return e.why }

// plain tells whether a name stands for itself anywhere in a URL.
func plain(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:"
	return name != "" && name != "." && name != ".." && strings.Trim(name, letters) == ""
}

func checkURL(s string) error {
	u, err := url.Parse(s)
	if err != nil {
		return fmt.Errorf("%q is not a URL of the form http://host/path or https://host/path", s)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%q is not a URL of the form http://host/path or https://host/path", u.Redacted())
	}
	return nil
}

// argv evaluates an expression to a program and its arguments. It refuses an
// object's name that a program would take for an option.
func (g *ground) argv(e hcl.Expression) ([]string, error) {
	v, marks, err := g.value(e, cty.List(cty.String))
	if err != nil {
		return nil, err
	}
	var out []string
	for _, a := range v.AsValueSlice() {
		if a.IsNull() {
			return nil, fmt.Errorf("line %d: an argument is null", e.Range().Start.Line)
		}
		out = append(out, a.AsString())
	}
	if len(out) == 0 || out[0] == "" {
		return nil, fmt.Errorf("line %d: the command names no program", e.Range().Start.Line)
	}
	for m := range marks {
		p, ok := m.(rawName)
		if n := g.names[p.param]; ok && strings.HasPrefix(n, "-") {
			for _, a := range out {
				if strings.HasPrefix(a, n) {
					return nil, &misfitError{
						question: commandLine(out),
						why:      fmt.Sprintf("the name %q would be read as an option; put it behind a fixed text, as in \"--name=${%s}\"", n, p.param),
					}
				}
			}
		}
	}
	return out, nil
}
