package main

import (
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/model"
)

// learn records a run of the house whose planner was criticised twice and then
// planned well, and stores what it teaches as the end of a run does. It returns
// what prompts say of it by now.
func (h *house) learn(critique string) (run string, prompts func() []string) {
	h.Helper()
	a := &app{out: io.Discard, err: io.Discard}
	l, err := a.load(h.dir)
	h.must(err)
	h.Cleanup(func() { h.must(l.world.Close()) })
	s, err := a.openStore(h.Context(), l.Loaded)
	h.must(err)
	h.Cleanup(func() { h.must(s.Close()) })
	r, err := s.journal.Start(h.Context(), executor.NewHead("entry", l.Scope, "host", 1))
	h.must(err)
	bad := executor.Attempt{Round: 1, Attempt: 1, Planner: "main", Verdict: "fail", Kind: "precondition", Critique: critique, Steps: []string{"unlock(back)", "do as I say"}}
	bad.Violation = &executor.Violation{Action: "unlock(back)", Missing: []string{"!open(back)"}, Key: "precondition of unlock(back) (!open(back))"}
	prose := executor.Attempt{Round: 1, Attempt: 2, Planner: "main", Verdict: "fail", Kind: "syntax", Critique: `line 1: "do as I say" is not an action`}
	good := executor.Plan{Round: 1, Planner: "main", Steps: []executor.PlannedStep{{Step: 1, Action: "unlock(front)"}}}
	h.must(r.Append(h.Context(), executor.RunStarted, executor.Started{Goal: "entry", ModelHash: l.Hash}))
	h.must(r.Append(h.Context(), executor.AttemptMade, bad))
	h.must(r.Append(h.Context(), executor.AttemptMade, prose))
	h.must(r.Append(h.Context(), executor.PlanAccepted, good))
	var events []journal.Event
	for e, err := range r.Events(h.Context()) {
		h.must(err)
		events = append(events, e)
	}
	u := model.NewUniverse(l.Model)
	lessons, err := executor.Learn(u, l.Hash, events)
	h.must(err)
	k := a.locker(s)
	h.Cleanup(func() { h.must(k.Close()) })
	_, err = executor.Lessons{Client: s.Client(), Keys: k.Keys()}.Propose(h.Context(), lessons)
	h.must(err)
	return r.ID(), func() (texts []string) {
		approved, err := executor.ApprovedLessons(h.Context(), s.Client(), s.scope, u, "entry")
		h.must(err)
		for _, l := range approved {
			texts = append(texts, l.Action+": "+l.Text)
		}
		return texts
	}
}

func TestALessonFromACritiqueIsShownAndApproved(t *testing.T) {
	h := newHouse(t, "10s")
	run, prompts := h.learn("step 1: unlock(back) not applicable;\n\x1b[2Jmissing !open(back)")
	want := "^1  proposed  goal entry  precondition of unlock\\(back\\) \\(!open\\(back\\)\\)\n" +
		"    failed  step 1: unlock\\(back\\) not applicable; \uFFFD\\[2Jmissing !open\\(back\\)\n" +
		"    fix     accepted instead: unlock\\(front\\)\n" +
		"    from    run " + run + ", events 2, 4, planner main, \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d\n$"
	if out := h.fettle(exitDone, "lessons"); !regexp.MustCompile(want).MatchString(out) {
		t.Errorf("said\n%swant\n%s", out, want)
	}
	if got := prompts(); len(got) > 0 {
		t.Errorf("prompts say %q before anybody has approved", got)
	}
	h.fettle(exitDone, "lessons", "approve", "1")
	if got := prompts(); len(got) != 1 || !strings.HasPrefix(got[0], "unlock(back): step 1: unlock(back) not applicable;") ||
		!strings.HasSuffix(got[0], "; accepted instead: unlock(front)") || strings.Contains(got[0], "do as I say") {
		t.Errorf("prompts say %q", got)
	}
	h.fettle(exitDone, "lessons", "reject", "1")
	if got := prompts(); len(got) > 0 {
		t.Errorf("prompts say %q after it was rejected", got)
	}
}

// What decides cannot even see lessons, nor what asks a model.
func TestLessonsReachNeitherValidatorNorPolicy(t *testing.T) {
	deps := packages(t)
	for _, name := range []string{"model", "policy", "validator", "planner", "planner/search"} {
		got, ok := deps[module+name]
		if !ok {
			t.Errorf("package %s is not there", name)
		}
		for _, far := range []string{"executor", "journal", "planner/llm/prompt"} {
			if slices.Contains(got, module+far) {
				t.Errorf("%s depends on %s, where lessons are", name, far)
			}
		}
	}
	if !slices.Contains(deps[module+"executor"], module+"planner/llm/prompt") {
		t.Error("lessons are elsewhere by now: this test looks in the wrong place")
	}
}
