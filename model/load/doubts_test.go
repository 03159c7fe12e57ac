package load

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"pgregory.net/rapid"

	"github.com/fettleops/fettle/model"
)

// doubtful is a random small model: bools with and without a parameter, and
// actions that may undo each other.
func doubtful(t *rapid.T) string {
	atoms := []string{"a", "b", "c", "p(o1)", "p(o2)"}
	inner := append([]string{"p(x)"}, atoms...)
	literal := func(of []string) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			not := rapid.SampledFrom([]string{"", "!"}).Draw(t, "not")
			return not + rapid.SampledFrom(of).Draw(t, "atom")
		})
	}
	condition := rapid.Custom(func(t *rapid.T) string {
		switch rapid.IntRange(0, 7).Draw(t, "form") {
		case 0:
			return literal(inner).Draw(t, "l") + " || " + literal(inner).Draw(t, "r")
		case 1:
			return "all(obj, p(#))"
		case 2:
			return "none(obj, p(#)) && " + literal(inner).Draw(t, "l")
		case 3:
			return "d"
		case 4:
			return fmt.Sprintf("(%s ? %s : %s)", literal(inner).Draw(t, "c"), literal(inner).Draw(t, "l"), literal(inner).Draw(t, "r"))
		}
		return literal(inner).Draw(t, "l")
	})
	list := func(g *rapid.Generator[string], least int, label string) string {
		return `"` + strings.Join(rapid.SliceOfNDistinct(g, least, 2, rapid.ID[string]).Draw(t, label), `", "`) + `"`
	}
	var m strings.Builder
	fmt.Fprintf(&m, "type \"obj\" { objects = [\"o1\", \"o2\"] }\nfluent \"a\" {}\nfluent \"b\" {}\nfluent \"c\" { initial = %t }\nfluent \"p\" { params = { x = obj } }\nfluent \"d\" { derive = %q }\n",
		rapid.Bool().Draw(t, "initial"), rapid.SampledFrom([]string{"a && b", "any(obj, p(#))", "!c"}).Draw(t, "derive"))
	for i := range 4 {
		fmt.Fprintf(&m, "action \"act%d\" {\n  params = { x = obj }\n  precondition = [%s]\n", i, list(condition, 1, "pre"))
		fmt.Fprintf(&m, "  effect { add = [%s] }\n", list(rapid.SampledFrom(inner), 1, "add"))
		if rapid.Bool().Draw(t, "deletes") {
			fmt.Fprintf(&m, "  effect {\n    when = %q\n    del  = [%s]\n  }\n", rapid.SampledFrom([]string{"true", "a", "!p(x)"}).Draw(t, "when"), list(rapid.SampledFrom(inner), 1, "del"))
		}
		fmt.Fprintf(&m, "  undo = \"act%d(x)\"\n}\n", rapid.IntRange(0, 3).Draw(t, "undo"))
	}
	fmt.Fprintf(&m, "goal \"g\" { condition = [%s] }\n", strings.ReplaceAll(list(condition, 1, "goal"), "(x)", "(o1)"))
	fmt.Fprintf(&m, "state \"s\" { facts = [%s] }\n", list(rapid.SampledFrom(atoms), 1, "facts"))
	return m.String()
}

// TestDoubtsAreFounded holds what is said of reachability, of undo and of idle actions to every
// state of small models.
func TestDoubtsAreFounded(t *testing.T) {
	said := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		ld := newLoader(Options{})
		text := doubtful(t)
		ld.parse("m.fettle.hcl", []byte(text))
		ld.build()
		if ld.diags.all.HasErrors() {
			t.Fatalf("%s\n%s", text, told(ld.l, ld.diags.all))
		}
		u := model.NewUniverse(ld.m)
		reached := everyState(u, u.Named(ld.m.States[0]))
		for _, d := range ld.l.Doubts() {
			name := between(d.Summary)
			switch {
			case strings.HasSuffix(d.Summary, "can never apply"):
				said["action"]++
				for _, s := range reached {
					if a := ld.m.Action(name); slices.ContainsFunc(groundings(u, a), func(g model.Ground) bool { return g.Applicable(s, nil) == model.True }) {
						t.Fatalf("%s\n%s applies", text, name)
					}
				}
			case strings.HasSuffix(d.Summary, "changes nothing"):
				said["idle"]++
				for _, s := range reached {
					for _, g := range groundings(u, ld.m.Action(name)) {
						if moves(u, s, g) {
							t.Fatalf("%s\n%s changes something", text, name)
						}
					}
				}
			case strings.HasSuffix(d.Summary, "can never be reached"):
				said["goal"]++
				for _, s := range reached {
					if ld.m.Goal(name).Cond.Eval(s, nil) == model.True {
						t.Fatalf("%s\n%s is reached", text, name)
					}
				}
			case strings.HasPrefix(d.Summary, "The undo of"):
				said["undo"]++
				if undoes(u, ld.m.Action(name), ld.l.Actions[ld.m.Action(name)].Undo) {
					t.Fatalf("%s\n%s is undone: %s", text, name, d.Detail)
				}
			}
		}
	})
	if len(said) < 4 {
		t.Errorf("only this was ever doubted: %v", said)
	}
}

