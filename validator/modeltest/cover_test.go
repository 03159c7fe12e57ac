package modeltest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// report writes coverage in one line a group, gaps below it.
func report(c *Coverage) string {
	var b strings.Builder
	for _, g := range c.Groups {
		fmt.Fprintf(&b, "%s %d/%d %g%%\n", g.Name, g.Covered, g.Total, g.Percent())
		for _, m := range g.Missed {
			fmt.Fprintf(&b, "  %s:%d:%d %s\n", filepath.Base(m.Range.Filename), m.Range.Start.Line, m.Range.Start.Column, m.What)
		}
	}
	return b.String()
}

const uncovered = `
actions 0/4 0%
  m.fettle.hcl:18:1 action start: no test carries it out
  m.fettle.hcl:31:1 action rest: no test carries it out
  m.fettle.hcl:43:1 action move: no test carries it out
  m.fettle.hcl:51:1 action lose: no test carries it out
conditional effects 0/4 0%
  m.fettle.hcl:28:12 action start: no test has it carried out when load >= 1
  m.fettle.hcl:28:12 action start: no test has it carried out when load >= 1 does not hold
  m.fettle.hcl:36:14 action rest: no test has it carried out when warm
  m.fettle.hcl:36:14 action rest: no test has it carried out when warm does not hold
preconditions 0/6 0%
  m.fettle.hcl:20:20 action start: no test expects !up(s) to fail
  m.fettle.hcl:20:30 action start: no test expects load < 3 to fail
  m.fettle.hcl:20:42 action start: no test expects mode != 'hot' to fail
  m.fettle.hcl:32:33 action rest: no test expects up(#) to fail
  m.fettle.hcl:32:42 action rest: no test expects !busy(#) to fail
  m.fettle.hcl:45:20 action move: no test expects spare(n) to fail
invariants 0/3 0%
  m.fettle.hcl:55:16 invariant bounded: no test expects load <= 2 to fail
  m.fettle.hcl:55:29 invariant bounded: no test expects mode != 'hot' || !warm to fail
  m.fettle.hcl:59:16 invariant from_the_start: no test expects name != 'bad' to fail
goals 0/3 0%
  m.fettle.hcl:63:32 goal running: no test expects all_up to fail
  m.fettle.hcl:63:42 goal running: no test expects load <= 2 to fail
  m.fettle.hcl:66:17 goal one_up: no test expects up(s) to fail
`

func TestCoverageNamesWhatIsNotExercised(t *testing.T) {
	s := suiteOf(t, rich, "")
	if got, want := report(s.Cover(nil)), strings.TrimPrefix(uncovered, "\n"); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// TestATestCovers promises what each test covers, and that it covers nothing
// else: what it covers is what is no longer missed.
func TestATestCovers(t *testing.T) {
	for _, tt := range []struct {
		name, test string
		want       []string // places of what is covered
	}{
		{"an action that is carried out, and that its effect did not apply", `
  plan = ["start(api)"]
  expect { valid = true }`, []string{"18:1", "28:12 does not hold"}},
		{"in every step", `
  goal = "running"
  expect { valid = true }`, []string{"18:1", "28:12", "28:12 does not hold"}},
		{"nothing where the test fails", `
  plan = ["start(api)"]
  expect { steps = 2 }`, nil},
		{"not the action of the violating step, nor its effects", `
  values = { load = 1, mode = "hot", name = "good" }
  plan   = ["start(api)"]
  expect { valid = false }`, []string{"20:42"}},
		{"every conjunct that is missing, unknown ones too", `
  values = { load = 3, name = "good" }
  facts  = ["up(api)"]
  plan   = ["start(api)"]
  expect { valid = false }`, []string{"20:20", "20:30", "20:42"}},
		{"the conjuncts within all", `
  facts  = ["busy(db)", "up(api)", "up(db)"]
  values = { name = "good" }
  plan   = ["rest"]
  expect { step = 1 }`, []string{"32:42"}},
		{"a condition under forall", `
  facts  = ["up(api)", "up(db)"]
  values = { name = "good", load = 2, mode = "hot" }
  plan   = ["rest"]
  expect { valid = true }`, []string{"31:1", "36:14 does not hold"}},
		{"no condition that is unknown", `
  facts   = ["up(api)", "up(db)"]
  values  = { name = "good", load = 2, mode = "calm" }
  unknown = ["warm"]
  plan    = ["rest"]
  expect { valid = true }`, []string{"31:1"}},
		{"one part of an invariant", `
  facts  = ["warm"]
  values = { load = 1, mode = "calm", name = "good" }
  plan   = ["start(api)"]
  expect { kind = "invariant" }`, []string{"55:29"}},
		{"what must hold from the start", `
  values = { name = "bad" }
  plan   = []
  expect { kind = "invariant" }`, []string{"59:16"}},
		{"the goal's conjuncts", `
  values = { load = 3, name = "good" }
  goal   = "running"
  plan   = []
  expect { kind = "goal" }`, []string{"63:32", "63:42"}},
		{"nothing by a violation without conditions", `
  plan = ["start(apj)"]
  expect { kind = "unknown_object" }`, nil},
		{"nothing by a goal that has no plan", `
  values = { load = 3, mode = "calm", name = "good" }
  goal   = "running"
  expect { unsolvable = true }`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := suiteOf(t, rich, "test \"t\" {"+tt.test+"\n}\n")
			missed := report(s.Cover(s.results(t)))
			var got []string
			for _, line := range strings.Split(uncovered, "\n") {
				place, what, is := strings.Cut(strings.TrimPrefix(line, "  m.fettle.hcl:"), " ")
				if !is || !strings.HasPrefix(line, "  ") || strings.Contains(missed, line+"\n") {
					continue
				}
				if strings.HasSuffix(what, "does not hold") {
					place += " does not hold"
				}
				got = append(got, place)
			}
			if strings.Join(got, ", ") != strings.Join(tt.want, ", ") {
				t.Errorf("covered %q, want %q\n%s", got, tt.want, missed)
			}
		})
	}
}

func TestAHundredPercentIsSaidOfAllAlone(t *testing.T) {
	for _, tt := range []struct {
		part, whole int
		want        float64
	}{{1999, 2000, 99.9}, {2000, 2000, 100}, {0, 0, 100}, {1, 3, 33.3}, {0, 5, 0}} {
		if got := percent(tt.part, tt.whole); got != tt.want {
			t.Errorf("%d of %d: %g%%, want %g%%", tt.part, tt.whole, got, tt.want)
		}
	}
}

// TestAConditionIsCountedOnceForItsBlock promises that the items of a block
// share its condition, and that each object of a forall is looked at.
func TestAConditionIsCountedOnceForItsBlock(t *testing.T) {
	s := suiteOf(t, `
type "service" { objects = ["api", "db"] }
fluent "busy" { params = { s = service } }
fluent "rested" { params = { s = service } }
action "rest" {
  effect {
    del    = ["busy(s)"]
    add    = ["rested(s)"]
    forall = { s = service }
    when   = "busy(s)"
  }
}
`, `
test "one of two" {
  facts = ["busy(api)"]
  plan  = ["rest"]
  expect { state = { "rested(api)" = true, "rested(db)" = false } }
}`)
	g := s.Cover(s.results(t)).Groups[1]
	if g.Covered != 2 || g.Total != 2 {
		t.Errorf("%d of %d: %v", g.Covered, g.Total, g.Missed)
	}
}
