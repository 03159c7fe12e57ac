package executor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/planner/llm/prompt"
)

// school is a store of lessons in a scope of its own.
type school struct {
	*testing.T
	Lessons
	u *model.Universe
}

func newSchool(t *testing.T) *school {
	scope := store.Scope(fmt.Sprintf("%s-%d", t.Name(), scopes.Add(1)))
	return &school{t, Lessons{Client: store.Client(), Keys: lease.Keys(scope)}, universe(t, lampModel)}
}

// of makes a lesson of an action, under the school's model.
func (s *school) of(action string, missing ...string) Lesson {
	s.Helper()
	def, ok := Definition(s.u, "precondition", action, "light")
	if !ok {
		s.Fatalf("no action %q", action)
	}
	return Lesson{
		Goal: "light", Kind: "precondition", Action: action, Missing: missing, Key: boundedKey("precondition", action, missing),
		Failure: "failure of " + action, Fix: "fix", Definition: def, Run: "R", Failed: []int64{1}, Fixed: []int64{2}, At: time.Unix(1, 0).UTC(),
	}
}

func (s *school) propose(ls ...Lesson) (numbers []int64) {
	s.Helper()
	added, err := s.Propose(testCtx(s), ls)
	must(s, err)
	for _, l := range added {
		numbers = append(numbers, l.Number)
	}
	return numbers
}

func (s *school) decide(n int64, deed LessonDeed, reason string) Ruling {
	s.Helper()
	r, err := s.Decide(testCtx(s), s.u, n, deed, "ann", reason)
	must(s, err)
	return r
}

// stand checks how all lessons stand.
func (s *school) stand(want ...LessonState) {
	s.Helper()
	all, err := s.All(testCtx(s), s.u)
	must(s, err)
	var got []LessonState
	for _, l := range all {
		got = append(got, l.State)
	}
	if !slices.Equal(got, want) {
		s.Errorf("the lessons are %v, want %v", got, want)
	}
}

func (s *school) prompted(goal string) (texts []string) {
	s.Helper()
	got, err := ApprovedLessons(testCtx(s), s.Client, string(s.Keys), s.u, goal)
	must(s, err)
	for _, l := range got {
		texts = append(texts, l.Action)
	}
	return texts
}

// change lets the model's action "on" be another from here on.
func (s *school) change() {
	s.Helper()
	s.u = universe(s, strings.Replace(lampModel, `["ready(l)"]`, `["ready(l)", "!lit(l)"]`, 1))
}

func TestOnlyApprovedLessonsReachAPrompt(t *testing.T) {
	s := newSchool(t)
	if got := s.propose(s.of("on(a)", "ready(a)"), s.of("on(b)", "ready(b)"), s.of("fit(a)")); !slices.Equal(got, []int64{1, 2, 3}) {
		t.Fatalf("numbers %v", got)
	}
	if got := s.prompted("light"); len(got) > 0 {
		t.Errorf("prompts say %v before anybody has approved", got)
	}
	s.decide(1, ApproveLesson, "")
	s.decide(2, RejectLesson, "not so")
	s.decide(3, ApproveLesson, "")
	s.stand(LessonApproved, LessonRejected, LessonApproved)
	if got := s.prompted("light"); !slices.Equal(got, []string{"fit(a)", "on(a)"}) {
		t.Errorf("prompts say %v, want the newest first", got)
	}
	if got := s.prompted("darkness"); len(got) > 0 {
		t.Errorf("prompts for another goal say %v", got)
	}
	got, err := ApprovedLessons(testCtx(t), s.Client, string(s.Keys), s.u, "light")
	must(t, err)
	if want := (prompt.Lesson{Action: "fit(a)", Text: "failure of fit(a); fix"}); got[0] != want {
		t.Errorf("prompts say %+v, want %+v", got[0], want)
	}
	s.decide(1, RejectLesson, "no longer")
	if got := s.prompted("light"); !slices.Equal(got, []string{"fit(a)"}) {
		t.Errorf("prompts say %v after an approval was taken back", got)
	}
}

func TestOneFailureMayTeachSomethingForEachGoal(t *testing.T) {
	s := newSchool(t)
	other := s.of("on(a)")
	other.Goal = "other"
	for _, n := range s.propose(s.of("on(a)"), other) {
		if r := s.decide(n, ApproveLesson, ""); len(r.Superseded) > 0 {
			t.Errorf("lesson %d superseded %v", n, r.Superseded)
		}
	}
	s.stand(LessonApproved, LessonApproved)
}

func TestAPromptHasTheNewestLessons(t *testing.T) {
	s := newSchool(t)
	var ls []Lesson
	for i := range maxPrompted + 2 {
		ls = append(ls, s.of("on(a)", fmt.Sprint(i)))
	}
	for _, n := range s.propose(ls...) {
		s.decide(n, ApproveLesson, "")
	}
	got, err := ApprovedLessons(testCtx(t), s.Client, string(s.Keys), s.u, "light")
	must(t, err)
	if len(got) != maxPrompted {
		t.Errorf("%d lessons", len(got))
	}
}

func TestALessonIsStoredOnceWhateverBecameOfIt(t *testing.T) {
	s := newSchool(t)
	s.propose(s.of("on(a)"))
	s.decide(1, RejectLesson, "")
	again := s.of("on(a)")
	again.Run, again.Failure, again.Planner = "another", "in other words", "other"
	if got := s.propose(again, again); len(got) > 0 {
		t.Errorf("stored again as %v", got)
	}
	other := s.of("on(a)")
	other.Goal = "other"
	if got := s.propose(other); !slices.Equal(got, []int64{2}) {
		t.Errorf("for another goal: %v", got)
	}
}

