package executor

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/fettleops/fettle/lease"
)

// counted is the yard whose services are mended once in all, and in which it is
// counted how often one was stopped: neither can be observed.
var counted = strings.NewReplacer(
	`precondition = ["!up(s)"]
  effect { add = ["ok(s)"] }`, `precondition = ["!up(s)", "!spent"]
  effect { add = ["ok(s)", "spent"] }`,
	`effect { del = ["up(s)"] }`, `effect {
    del      = ["up(s)"]
    increase = { "stops(s)" = "1" }
  }`).Replace(fleetModel) + `
fluent "spent" { initial = false }
fluent "stops" {
  params  = { s = service }
  type    = "number"
  initial = 0
}
`

// believes stores a belief, as another run's action leaves it.
func (r *rig) believes(atom string, value any) {
	r.Helper()
	op := r.config.Beliefs.put(atom, value, Belief{Action: "tend(api)", ActionID: "other-001"})
	_, err := store.Client().Do(testCtx(r), op)
	must(r, err)
}

// believed reads what is stored of an atom, as JSON; "" where nothing is.
func (r *rig) believed(atom string) string {
	r.Helper()
	stored, err := r.config.Beliefs.Load(testCtx(r))
	must(r, err)
	return string(stored[atom].Value)
}

func TestBeliefsAreReadAnewOnceTheLeasesAreHad(t *testing.T) {
	r := newRig(t, setup{model: counted})
	r.yard.ok["api"] = false
	held := hold(r, x("up", "api"))
	r.see = func(kind string, _ journalEvent) {
		if kind == StepWaiting {
			r.believes("spent", true)
			must(t, held.Release(testCtx(t)))
		}
	}
	end := r.run()
	r.ends(end, Escalated, "unsolvable")
	r.did()
	f := one[Refused](r, StepRefused)
	if f.Kind != "precondition" || f.AtStep != 2 || len(f.Facts) != 1 || f.Facts[0].Fluent != "spent" || f.Facts[0].Source != "belief" || f.Facts[0].Note != "tend(api)" {
		t.Errorf("refused %+v", f)
	}
	r.clean()
}

func TestAnIncreaseCountsFromWhatOthersLeft(t *testing.T) {
	r := newRig(t, setup{model: counted})
	r.yard.ok["api"] = false
	held := hold(r, x("up", "api"))
	r.see = func(kind string, _ journalEvent) {
		if kind == StepWaiting {
			r.believes("stops(api)", 5)
			must(t, held.Release(testCtx(t)))
		}
	}
	r.ends(r.run(), Succeeded, "")
	if got := r.believed("stops(api)"); got != "6" {
		t.Errorf("stored %s, want 6", got)
	}
	stored, err := r.config.Beliefs.Load(testCtx(t))
	must(t, err)
	if b := stored["stops(api)"]; b.Action != "stop(api)" || b.ActionID != all[Finished](r, StepFinished)[0].ActionID || b.Since.IsZero() {
		t.Errorf("stored %+v", b)
	}
}

// Who writes it without the lease makes it unknown, and is not overwritten unseen.
func TestABeliefThatIsChangedUnderTheLeaseIsUnknown(t *testing.T) {
	r := newRig(t, setup{model: counted})
	r.yard.ok["api"] = false
	r.see = func(kind string, e journalEvent) {
		if kind == StepArmed && decoded[Armed](r, e).Action == "stop(api)" {
			r.believes("stops(api)", 5)
		}
	}
	r.ends(r.run(), Succeeded, "")
	if got := r.believed("stops(api)"); got != "null" {
		t.Errorf("stored %s, want null", got)
	}
	if got := r.believed("spent"); got != "true" {
		t.Errorf("spent is %s: what nobody else changed is known", got)
	}
}

