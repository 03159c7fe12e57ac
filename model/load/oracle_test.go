package load

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/expr-lang/expr"
	"pgregory.net/rapid"

	"github.com/fettleops/fettle/model"
)

// The vocabulary of random expressions: a number, a text, an object-valued and
// an enum fluent, a subtype, and names that need quotes.
const vocabulary = `
type "service" { objects = ["api", "web-1:9100"] }
type "web" {
  parent  = service
  objects = ["front", "api"]
}
type "node" { objects = ["n1", "n2"] }
fluent "up" { params = { p = service } }
fluent "runs" { params = { p = service, q = node } }
fluent "served" { params = { p = web } }
fluent "mode" {
  params = { p = service }
  type   = enum("on", "off")
}
fluent "load" {
  params = { p = service }
  type   = number
}
fluent "host" {
  params = { p = service }
  type   = node
}
fluent "version" { type = string }
fluent "frozen" {}
fluent "both" {
  params = { p = service, q = node }
  derive = "up(p) && (runs(p, q) || host(p) == q)"
}
`

// objectsOf are the objects in the order of the universe's members.
var objectsOf = map[string][]string{
	"service": {"api", "web-1:9100", "front"}, "web": {"front", "api"}, "node": {"n1", "n2"},
}

// writer writes random expressions in the language.
type writer struct {
	rng   *rand.Rand
	bound []bound // names of objects at hand: parameters, let variables
	here  string  // type of #, empty outside quantifiers
	depth int     // quantifiers around
	lets  int
}

type bound struct{ name, typ string }

func (w *writer) pick(n int) int { return w.rng.IntN(n) }

func (w *writer) object(typ string, size int) string {
	var c []string
	for _, b := range w.bound {
		if b.typ == typ || typ == "service" && b.typ == "web" {
			c = append(c, b.name)
		}
	}
	if w.here == typ || typ == "service" && w.here == "web" {
		c = append(c, "#", "#")
	}
	for _, o := range objectsOf[typ] {
		c = append(c, "'"+o+"'")
		if identifier(o) {
			c = append(c, o)
		}
	}
	if typ == "node" && size > 0 {
		c = append(c, "host("+w.object("service", size-1)+")", "("+w.boolean(size-1)+" ? n1 : host("+w.object("service", size-1)+"))")
	}
	return c[w.pick(len(c))]
}

func (w *writer) over(size int, body func(int) string) (typ, text string) {
	typ = []string{"service", "web", "node"}[w.pick(3)]
	here, n := w.here, len(w.bound)
	w.here = typ
	w.depth++
	prefix := ""
	if w.pick(2) == 0 {
		w.lets++
		name := fmt.Sprintf("v%d", w.lets)
		prefix = "let " + name + " = #; "
		w.bound = append(w.bound, bound{name, typ})
	}
	text = prefix + body(size)
	if w.pick(3) == 0 {
		text = "{" + text + "}"
	}
	w.here, w.bound = here, w.bound[:n]
	w.depth--
	return typ, text
}

func (w *writer) boolean(size int) string {
	atoms := 6
	if size <= 0 {
		return w.atom(w.pick(atoms), 0)
	}
	size--
	switch k := w.pick(22); {
	case k < atoms:
		return w.atom(k, size)
	case k < 8:
		return "(" + w.boolean(size) + []string{" && ", " and "}[w.pick(2)] + w.boolean(size) + ")"
	case k < 10:
		return "(" + w.boolean(size) + []string{" || ", " or "}[w.pick(2)] + w.boolean(size) + ")"
	case k < 12:
		return []string{"!(", "not ("}[w.pick(2)] + w.boolean(size) + ")"
	case k < 14:
		op := []string{" < ", " <= ", " > ", " >= ", " == ", " != "}[w.pick(6)]
		return "(" + w.number(size) + op + w.number(size) + ")"
	case k == 14:
		return "(" + w.boolean(size) + " ? " + w.boolean(size) + " : " + w.boolean(size) + ")"
	case k == 15:
		return "(" + w.boolean(size) + []string{" == ", " != "}[w.pick(2)] + w.boolean(size) + ")"
	case k == 16:
		return "(" + w.text() + []string{" contains ", " startsWith ", " endsWith ", " not contains "}[w.pick(4)] + w.text() + ")"
	case k == 17:
		return "(" + w.number(size) + " in [" + w.number(size) + ", " + w.number(0) + "])"
	case k == 18:
		return "(" + w.object("service", size) + []string{" in ", " not in "}[w.pick(2)] + "web)"
	case w.depth < maxClosure:
		name := []string{"all", "any", "none", "one"}[w.pick(4)]
		typ, body := w.over(size, w.boolean)
		return name + "(" + typ + ", " + body + ")"
	}
	return "frozen"
}