func TestALessonOfAChangedActionIsStaleAndIsSuperseded(t *testing.T) {
	s := newSchool(t)
	before := s.u
	s.propose(s.of("on(a)"), s.of("on(b)"), s.of("fit(a)"))
	s.decide(1, ApproveLesson, "")
	s.decide(3, ApproveLesson, "")
	s.change()
	s.stand(LessonStale, LessonStale, LessonApproved)
	if got := s.prompted("light"); !slices.Equal(got, []string{"fit(a)"}) {
		t.Errorf("prompts say %v", got)
	}
	_, err := s.Decide(testCtx(t), s.u, 2, ApproveLesson, "ann", "")
	if want := "lesson 2 is stale: action on was changed in the model since; nothing would use it"; err == nil || err.Error() != want {
		t.Errorf("a stale one was approved: %v", err)
	}
	s.propose(s.of("on(a)"))
	if r := s.decide(4, ApproveLesson, ""); r.State != LessonApproved || !slices.Equal(r.Superseded, []int64{1}) {
		t.Errorf("approved %+v", r)
	}
	s.stand(LessonSuperseded, LessonStale, LessonApproved, LessonApproved)
	s.u = before // The model as it was: nothing is lost, and nothing counts by itself.
	s.stand(LessonSuperseded, LessonProposed, LessonApproved, LessonStale)
	if r := s.decide(1, ApproveLesson, ""); !slices.Equal(r.Superseded, []int64{4}) {
		t.Errorf("approved %+v", r)
	}
	s.stand(LessonApproved, LessonProposed, LessonApproved, LessonSuperseded)
}

func TestWhoDecidedWhenAndWhyIsWrittenDown(t *testing.T) {
	s := newSchool(t)
	s.propose(s.of("on(a)"))
	if r := s.decide(1, ApproveLesson, "seen often"); r.Already || len(r.Decisions) != 1 {
		t.Errorf("approved %+v", r)
	}
	if r := s.decide(1, ApproveLesson, "again"); !r.Already || len(r.Decisions) != 1 || r.Decisions[0].Reason != "seen often" {
		t.Errorf("approved again: %+v", r)
	}
	s.decide(1, RejectLesson, "wrong after all")
	all, err := s.All(testCtx(t), s.u)
	must(t, err)
	for i, want := range []string{"1 approve ann seen often", "2 reject ann wrong after all"} {
		d := all[0].Decisions[i]
		if got := fmt.Sprintf("%d %s %s %s", d.Number, d.Deed, d.By, d.Reason); got != want || d.At.IsZero() || d.Host == "" || d.Lesson != 1 {
			t.Errorf("written down: %+v, want %s", d, want)
		}
	}
	if _, err := s.Decide(testCtx(t), s.u, 9, ApproveLesson, "ann", ""); !errors.Is(err, ErrNoLesson) {
		t.Errorf("no such lesson: %v", err)
	}
	s.appended()
}

// appended checks that nothing below the store was ever written twice.
func (s *school) appended() {
	s.Helper()
	resp, err := s.Client.Get(testCtx(s), s.prefix(), clientv3.WithPrefix())
	must(s, err)
	if len(resp.Kvs) == 0 {
		s.Error("nothing is stored")
	}
	for _, kv := range resp.Kvs {
		if kv.Version != 1 {
			s.Errorf("%s was written %d times", kv.Key, kv.Version)
		}
	}
}

func TestManyWhoWriteLessonsAtOnceLoseNone(t *testing.T) {
	s := newSchool(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() { // Each has one of its own, and one that all have.
			if _, err := s.Propose(testCtx(t), []Lesson{s.of("on(a)", fmt.Sprint(i)), s.of("on(a)")}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	all, err := s.All(testCtx(t), s.u)
	must(t, err)
	keys := map[string]bool{}
	for i, l := range all {
		keys[string(l.Key)] = true
		if l.Number != int64(i+1) {
			t.Errorf("lesson %d has the number %d", i+1, l.Number)
		}
	}
	if len(all) != 9 || len(keys) != 9 {
		t.Errorf("%d lessons on %d failures, want 9", len(all), len(keys))
	}
	for _, l := range all {
		wg.Go(func() {
			if _, err := s.Decide(testCtx(t), s.u, l.Number, RejectLesson, "ann", ""); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s.stand(slices.Repeat([]LessonState{LessonRejected}, 9)...)
	s.appended()
}

// Two people, each with another version of the model, approve what they see.
func TestOfTwoLessonsOnOneFailureOneStaysApproved(t *testing.T) {
	s := newSchool(t)
	old := s.u
	s.propose(s.of("on(a)"))
	s.change()
	s.propose(s.of("on(a)"))
	for range 10 {
		var wg sync.WaitGroup
		for n, u := range map[int64]*model.Universe{1: old, 2: s.u} {
			wg.Go(func() {
				if _, err := s.Decide(testCtx(t), u, n, ApproveLesson, "ann", ""); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		all, err := s.All(testCtx(t), s.u)
		must(t, err)
		states := []LessonState{all[0].decided, all[1].decided}
		slices.Sort(states)
		if !slices.Equal(states, []LessonState{LessonApproved, LessonSuperseded}) {
			t.Fatalf("the lessons are %v", states)
		}
	}
	s.appended()
}