func TestABeliefIsAsItWasOnceItsActionIsKnownNotToHaveBeenApplied(t *testing.T) {
	for _, before := range []string{"", "4"} {
		r := newRig(t, setup{model: counted})
		if before != "" {
			r.believes("stops(api)", json.RawMessage(before))
		}
		r.yard.ok["api"] = false
		first := true
		r.yard.on = func(what string, req *http.Request) (int, bool) {
			if what != "stop(api)" || !first {
				return http.StatusOK, true
			}
			first = false
			r.revoke()
			<-req.Context().Done()
			return http.StatusOK, false
		}
		var then string
		r.see = func(kind string, _ journalEvent) {
			switch kind {
			case StepFinished:
				if then == "" && r.believed("stops(api)") != "null" {
					t.Error("it is known while the action is in doubt")
				}
			case DoubtResolved:
				then = r.believed("stops(api)") + "."
			}
		}
		r.ends(r.run(), Succeeded, "")
		r.did("cut stop(api)", "stop(api)", "mend(api)", "start(api)")
		if then != before+"." {
			t.Errorf("stored %s after the action was resolved as not applied, want %s", then, before)
		}
		if got, want := r.believed("stops(api)"), map[string]string{"": "1", "4": "5"}[before]; got != want {
			t.Errorf("stored %s in the end, want %s", got, want)
		}
	}
}

// A step with an effect that never holds already, like a count, is the one that
// would be done again.
func TestAPlanEndsWhereWhatWasInDoubtIsResolved(t *testing.T) {
	r := kill(t, setup{model: counted}, "stop(api)")
	next := newRig(t, setup{model: counted, beside: r})
	next.yard.set(func() { next.yard.up["api"] = true }) // Planned from before it lands.
	next.see = func(kind string, _ journalEvent) {
		if kind == PlanAccepted {
			next.yard.set(func() { next.yard.up["api"] = false })
		}
	}
	end := next.run()
	next.ends(end, Succeeded, "")
	next.did("stop(api)", "mend(api)", "start(api)")
	next.clean()
	if got := next.believed("stops(api)"); got != "1" {
		t.Errorf("stored %s, want 1", got)
	}
	f := one[Refused](next, StepRefused)
	if f.Kind != TakenOver || f.Fence != 0 || !strings.Contains(f.Reason, "stop(api) was in doubt") {
		t.Errorf("refused %+v", f)
	}
	if kinds := next.kinds(); kinds[slices.Index(kinds, RoundEnded)+1] != Observed || end.Rounds != 2 {
		t.Errorf("%d rounds: %v", end.Rounds, kinds)
	}
}

func TestAPlanEndsWhereAnotherResolvedWhatWasInDoubt(t *testing.T) {
	run := map[string]string{"stop": `timeout = "100ms"
  settle {
    timeout  = "20ms"
    interval = "5ms"
  }
  run "http" { url = "{{yard}}/stop/${s}" }`}
	s := setup{model: counted, run: run, futile: "stop(api)"}
	r := kill(t, s, "stop(api)")
	next := newRig(t, setup{model: counted, run: run, beside: r})
	other := next.other()
	next.see = func(kind string, e journalEvent) {
		if kind != StepWaiting || !strings.Contains(decoded[Waiting](next, e).Busy, "keeps no fence") {
			return
		}
		in := next.intents()[0]
		held, err := other.TakeOver(testCtx(t), lease.Owner{Run: "other"}, in)
		must(t, err)
		next.yard.set(func() { next.yard.up["api"] = false })
		ops, err := next.config.Beliefs.After(next.config.Universe, in, lease.Applied)
		must(t, err)
		must(t, held.Resolve(testCtx(t), lease.Outcome{Result: lease.Applied}, ops))
	}
	next.ends(next.run(), Succeeded, "")
	next.did("stop(api)", "mend(api)", "start(api)") // Stopped by the one that was killed.
	next.clean()
	if f := one[Refused](next, StepRefused); f.Kind != TakenOver || f.Fence == 0 {
		t.Errorf("refused %+v", f)
	}
}
