package executor

import (
	"net/http"
	"strings"
	"testing"

	"github.com/fettleops/fettle/model"
)

// noted is the fleet in which a service is to be noted before it is stopped,
// which nothing can observe.
var noted = strings.Replace(fleetModel, `precondition = ["up(s)"]`, `precondition = ["up(s)", "noted(s)"]`, 1) + `
fluent "noted" {
  params  = { s = service }
  initial = false
}
action "note" {
  params = { s = service }
  effect { add = ["noted(s)"] }
  timeout = "20s"
  run "http" {
    url = "{{yard}}/note/${s}"
    fence {
      url    = "{{yard}}/fence"
      reject = [409]
    }
  }
}
goal "known" { condition = ["noted(api)"] }
`

func TestABeliefIsCarriedByEffectsAndKeptAcrossRuns(t *testing.T) {
	r := newRig(t, setup{model: noted})
	r.yard.ok["api"] = false
	end := r.run()
	r.ends(end, Succeeded, "")
	r.did("note(api)", "stop(api)", "mend(api)", "start(api)")
	f := all[Finished](r, StepFinished)[0]
	if f.Outcome != applied || len(f.Seen) != 1 || f.Seen[0].Verified != "assumed" || f.Changed["noted(api)"] != true {
		t.Errorf("finished %+v", f)
	}
	if o := all[Observation](r, Observed)[0]; o.Changed["noted(api)"] != false {
		t.Errorf("the journal does not tell the initial belief: %v", o.Changed)
	}

	next := newRig(t, setup{model: noted, beside: r})
	next.yard.set(func() { next.yard.ok["api"] = false })
	next.ends(next.run(), Succeeded, "")
	next.did("note(api)", "stop(api)", "mend(api)", "start(api)", "stop(api)", "mend(api)", "start(api)")
	if o := all[Observation](next, Observed)[0]; o.Changed["noted(api)"] != true {
		t.Errorf("the next run does not know: %v", o.Changed)
	}
	next.clean()
}

func TestABeliefIsUnknownAfterAnActionOfUnknownOutcome(t *testing.T) {
	r := newRig(t, setup{model: noted, policy: []string{"max_rounds", "1"}})
	r.yard.ok["api"] = false
	r.yard.on = func(_ string, req *http.Request) (int, bool) {
		r.revoke()
		<-req.Context().Done()
		return http.StatusOK, true
	}
	end := r.run()
	r.ends(end, Escalated, "rounds")
	r.did("cut note(api)")
	stored, err := r.config.Beliefs.Load(testCtx(t))
	must(t, err)
	if string(stored["noted(api)"].Value) != "null" {
		t.Errorf("stored %+v", stored["noted(api)"])
	}
	// Nothing can tell whether it was noted: a person must.
	if len(end.InDoubt) != 1 || !strings.HasPrefix(end.InDoubt[0], "note(api)") {
		t.Errorf("in doubt %v", end.InDoubt)
	}
}

func TestAGoalThatRestsOnABeliefIsUnobservable(t *testing.T) {
	r := newRig(t, setup{model: noted})
	r.config.Goal, r.config.GoalName = goalOf(r, "known"), "known"
	end := r.run()
	r.ends(end, Escalated, "unobservable")
	r.did("note(api)")
	if len(end.Evidence) != 1 || end.Evidence[0].Verified != "assumed" || end.Message != "noted(api) rests on what cannot be observed" {
		t.Errorf("end %+v", end)
	}
}

func goalOf(r *rig, name string) *model.Goal { return r.config.Universe.Goal(name) }
