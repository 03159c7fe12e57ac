package modeltest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/model/load"
)

// some tests of the rich model: enough to kill some mutants, not all.
const some = `
test "two start" {
  goal = "running"
  plan = ["start(api)", "start(db)"]
  expect {
    cost  = 3
    state = { mode = "hot" }
  }
}
test "one is up" {
  facts  = ["up(api)"]
  values = { load = 0, mode = "calm", name = "good" }
  plan   = ["start(api)"]
  expect { conditions = ["!up(api)"] }
}
test "hot" {
  values = { load = 0, mode = "hot", name = "good" }
  goal   = "running"
  expect { unsolvable = true }
}
test "rest" {
  facts  = ["up(api)", "up(db)", "busy(api)"]
  values = { load = 0, mode = "calm", name = "good" }
  plan   = ["rest"]
  expect { kind = "precondition" }
}
test "move" {
  facts  = ["spare(n1)"]
  values = { "at(api)" = "n2", name = "good" }
  plan   = ["move(api, n1)", "lose"]
  expect { state = { "at(api)" = "n1", "at(db)" = "n1" } }
}
test "not to be told" {
  values = { load = 0, name = "good" }
  goal   = "running"
  expect { unobservable = true }
}
`

// TestMutantsAreThoseOfTheText promises that a mutant made in memory fares as
// the model does whose text lacks that part: the twin edits the file at the
// place that is told, and loads it.
func TestMutantsAreThoseOfTheText(t *testing.T) {
	read := func(path string) string {
		data, err := os.ReadFile(filepath.Join("../../examples", path))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	for name, files := range map[string][2]string{
		"rich": {rich, some},
		"two whens": {`
fluent "hot" {}
fluent "late" {}
fluent "loud" {}
fluent "dark" {}
action "start" {
  effect {
    add  = ["loud"]
    when = "hot"
  }
  effect {
    add  = ["dark"]
    when = "late"
  }
}
`, `
test "hot alone" {
  facts = ["hot"]
  plan  = ["start"]
  expect { state = { loud = true, dark = false } }
}
`},
		"no tests":    {rich, "test \"t\" {\n  plan = []\n  expect { valid = true }\n}\n"},
		"classic":     {read("classic/classic.fettle.hcl"), read("classic/classic.fettletest.hcl")},
		"fleet":       {read("fleet/fleet.fettle.hcl"), read("fleet/fleet.fettletest.hcl")},
		"coordinated": {read("coordinated/coordinated.fettle.hcl"), read("coordinated/coordinated.fettletest.hcl")},
	} {
		t.Run(name, func(t *testing.T) {
			again := func() (*Suite, error) { return suiteOf(t, files[0], files[1]), nil }
			m, err := Mutate(t.Context(), again, find)
			if err != nil {
				t.Fatal(err)
			}
			var got, want []string
			for _, g := range m.Survived {
				got = append(got, fmt.Sprintf("%d:%d %s", g.Range.Start.Line, g.Range.Start.Column, g.What))
			}
			s := suiteOf(t, files[0], files[1])
			all := mutants(s)
			if len(all) != m.Total {
				t.Errorf("%d mutants tried of %d", m.Total, len(all))
			}
			for _, mu := range all {
				twin := suiteOf(t, leftOut(t, files[0], mu), files[1])
				if !slices.ContainsFunc(twin.results(t), func(r Result) bool { return !r.Passed() }) {
					want = append(want, fmt.Sprintf("%d:%d %s", mu.Range.Start.Line, mu.Range.Start.Column, mu.What))
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("survived:\n%s\nby the text:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if name == "rich" && (len(got) == 0 || len(got) == m.Total) {
				t.Errorf("%d of %d survived: that tells nothing", len(got), m.Total)
			}
		})
	}
}

// leftOut edits a model's text as the mutant is described: a condition becomes
// true, an item of a list or a map goes with the comma behind it.
func leftOut(t *testing.T, text string, m mutant) string {
	t.Helper()
	from, to := m.Range.Start.Byte, m.Range.End.Byte
	switch {
	case strings.Contains(m.What, "precondition"):
		return text[:from] + "true" + text[to:]
	case strings.Contains(m.What, "whether or not"):
		return text[:from] + `"true"` + text[to:]
	}
	for to < len(text) && strings.ContainsRune(" ,", rune(text[to])) {
		to++
	}
	return text[:from] + text[to:]
}

func TestMutantsInTheirOrder(t *testing.T) {
	var got []string
	for _, m := range mutants(suiteOf(t, rich, "")) {
		got = append(got, fmt.Sprintf("%d:%d %s", m.Range.Start.Line, m.Range.Start.Column, m.What))
	}
	want := []string{
		"20:20 action start without its precondition !up(s)",
		"20:30 action start without its precondition load < 3",
		"20:42 action start without its precondition mode != 'hot'",
		"23:17 action start without its effect add up(s)",
		"24:18 action start without its effect increase load by 1",
		"27:14 action start without its effect set mode = 'hot'",
		"28:12 action start with its effect whether or not load >= 1",
		"32:33 action rest without its precondition up(#)",
		"32:42 action rest without its precondition !busy(#)",
		"34:15 action rest without its effect del busy(s)",
		"36:14 action rest with its effect whether or not warm",
		"39:18 action rest without its effect set mode = 'calm'",
		`39:35 action rest without its effect set at(api) = at(db)`,
		"40:18 action rest without its effect decrease load by 2",
		"45:20 action move without its precondition spare(n)",
		"47:13 action move without its effect set at(s) = n",
		"48:12 action move without its effect del spare(n)",
		"52:20 action lose without its effect set at(db) = at(api)",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestAMutantLeavesNoTrace promises that a model is as before once a mutant was
// tried.
func TestAMutantLeavesNoTrace(t *testing.T) {
	s := suiteOf(t, rich, some)
	text := func() string {
		var b strings.Builder
		u := model.NewUniverse(s.Loaded.Model)
		for _, m := range mutants(s) {
			b.WriteString(m.What + "\n")
		}
		for _, a := range u.Actions {
			for _, e := range a.Precondition.Conjuncts {
				b.WriteString(e.Text(u, nil) + "\n")
			}
			for _, e := range a.Effects {
				fmt.Fprintf(&b, "%v %s %p\n", e.Op, e.Fluent.Name, e.When)
			}
		}
		return b.String()
	}
	before := text()
	for _, m := range mutants(s) {
		undo := m.apply()
		if text() == before {
			t.Errorf("%s: nothing changed", m.What)
		}
		undo()
		if after := text(); after != before {
			t.Fatalf("%s: before:\n%s\nafter:\n%s", m.What, before, after)
		}
	}
}

// TestWithoutLeavesOutOneConjunct promises that exactly one goes, whichever.
func TestWithoutLeavesOutOneConjunct(t *testing.T) {
	s := suiteOf(t, strings.Replace(rich, `["all(service, up(#) && !busy(#))"]`,
		`["warm && load < 3", "all(service, up(#) && all(node, spare(#) && (warm || up(api))) && !busy(#))", "all(service, up(#))"]`, 1), "")
	u := model.NewUniverse(s.Loaded.Model)
	whole := s.Loaded.Model.Action("rest").Precondition
	list := func(c *model.Cond) []string {
		var out []string
		for _, e := range c.Conjuncts {
			for _, k := range load.Conjuncts(e) {
				out = append(out, k.Text(u, nil))
			}
		}
		return out
	}
	all := list(whole)
	if len(all) != 7 {
		t.Fatalf("%q", all)
	}
	for i := range all {
		want := slices.Delete(slices.Clone(all), i, i+1)
		if got := list(without(whole, i)); !slices.Equal(got, want) {
			t.Errorf("without %d: %q, want %q", i, got, want)
		}
	}
	if got := list(whole); !slices.Equal(got, all) {
		t.Errorf("the condition itself was changed: %q", got)
	}
}