// moves tells whether a step applies in a state and changes it.
func moves(u *model.Universe, s *model.State, g model.Ground) bool {
	var d model.Delta
	before := snapshot(u, s)
	if g.Applicable(s, nil) != model.True || g.Effects(s, &d) != nil {
		return false
	}
	d.Commit(s)
	defer d.Revert(s)
	return snapshot(u, s) != before
}

// between returns what stands in quotes.
func between(s string) string {
	_, s, _ = strings.Cut(s, `"`)
	s, _, _ = strings.Cut(s, `"`)
	return s
}

func groundings(u *model.Universe, a *model.Action) []model.Ground {
	var out []model.Ground
	for args := range u.Instances(a.Params) {
		out = append(out, model.Ground{Action: a, Args: append([]int32(nil), args...)})
	}
	return out
}

// snapshot writes a state of bools.
func snapshot(u *model.Universe, s *model.State) string {
	out := ""
	for _, f := range u.Fluents {
		for a := range u.Atoms(f) {
			if f.Derived == nil {
				out += s.Get(a).Tri().String() + " "
			}
		}
	}
	return out
}

// everyState returns the states that can be reached.
func everyState(u *model.Universe, start *model.State) []*model.State {
	seen := map[string]bool{snapshot(u, start): true}
	all := []*model.State{start}
	for i := 0; i < len(all); i++ {
		for _, a := range u.Actions {
			for _, g := range groundings(u, a) {
				var d model.Delta
				if g.Applicable(all[i], nil) != model.True || g.Effects(all[i], &d) != nil {
					continue
				}
				next := all[i].Clone()
				d.Commit(next)
				if key := snapshot(u, next); !seen[key] {
					seen[key] = true
					all = append(all, next)
				}
			}
		}
	}
	return all
}

// undoes tells whether the undo of an action restores whatever state it was
// applied in, where there is one.
func undoes(u *model.Universe, a *model.Action, undo string) bool {
	var atoms []model.Atom
	for _, f := range u.Fluents {
		if f.Derived == nil {
			atoms = slices.AppendSeq(atoms, u.Atoms(f))
		}
	}
	name, _, _ := strings.Cut(undo, "(")
	applied := false
	for bits := range 1 << len(atoms) {
		s := u.NewState(false)
		for i, atom := range atoms {
			s.Set(atom, model.BoolValue(bits>>i&1 == 1))
		}
		before := snapshot(u, s)
		for _, g := range groundings(u, a) {
			var d model.Delta
			if g.Applicable(s, nil) != model.True || g.Effects(s, &d) != nil {
				continue
			}
			applied = true
			after := s.Clone()
			d.Commit(after)
			back := model.Ground{Action: u.Action(name), Args: g.Args}
			if back.Applicable(after, nil) != model.True || back.Effects(after, &d) != nil {
				return false
			}
			d.Commit(after)
			if snapshot(u, after) != before {
				return false
			}
		}
	}
	return applied
}

func TestTheModelOfTheLanguageIsDoubtedOfItsToggleAlone(t *testing.T) {
	l, _ := Model("testdata/whole", Options{})
	var got []string
	for _, d := range l.Doubts() {
		got = append(got, d.Summary)
	}
	if want := []string{"No fluent has a source", `Fluent "capacity" could be derived`}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Much that could be tried is not, and what is found is found among many
// objects too.
func TestDoubtsAmongManyObjects(t *testing.T) {
	text := large(20000) + `
action "start" {
  params       = { s = service }
  precondition = ["!up(s)"]
  effect { add = ["up(s)"] }
  undo = "start(s)"
}
fluent "pair" { params = { s = service, t = service, u = service } }
goal "g" { condition = ["all(service, up(#) && load(#) > 0)", "pair('web-1:9100', 'web-1:9100', 'web-1:9100')"] }
`
	l := loadText(t, text, Options{})
	var got []string
	for _, d := range l.Doubts() {
		if d.Severity != hcl.DiagWarning {
			t.Errorf("%s is no warning", d.Summary)
		}
		got = append(got, d.Summary+": "+d.Detail)
	}
	want := []string{
		`Goal "g" can never be reached: Nothing makes pair true: it is not observed, no effect does it, and no state, test or initial value has it so.`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
