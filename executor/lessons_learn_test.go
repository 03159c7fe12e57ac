package executor

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/model/load"
)

// lampModel is the model that the lessons of these tests are about.
const lampModel = `
type "lamp" { objects = ["a", "b"] }
fluent "bulb" { params = { l = lamp } }
fluent "lit" { params = { l = lamp } }
fluent "ready" {
  params  = { l = lamp }
  derive = "bulb(l) && !lit(l)"
}
invariant "one_lit" {
  condition = "count(lamp, lit(#)) <= 1"
  message   = "one lamp at a time"
}
action "fit" {
  params = { l = lamp }
  effect { add = ["bulb(l)"] }
}
action "on" {
  params       = { l = lamp }
  precondition = ["ready(l)"]
  effect { add = ["lit(l)"] }
}
goal "light" { condition = ["lit(a)"] }
`

func universe(t testing.TB, text string) *model.Universe {
	t.Helper()
	file := filepath.Join(t.TempDir(), "m.fettle.hcl")
	must(t, os.WriteFile(file, []byte(text), 0o600))
	l, diags := load.Model(file, load.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return model.NewUniverse(l.Model)
}

// story writes the events of a run.
type story []journal.Event

func (s *story) tell(kind string, data any) {
	raw, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	n := int64(len(*s) + 1)
	*s = append(*s, journal.Event{Seq: n, Time: time.Unix(n, 0).UTC(), Run: "R", Kind: kind, Data: raw})
}

func (s *story) started() { s.tell(RunStarted, Started{Goal: "light", ModelHash: "m1"}) }

// criticised tells of a plan with a violation.
func (s *story) criticised(round int, kind, action string, missing ...string) {
	s.tell(AttemptMade, Attempt{
		Round: round, Planner: "main", Verdict: "fail", Kind: kind, Critique: kind + " of " + action, Steps: []string{"PROSE"},
		Violation: &Violation{Action: action, Missing: missing, Key: boundedKey(kind, action, missing)},
	})
}

func (s *story) accepted(round int, steps ...string) {
	p := Plan{Round: round, Planner: "other"}
	for i, a := range steps {
		p.Steps = append(p.Steps, PlannedStep{Step: i + 1, Action: a})
	}
	s.tell(PlanAccepted, p)
}

func (s *story) acted(outcome, action string, seen ...Seen) {
	s.tell(StepFinished, Finished{
		StepRef: StepRef{Round: 1, Action: action}, Outcome: outcome, Status: "done", Seen: seen, Message: "PROSE", Tail: "PROSE",
	})
}

func (s *story) looked(missing ...string) {
	o := Observation{}
	for _, m := range missing {
		o.Missing = append(o.Missing, Missing{Condition: m})
	}
	s.tell(Observed, o)
}

func effect(fluent string, value any) Seen {
	s := Seen{Fluent: fluent, Want: true, Value: value, Verified: "observed"}
	if value != true {
		s.Verified = "no"
	}
	return s
}

func TestALessonNeedsAFailureAndItsFixConfirmed(t *testing.T) {
	u := universe(t, lampModel)
	tests := []struct {
		name string
		tell func(*story)
		want []string // key, fix, events
	}{
		{"a critique, and a plan accepted in the same round", func(s *story) {
			s.criticised(1, "precondition", "on(a)", "ready(a)")
			s.accepted(1, "fit(a)", "on(a)")
		}, []string{"precondition of on(a) (ready(a)) | accepted instead: fit(a), on(a) | [2] [3]"}},
		{"one failure that was made twice", func(s *story) {
			s.criticised(1, "precondition", "on(a)", "ready(a)")
			s.criticised(1, "precondition", "on(a)", "ready(a)")
			s.criticised(1, "goal", "", "lit(a)")
			s.accepted(1, "fit(a)", "on(a)")
		}, []string{
			"precondition of on(a) (ready(a)) | accepted instead: fit(a), on(a) | [2 3] [5]",
			"goal (lit(a)) | accepted instead: fit(a), on(a) | [4] [5]",
		}},
		{"a critique alone", func(s *story) { s.criticised(1, "precondition", "on(a)", "ready(a)") }, nil},
		{"a plan accepted before the failure", func(s *story) {
			s.accepted(1, "fit(a)")
			s.criticised(1, "precondition", "on(a)", "ready(a)")
		}, nil},
		{"a plan accepted in another round, and not carried out", func(s *story) {
			s.criticised(1, "precondition", "on(a)", "ready(a)")
			s.accepted(2, "fit(a)", "on(a)")
		}, nil},
		{"the action was carried out in a later round", func(s *story) {
			s.criticised(1, "precondition", "on(a)", "ready(a)")
			s.accepted(2, "fit(a)", "on(a)")
			s.acted(applied, "fit(a)", effect("bulb(a)", true))
			s.acted(applied, "on(a)", effect("lit(a)", true))
		}, []string{"precondition of on(a) (ready(a)) | reached later by: fit(a), on(a) | [2] [5]"}},
		{"it was, but its effects cannot be seen", func(s *story) {
			s.criticised(1, "precondition", "on(a)", "ready(a)")
			s.acted(applied, "on(a)", Seen{Fluent: "lit(a)", Want: true, Value: true, Verified: "assumed"})
		}, nil},
		{"the goal was seen to hold after steps", func(s *story) {
			s.criticised(1, "goal", "", "lit(a)")
			s.acted(applied, "on(a)", effect("lit(a)", true))
			s.looked()
		}, []string{"goal (lit(a)) | reached later by: on(a) | [2] [4]"}},
		{"the goal came to hold by itself", func(s *story) {
			s.acted(applied, "fit(a)", effect("bulb(a)", true))
			s.criticised(1, "goal", "", "lit(a)")
			s.looked()
		}, nil},
		{"the goal does not hold", func(s *story) {
			s.criticised(1, "goal", "", "lit(a)")
			s.acted(applied, "fit(a)", effect("bulb(a)", true))
			s.looked("lit(a)")
		}, nil},
		{"the goal does not hold, for more than there was room for", func(s *story) {
			s.criticised(1, "goal", "", "lit(a)")
			s.acted(applied, "fit(a)", effect("bulb(a)", true))
			s.tell(Observed, Observation{More: 1})
		}, nil},
		{"an action whose lease was lost", func(s *story) {
			s.acted(diverged, "on(a)", effect("lit(a)", false))
			s.acted(unknown, "on(a)", effect("lit(a)", true))
		}, nil},
		{"an effect that did not show, and showed after other steps", func(s *story) {
			s.accepted(1, "on(a)")
			s.acted(diverged, "on(a)", effect("lit(a)", false))
			s.acted(applied, "fit(a)", effect("bulb(a)", true))
			s.acted(applied, "on(a)", effect("lit(a)", true))
		}, []string{"diverged of on(a) (lit(a)) | reached later by: fit(a), on(a) | [3] [5]"}},
		{"the action worked the second time", func(s *story) {
			s.acted(diverged, "on(a)", effect("lit(a)", false))
			s.acted(applied, "on(a)", effect("lit(a)", true))
		}, []string{"diverged of on(a) (lit(a)) | it worked when it was carried out later | [2] [3]"}},
		{"an effect that never showed, though the goal was reached", func(s *story) {
			s.acted(diverged, "fit(a)", effect("bulb(a)", false))
			s.acted(applied, "on(a)", effect("lit(a)", true))
			s.looked()
		}, nil},
		{"an effect of which only a part showed later", func(s *story) {
			s.acted(diverged, "on(a)", effect("lit(a)", false), effect("bulb(a)", false))
			s.acted(applied, "on(a)", effect("lit(a)", true))
		}, nil},
		{"an effect whose opposite showed later", func(s *story) {
			s.acted(diverged, "on(a)", effect("lit(a)", false))
			s.acted(applied, "fit(a)", Seen{Fluent: "lit(a)", Want: false, Value: false, Verified: "observed"})
		}, nil},
		{"an effect that could not be observed", func(s *story) {
			s.acted(diverged, "on(a)", effect("lit(a)", nil))
			s.acted(applied, "on(a)", effect("lit(a)", true))
		}, nil},
		{"an action that failed though its effects were seen", func(s *story) {
			s.acted(diverged, "on(a)", effect("lit(a)", true))
			s.acted(applied, "on(a)", effect("lit(a)", true))
		}, nil},
		{"an attempt that the validator did not judge", func(s *story) {
			s.tell(AttemptMade, Attempt{Round: 1, Planner: "main", Verdict: "fail", Kind: "syntax", Critique: `line 1: "PROSE" is not an action`})
			s.accepted(1, "on(a)")
		}, nil},
		{"an action that the model does not have", func(s *story) {
			s.criticised(1, "precondition", "dance(a)", "lit(a)")
			s.accepted(1, "on(a)")
		}, nil},
		{"another model in between", func(s *story) {
			s.criticised(1, "precondition", "on(a)", "ready(a)")
			s.tell(RunResumed, Resumed{ModelHash: "m2"})
			s.tell(RunResumed, Resumed{ModelHash: "m1"})
			s.accepted(1, "fit(a)", "on(a)")
		}, nil},
		{"the same model, by another process", func(s *story) {
			s.criticised(1, "precondition", "on(a)", "ready(a)")
			s.tell(RunResumed, Resumed{ModelHash: "m1"})
			s.accepted(1, "fit(a)", "on(a)")
		}, []string{"precondition of on(a) (ready(a)) | accepted instead: fit(a), on(a) | [2] [4]"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s story
			s.started()
			tt.tell(&s)
			lessons, err := Learn(u, "m1", s)
			must(t, err)
			var got []string
			for _, l := range lessons {
				got = append(got, fmt.Sprintf("%s | %s | %v %v", l.Key, l.Fix, l.Failed, l.Fixed))
				if l.Goal != "light" || l.ModelHash != "m1" || l.Run != "R" || l.Definition == "" || l.At != time.Unix(l.Fixed[0], 0).UTC() {
					t.Errorf("lesson %+v", l)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("learned\n%q, want\n%q", got, tt.want)
			}
			if other, err := Learn(u, "m2", s); err != nil || len(other) > 0 {
				t.Errorf("under another model: %v, %v", other, err)
			}
		})
	}
}

func TestAnEventThatCannotBeReadIsAnErrorOfLearning(t *testing.T) {
	events := []journal.Event{{Seq: 7, Kind: AttemptMade, Data: json.RawMessage(`{"round": "one"}`)}}
	if _, err := Learn(universe(t, lampModel), "", events); err == nil || !strings.HasPrefix(err.Error(), "event 7 (attempt): cannot be read: ") {
		t.Errorf("got %v", err)
	}
}

// chapter is one event of a random run.
var chapters = map[string]func(*rapid.T, *story){
	"critique": func(t *rapid.T, s *story) {
		s.criticised(round(t), rapid.SampledFrom([]string{"precondition", "invariant", "policy"}).Draw(t, "kind"), ground(t), "ready(a)")
	},
	"goal": func(t *rapid.T, s *story) { s.criticised(round(t), "goal", "", "lit(a)") },
	"prose": func(t *rapid.T, s *story) {
		s.tell(AttemptMade, Attempt{Round: round(t), Planner: "main", Verdict: "fail", Kind: "unknown_action", Critique: "PROSE", Steps: []string{"PROSE"}})
	},
	"plan": func(t *rapid.T, s *story) { s.accepted(round(t), ground(t)) },
	"act":  func(t *rapid.T, s *story) { s.acted(applied, ground(t), effect("lit(a)", true)) },
	"miss": func(t *rapid.T, s *story) {
		s.acted(diverged, ground(t), effect("lit(a)", rapid.Bool().Draw(t, "seen")))
	},
	"fail": func(t *rapid.T, s *story) { s.acted(notApplied, ground(t), effect("lit(a)", false)) },
	"look": func(t *rapid.T, s *story) {
		if rapid.Bool().Draw(t, "holds") {
			s.looked()
		} else {
			s.looked("lit(a)")
		}
	},
}

func round(t *rapid.T) int { return rapid.IntRange(1, 2).Draw(t, "round") }
func ground(t *rapid.T) string {
	return rapid.SampledFrom([]string{"on(a)", "fit(a)", "on(b)", "dance(a)"}).Draw(t, "action")
}

// Each lesson is founded on what its events say, whatever happened around them:
// the test looks these up by themselves.
func TestLessonsAreFoundedOnTheirEvents(t *testing.T) {
	u := universe(t, lampModel)
	names := []string{"critique", "goal", "prose", "plan", "act", "miss", "fail", "look"}
	learned := 0
	rapid.Check(t, func(t *rapid.T) {
		var s story
		s.started()
		for range rapid.IntRange(0, 14).Draw(t, "events") {
			chapters[rapid.SampledFrom(names).Draw(t, "what")](t, &s)
		}
		lessons, err := Learn(u, "m1", s)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Learn(u, "m1", s)
		if err != nil || !reflect.DeepEqual(lessons, again) {
			t.Fatalf("the same events gave %+v, then %+v, %v", lessons, again, err)
		}
		raw, err := json.Marshal(lessons)
		if err != nil || strings.Contains(string(raw), "PROSE") {
			t.Fatalf("what was written by others is in a lesson: %s, %v", raw, err)
		}
		keys := map[string]bool{}
		for _, l := range lessons {
			if keys[string(l.Key)] {
				t.Fatalf("%s was learned twice", l.Key)
			}
			keys[string(l.Key)] = true
			founded(t, s, l)
			learned++
		}
	})
	if learned == 0 {
		t.Error("nothing was ever learned")
	}
}

func founded(t *rapid.T, s story, l Lesson) {
	fix := s[l.Fixed[0]-1]
	var failing journal.Event
	for _, n := range l.Failed {
		failing = s[n-1]
		if n >= fix.Seq {
			t.Fatalf("%+v was mended before it failed", l)
		}
	}
	switch {
	case l.Kind == diverged && failing.Kind == StepFinished && fix.Kind == StepFinished:
		if !strings.Contains(string(failing.Data), `"verified":"no"`) || !strings.Contains(string(fix.Data), `"outcome":"applied"`) && !strings.Contains(string(fix.Data), `"value":true`) {
			t.Fatalf("%+v rests on %s and %s", l, failing.Data, fix.Data)
		}
	case l.Kind != diverged && failing.Kind == AttemptMade && strings.Contains(string(failing.Data), `"violation"`):
		var a, p struct{ Round int }
		if json.Unmarshal(failing.Data, &a) != nil || json.Unmarshal(fix.Data, &p) != nil {
			t.Fatal("an event cannot be read")
		}
		ok := fix.Kind == PlanAccepted && a.Round == p.Round || fix.Kind == Observed && !strings.Contains(string(fix.Data), `"missing"`) ||
			fix.Kind == StepFinished && strings.Contains(string(fix.Data), fmt.Sprintf(`"action":%q`, l.Action))
		if !ok {
			t.Fatalf("%+v was mended by %s %s", l, fix.Kind, fix.Data)
		}
	default:
		t.Fatalf("%+v rests on %s and %s", l, failing.Kind, fix.Kind)
	}
}

func TestTextsOfLessonsAreBounded(t *testing.T) {
	long := strings.Repeat("ä", 3000)
	var many []string
	for i := range 40 {
		many = append(many, fmt.Sprintf("fit(%d)", i))
	}
	var s story
	s.started()
	s.tell(AttemptMade, Attempt{Round: 1, Verdict: "fail", Kind: "precondition", Critique: long, Violation: violationOf("on(a)", many)})
	s.accepted(1, many...)
	lessons, err := Learn(universe(t, lampModel), "m1", s)
	must(t, err)
	if len(lessons) != 1 {
		t.Fatalf("learned %+v", lessons)
	}
	l := lessons[0]
	if len(l.Failure) > maxSentence+len("…") || !strings.HasSuffix(l.Failure, "ä…") {
		t.Errorf("failure of %d bytes: …%s", len(l.Failure), l.Failure[len(l.Failure)-10:])
	}
	if !strings.HasPrefix(l.Fix, "accepted instead: fit(0), fit(1), ") || !strings.HasSuffix(l.Fix, "fit(11), and 28 more") {
		t.Errorf("fix %q", l.Fix)
	}
	if got := reachedBy("on(a)", many); !strings.HasPrefix(got, "reached later by: 28 others, fit(28), ") || !strings.HasSuffix(got, "fit(39)") {
		t.Errorf("fix %q", got)
	}
	s = nil
	s.started()
	for i := range 2 * maxLearned {
		s.criticised(1, "precondition", "on(a)", fmt.Sprint(i))
	}
	s.accepted(1, "on(a)")
	if lessons, err = Learn(universe(t, lampModel), "m1", s); err != nil || len(lessons) != maxLearned || lessons[0].Missing[0] != "0" {
		t.Errorf("learned %d lessons, %v", len(lessons), err)
	}
	if k := boundedKey("goal", "", []string{long}); k == boundedKey("goal", "", []string{long + "x"}) || len(k) > 100 {
		t.Errorf("key %q", k)
	}
}

func violationOf(action string, missing []string) *Violation {
	return &Violation{Action: action, Missing: missing, Key: boundedKey("precondition", action, missing)}
}

func TestADefinitionIsWhatTheModelSaysOfTheAction(t *testing.T) {
	def := func(text, kind, action string) string {
		d, ok := Definition(universe(t, text), kind, action, "light")
		if !ok {
			t.Fatalf("no definition of %q", action)
		}
		return d
	}
	for _, tt := range []struct {
		what, old, with string
		kind, action    string
		changes         bool
	}{
		{"a precondition", `precondition = ["ready(l)"]`, `precondition = ["ready(l)", "!lit(l)"]`, "precondition", "on(a)", true},
		{"an effect", `effect { add = ["lit(l)"] }`, "effect {\n  add = [\"lit(l)\"]\n  del = [\"bulb(l)\"]\n}", "precondition", "on(a)", true},
		{"a derived fluent that it reads", `"bulb(l) && !lit(l)"`, `"bulb(l)"`, "precondition", "on(a)", true},
		{"another action", `effect { add = ["bulb(l)"] }`, "effect {\n  add = [\"bulb(l)\"]\n  del = [\"lit(l)\"]\n}", "precondition", "on(a)", false},
		{"its doc", `action "on" {`, "action \"on\" {\n  doc = \"lights it\"", "precondition", "on(a)", false},
		{"its cost", `action "on" {`, "action \"on\" {\n  cost = 5", "precondition", "on(a)", false},
		{"an invariant that it did not break", `<= 1"`, `<= 2"`, "precondition", "on(a)", false},
		{"an invariant that it broke", `<= 1"`, `<= 2"`, "invariant", "on(a)", true},
		{"the goal", `["lit(a)"]`, `["lit(b)"]`, "goal", "", true},
		{"the goal, of an action", `["lit(a)"]`, `["lit(b)"]`, "precondition", "on(a)", false},
		{"an action, of the goal", `precondition = ["ready(l)"]`, `precondition = ["bulb(l)"]`, "goal", "", false},
	} {
		changed := strings.Replace(lampModel, tt.old, tt.with, 1)
		if changed == lampModel {
			t.Fatalf("%s: nothing was changed", tt.what)
		}
		if got := def(changed, tt.kind, tt.action) != def(lampModel, tt.kind, tt.action); got != tt.changes {
			t.Errorf("%s changed: is the definition another? %v, want %v", tt.what, got, tt.changes)
		}
	}
	if _, ok := Definition(universe(t, lampModel), "precondition", "off(a)", "light"); ok {
		t.Error("an action that is not in the model has a definition")
	}
	if _, ok := Definition(universe(t, lampModel), "goal", "", "darkness"); ok {
		t.Error("a goal that is not in the model has a definition")
	}
}