func (w *writer) atom(k, size int) string {
	switch k {
	case 0:
		return "up(" + w.object("service", size) + ")"
	case 1:
		return "both(" + w.object("service", size) + ", " + w.object("node", size) + ")"
	case 2:
		return "(mode(" + w.object("service", size) + []string{") == 'on'", ") in ['off', 'on']", ") != 'off'"}[w.pick(3)] + ")"
	case 3:
		return "(" + w.object("node", size) + []string{" == ", " != "}[w.pick(2)] + w.object("node", size) + ")"
	case 4:
		return "(version matches '^v[0-9]' || " + w.text() + " == " + w.text() + ")"
	}
	return []string{"frozen", "true", "false", "served(front)"}[w.pick(4)]
}

func (w *writer) text() string { return []string{"version", "'v1'", "'1'", "'x'"}[w.pick(4)] }

func (w *writer) number(size int) string {
	if size <= 0 {
		return []string{"0", "1", "2.5", "load(" + w.object("service", 0) + ")", "len(service)", "len(version)"}[w.pick(6)]
	}
	size--
	switch k := 10 - w.pick(12); {
	case k < 0:
		return w.number(0)
	case k < 4:
		return "(" + w.number(size) + []string{" + ", " - ", " * "}[w.pick(3)] + w.number(size) + ")"
	case k == 4:
		return "(" + w.number(size) + " / (abs(" + w.number(size) + ") + 1))"
	case k == 5:
		return "-" + "(" + w.number(size) + ")"
	case k == 6:
		return "(" + w.boolean(size) + " ? " + w.number(size) + " : " + w.number(size) + ")"
	case k == 7:
		return "load(" + w.object("service", size) + ")"
	case k == 8 && w.depth < maxClosure:
		typ, body := w.over(size, w.number)
		return []string{"min", "max"}[w.pick(2)] + "(map(" + typ + ", " + body + "))"
	case k == 9 && w.depth < maxClosure:
		typ, body := w.over(size, w.boolean)
		return "count(" + typ + ", " + body + ")"
	case k == 10 && w.depth < maxClosure:
		typ, body := w.over(size, w.number)
		return "sum(" + typ + ", " + body + ")"
	}
	return w.number(0)
}

// sentence draws a condition over the parameters s and n, and lowers it.
func sentence(t *rapid.T) (text string, f *model.Fluent, u *model.Universe) {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)) // rapid's own draws prefer the simplest by far
	w := &writer{rng: rng, bound: []bound{{"s", "service"}, {"n", "node"}}}
	text = w.boolean(rapid.IntRange(0, 5).Draw(t, "size"))
	f, u, errs := lowered(text)
	if errs != "" {
		if strings.Contains(errs, "too large") || strings.Contains(errs, "too long") {
			t.Skip("larger than conditions may be")
		}
		t.Fatalf("%s\n%s", text, errs)
	}
	return text, f, u
}

// lowered returns the derived fluent that the condition defines.
func lowered(text string) (*model.Fluent, *model.Universe, string) {
	ld := newLoader(Options{})
	ld.parse("m.fettle.hcl", []byte(vocabulary+"fluent \"it\" {\n  params = { s = service, n = node }\n  derive = \""+text+"\"\n}\n"))
	ld.build()
	if len(ld.diags.all) > 0 {
		return nil, nil, told(ld.l, ld.diags.all)
	}
	return ld.m.Fluent("it"), model.NewUniverse(ld.m), ""
}

// randomState draws a value for every atom; unknown ones where allowed.
func randomState(t *rapid.T, u *model.Universe, unknown bool) *model.State {
	s := u.NewState(false)
	for _, f := range u.Fluents {
		if f.Derived != nil {
			continue
		}
		for a := range u.Atoms(f) {
			if !unknown || rapid.IntRange(0, 2).Draw(t, "known") > 0 {
				s.Set(a, randomValue(t, u, f))
			}
		}
	}
	return s
}

func randomValue(t *rapid.T, u *model.Universe, f *model.Fluent) model.Value {
	switch f.Kind {
	case model.KindBool:
		return model.BoolValue(rapid.Bool().Draw(t, f.Name))
	case model.KindNumber:
		return model.NumberValue(float64(rapid.IntRange(-2, 3).Draw(t, f.Name)))
	case model.KindString:
		return model.StringValue(rapid.SampledFrom([]string{"", "v1", "x1é"}).Draw(t, f.Name))
	}
	return model.ObjectValue(rapid.SampledFrom(u.Objects(f.Type)).Draw(t, f.Name))
}

