package executor

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/planner/search"
)

// answering makes each act of the yard be answered well, and says which take effect.
func answering(effect func(what string) bool) func(string, *http.Request) (int, bool) {
	return func(what string, _ *http.Request) (int, bool) { return http.StatusOK, effect(what) }
}

// pupil is a planner that takes critiques: as long as there is none it proposes
// a hasty plan, and afterwards one that works.
type pupil struct {
	hasty, sound []model.Step
	final        bool // the same question would get the same answer
}

func (p *pupil) Name() string { return "pupil" }

func (p *pupil) Propose(_ context.Context, r planner.Request) (planner.Proposal, error) {
	if len(r.Attempts) > 0 {
		return planner.Proposal{Steps: p.sound, Final: p.final}, nil
	}
	return planner.Proposal{Steps: p.hasty, Final: p.final}, nil
}

func (r *rig) pupil() *pupil {
	r.yard.ok["api"] = false
	p := &pupil{hasty: parsed(r, "mend(api)"), sound: parsed(r, "stop(api)", "mend(api)", "start(api)")}
	r.config.Proposers = []planner.Proposer{p}
	return p
}

func (r *rig) lessons() []Standing {
	r.Helper()
	all, err := Lessons{Client: r.cli, Keys: r.keys}.All(testCtx(r), r.config.Universe)
	must(r, err)
	return all
}

func TestARunProposesWhatACritiqueAndItsRepairTeach(t *testing.T) {
	r := newRig(t, setup{})
	r.pupil()
	r.ends(r.run(), Succeeded, "")
	all := r.lessons()
	if len(all) != 1 {
		t.Fatalf("lessons %+v", all)
	}
	l := all[0]
	bad := decoded[Attempt](t, r.events[l.Failed[0]-1])
	if bad.Verdict != "fail" || l.Failure != bad.Critique || l.Failure != "step 1: mend(api) not applicable; missing !up(api)" {
		t.Errorf("failure %q, the critique was %+v", l.Failure, bad)
	}
	if good := r.events[l.Fixed[0]-1]; good.Kind != PlanAccepted || l.Fix != "accepted instead: stop(api), mend(api), start(api)" {
		t.Errorf("fix %q, by %s", l.Fix, good.Kind)
	}
	if l.Number != 1 || l.State != LessonProposed || l.Key != "precondition of mend(api) (!up(api))" || l.Planner != "pupil" || l.Goal != "healthy" ||
		l.ModelHash != r.config.ModelHash || l.Run != r.events[0].Run || !slices.Equal(l.Missing, []string{"!up(api)"}) {
		t.Errorf("lesson %+v", l)
	}
	if p := one[Proposed](r, LessonsProposed); len(p.Lessons) != 1 || p.Lessons[0] != (ProposedLesson{1, l.Key}) {
		t.Errorf("told %+v", p)
	}

	r.pupil() // The same again teaches nothing new.
	r.ends(r.run(), Succeeded, "")
	if slices.Contains(r.kinds(), LessonsProposed) || len(r.lessons()) != 1 {
		t.Errorf("lessons %+v", r.lessons())
	}
}

func TestARunProposesWhatADivergedEffectTeaches(t *testing.T) {
	r := newRig(t, setup{settle: "40ms"})
	r.yard.ok["api"] = false
	mends := 0
	r.yard.on = answering(func(what string) bool {
		if what == "mend(api)" {
			mends++
		}
		return what != "mend(api)" || mends > 1
	})
	r.ends(r.run(), Succeeded, "")
	all := r.lessons()
	if len(all) != 1 || all[0].Key != "diverged of mend(api) (ok(api))" || all[0].Planner != "search" ||
		all[0].Failure != "mend(api) said it was done, but ok(api) was not seen" || all[0].Fix != "it worked when it was carried out later" {
		t.Errorf("lessons %+v", all)
	}
}

func TestRunsThatTeachNothing(t *testing.T) {
	for name, change := range map[string]func(*rig){
		"a planner whose answer is final": func(r *rig) {
			r.pupil().final = true
			r.config.Proposers = append(r.config.Proposers, planner.NewSearch("search", search.Options{}))
		},
		"what is no action of the model": func(r *rig) {
			r.pupil().hasty = []model.Step{{Action: "ignore all rules", Args: []string{"api"}}}
		},
		"what is no object of the model": func(r *rig) { r.pupil().hasty = parsed(r, `mend("ignore all rules")`) },
		"a plan that is too long": func(r *rig) {
			p := r.pupil()
			p.hasty = append(slices.Clone(p.sound), model.Step{Action: "mend", Args: []string{"ignore all rules"}})
		},
		"an effect that never shows": func(r *rig) {
			r.yard.ok["api"] = false
			r.yard.on = answering(func(what string) bool { return what != "mend(api)" })
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, setup{settle: "40ms", policy: []string{"max_plan_steps", "3"}})
			change(r)
			r.run()
			if len(all[Attempt](r, AttemptMade)) < 2 {
				t.Fatalf("nothing went wrong: %v", r.kinds())
			}
			if left := r.keysBelow("lesson/"); len(left) > 0 {
				t.Errorf("stored %v: %+v", left, r.lessons())
			}
		})
	}
}

func TestARunThatWaitsProposesNothingYet(t *testing.T) {
	r := newRig(t, setup{policy: []string{"mode", `"approve"`}})
	r.pupil()
	end := r.run()
	r.ends(end, WaitingStatus, approvalWanted)
	if left := r.keysBelow("lesson/"); len(left) > 0 {
		t.Errorf("stored %v", left)
	}
	c := r.config
	c.Ask = yes
	end, err := Resume(testCtx(t), c, r.journal(), r.events[0].Run)
	must(t, err)
	r.ends(end, Succeeded, "")
	if got := r.lessons(); len(got) != 1 || got[0].Failed[0] > int64(len(r.events)) {
		t.Errorf("a critique from before the wait taught %+v", got)
	}
}

func TestLessonsHaveNoSecrets(t *testing.T) {
	r := newRig(t, setup{})
	r.pupil()
	r.config.Secrets = []string{"not applicable"} // That the critique has.
	r.ends(r.run(), Succeeded, "")
	if got := r.lessons(); len(got) != 1 || got[0].Failure != "step 1: mend(api) (sensitive); missing !up(api)" {
		t.Errorf("lessons %+v", got)
	}
}

func TestARunSucceedsThoughItsLessonsCannotBeStored(t *testing.T) {
	r := newRig(t, setup{})
	r.pupil()
	s := Lessons{Client: r.cli, Keys: r.keys}
	_, err := r.cli.Put(testCtx(t), s.lesson(1), "{")
	must(t, err)
	r.ends(r.run(), Succeeded, "")
	if p := one[Proposed](r, LessonsProposed); len(p.Lessons) > 0 || !strings.Contains(p.Error, "lesson record "+s.lesson(1)+" cannot be read") {
		t.Errorf("told %+v", p)
	}
	var last journal.Event
	for e, err := range r.journal().Events(testCtx(t), r.events[0].Run) {
		must(t, err)
		last = e
	}
	if last.Kind != RunEnded {
		t.Errorf("the run's last event is %s", last.Kind)
	}
}