// environment offers a fully known state to expr's VM.
func environment(u *model.Universe, s *model.State, names map[string]string) map[string]any {
	at := func(fluent string, args ...string) model.Value {
		f := u.Fluent(fluent)
		a := model.Atom{Fluent: f}
		for i, n := range args {
			o, ok := u.Find(f.Params[i].Type, n)
			if !ok {
				panic(fmt.Sprintf("%s(%v)", fluent, args))
			}
			a.Args = append(a.Args, o)
		}
		return s.Get(a)
	}
	is := func(v model.Value) bool { return v.Tri() == model.True }
	env := map[string]any{
		"up":     func(p string) bool { return is(at("up", p)) },
		"runs":   func(p, q string) bool { return is(at("runs", p, q)) },
		"both":   func(p, q string) bool { return is(at("both", p, q)) },
		"served": func(p string) bool { return is(at("served", p)) },
		"mode":   func(p string) string { return u.Fluent("mode").Type.NameOf(at("mode", p).Object()) },
		"host":   func(p string) string { return u.Fluent("host").Type.NameOf(at("host", p).Object()) },
		"load":   func(p string) float64 { n, _ := at("load", p).Number(); return n },
		"frozen": is(at("frozen")),
	}
	env["version"], _ = at("version").Text()
	for typ, objects := range objectsOf {
		env[typ] = objects
		for _, o := range objects {
			env[o] = o
		}
	}
	for k, v := range names {
		env[k] = v
	}
	return env
}

func TestLoweredConditionsMeanWhatExprSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, f, u := sentence(t)
		s := randomState(t, u, false)
		for args := range u.Instances(f.Params) {
			env := make([]int32, f.Slots)
			copy(env, args)
			names := u.Names(f.Params, args)
			want, err := expr.Eval(text, environment(u, s, map[string]string{"s": names[0], "n": names[1]}))
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if got := f.Derived.Eval(s, env); got != model.Bool(want.(bool)) {
				t.Fatalf("%s with %v: got %s, expr says %v", text, names, got, want)
			}
		}
	})
}

func TestNormalFormKeepsTheValueOnUnknownStates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, f, u := sentence(t)
		s := randomState(t, u, true)
		normal := f.Derived.NNF()
		cond := model.NewCond(f.Slots, f.Derived)
		for args := range u.Instances(f.Params) {
			env := make([]int32, f.Slots)
			copy(env, args)
			want := f.Derived.Eval(s, env)
			if got := normal.Eval(s, env); got != want {
				t.Fatalf("%s: %s, in normal form %s", text, want, got)
			}
			if got := cond.Eval(s, args); got != want {
				t.Fatalf("%s: %s, split into conjuncts %s", text, want, got)
			}
			if fails := cond.Explain(s, args); (len(fails) == 0) != (want == model.True) {
				t.Fatalf("%s: %s, explained by %v", text, want, fails)
			}
		}
	})
}

func TestWhatIsKnownHoldsInEveryCompletion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, f, u := sentence(t)
		s := randomState(t, u, true)
		env := make([]int32, f.Slots)
		known := f.Derived.Eval(s, env)
		lo, hi := math.Inf(-1), math.Inf(1)
		var numeric *model.Expr
		f.Derived.Walk(func(e *model.Expr) bool {
			if numeric == nil && e.Kind == model.KindNumber && !insideQuantifier(f.Derived, e) {
				numeric = e
			}
			return numeric == nil
		})
		if numeric != nil {
			lo, hi = numeric.Number(s, env)
		}
		for range 8 {
			c := completion(t, u, s)
			if got := f.Derived.Eval(c, env); known != model.Unknown && got != known {
				t.Fatalf("%s: %s over unknowns, %s in a completion", text, known, got)
			}
			if numeric != nil {
				if l, h := numeric.Number(c, env); l == h && (l < lo-1e-9 || l > hi+1e-9) {
					t.Fatalf("%s: %s is %g in a completion, not within %g to %g", text, numeric.Text(u, env), l, lo, hi)
				}
			}
		}
	})
}

// insideQuantifier tells whether e reads a slot that a quantifier of x binds.
func insideQuantifier(x, e *model.Expr) bool {
	binds := map[int]bool{}
	x.Walk(func(q *model.Expr) bool {
		if q.Over != nil && q.Op != model.OpIsA {
			binds[q.Slot] = true
		}
		return true
	})
	e.Walk(func(q *model.Expr) bool {
		if q.Over != nil && q.Op != model.OpIsA {
			delete(binds, q.Slot)
		}
		return true
	})
	inside := false
	e.Walk(func(q *model.Expr) bool {
		inside = inside || q.Op == model.OpSlot && binds[q.Slot]
		return true
	})
	return inside
}

// completion gives every unknown atom a value.
func completion(t *rapid.T, u *model.Universe, s *model.State) *model.State {
	c := s.Clone()
	for _, f := range u.Fluents {
		if f.Derived != nil {
			continue
		}
		for a := range u.Atoms(f) {
			if !s.Get(a).Known() {
				c.Set(a, randomValue(t, u, f))
			}
		}
	}
	return c
}
