package executor

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/world"
)

// TestOneThatStopsShort goes through what a stopped run does.
func TestOneThatStopsShort(t *testing.T) {
	failing := func(w *wardRig) { w.write(w, "fail-mend-api", "") }
	tests := []struct {
		name   string
		policy []string
		set    func(w *wardRig)
		status string
		reason string
		did    []string // after the drain and two mends
		span   string
		put    []string
		way    []string
		not    string // the reason, "" where all is put back
	}{
		{
			"it reports the way", nil, failing, Escalated, "no_progress", nil, "0 → 1", nil,
			[]string{"readd(api)"},
			`the policy's on_stop is "report"`,
		},
		{"it goes back", []string{"on_stop", `"restore"`}, failing, Escalated, "no_progress", []string{"readd api"}, "0 → 0", []string{"readd(api)"}, nil, ""},
		{
			"the limits of going back are its own", []string{"on_stop", `"restore"`, "max_actions", "3"}, func(w *wardRig) {
				failing(w)
				w.config.Policy.SameFailureRetries = 3
			}, Escalated, "budget", []string{"readd api"}, "0 → 0", []string{"readd(api)"}, nil, "",
		},
		{
			"no action is left for it",
			[]string{"on_stop", `"restore"`, "restore {\n max_actions", "1\n}"},
			func(w *wardRig) {
				failing(w)
				w.write(w, "fail-readd-api", "")
			}, Escalated, "no_progress",
			[]string{"readd api"},
			"0 → 1", nil,
			[]string{"readd(api)"},
			"restore.max_actions = 1 reached: 1 executed; the last failure: readd(api) failed: exit status 1",
		},
		{
			"going back fails too",
			[]string{"on_stop", `"restore"`},
			func(w *wardRig) {
				failing(w)
				w.write(w, "fail-readd-api", "")
			}, Escalated, "no_progress",
			[]string{"readd api", "readd api"},
			"0 → 1", nil,
			[]string{"readd(api)"},
			"same_failure_retries = 2 reached by not_applied of readd(api) (in_lb(api)); the last failure: readd(api) failed: exit status 1",
		},
		{
			"what the way needs is gone",
			[]string{"on_stop", `"restore"`},
			func(w *wardRig) {
				failing(w)
				w.write(w, "fail-mend-api", "")
				w.on(RoundEnded, func(journal.Event) { w.write(w, "key", "no") })
			}, Escalated, "", nil, "0 → 1", nil, nil,
			"no way back is known from here: ",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWard(t, setup{policy: append([]string{"same_failure_retries", "2"}, tt.policy...)})
			tt.set(w)
			end := w.run()
			if end.Status != tt.status || tt.reason != "" && end.Reason != tt.reason {
				t.Errorf("ended %s %s: %s", end.Status, end.Reason, end.Message)
			}
			did := w.log()
			for len(did) > 0 && did[0] != "readd api" {
				did = did[1:]
			}
			if !slices.Equal(did, tt.did) {
				t.Errorf("did %q at last, want %q", did, tt.did)
			}
			if spanOf(end) != tt.span || !slices.Equal(end.Restored, tt.put) || !slices.Equal(end.WayBack, tt.way) {
				t.Errorf("severity %s, restored %v, way back %v", spanOf(end), end.Restored, end.WayBack)
			}
			switch n := end.NotRestored; {
			case tt.not == "" && len(n) > 0, tt.not != "" && (len(n) != 1 || !strings.HasPrefix(n[0].Reason, tt.not)):
				t.Errorf("not restored %+v, want %q", n, tt.not)
			}
			if want := strings.HasSuffix(tt.span, "1"); (w.out() == 1) != want {
				t.Errorf("%d are out", w.out())
			}
			for _, a := range all[Armed](w.rig, StepArmed) {
				if a.Restore != strings.HasPrefix(a.Action, "readd") {
					t.Errorf("armed %+v", a.StepRef)
				}
			}
			w.clean()
		})
	}
}

func TestNobodyGoesBackInSuggestOrAfterACancellation(t *testing.T) {
	w := newWard(t, setup{policy: []string{"on_stop", `"restore"`}})
	stop := make(chan struct{})
	w.config.Stop = stop
	w.on(StepFinished, func(journal.Event) { close(stop) })
	end := w.run()
	w.ends(end, Cancelled, "")
	w.logged("drain api")
	if !slices.Equal(end.WayBack, []string{"readd(api)"}) || end.NotRestored[0].Reason != "nothing is begun once a run is cancelled" {
		t.Errorf("end %+v", end)
	}
}

func TestAPauseStopsGoingBack(t *testing.T) {
	w := newWard(t, setup{policy: []string{"on_stop", `"restore"`, "same_failure_retries", "2"}})
	w.write(t, "fail-mend-api", "")
	other := w.other()
	w.see = func(kind string, _ journal.Event) {
		if kind == RestorePlanned {
			_, _, err := other.Pause(testCtx(t), "me", "look at this")
			must(t, err)
		}
	}
	end := w.run()
	w.ends(end, Escalated, "no_progress")
	w.logged("drain api", "mend api", "mend api")
	if n := end.NotRestored; len(n) != 1 || n[0].Reason != "actions are paused everywhere" || !slices.Equal(end.WayBack, []string{"readd(api)"}) {
		t.Errorf("end %+v", end)
	}
}

// TestNamedLeasesAreHeldWhileGoingBack: readd needs the lock that drain took.
func TestNamedLeasesAreHeldWhileGoingBack(t *testing.T) {
	w := newWard(t, setup{policy: []string{"on_stop", `"restore"`, "same_failure_retries", "2"}},
		`action "drain" {`, `fluent "lock" {
  observe "lease" {
    name  = "deploy"
    value = "mine"
  }
}
action "grab" {
  precondition = ["!lock"]
  effect { add = ["lock"] }
  undo = "give"
  run "lease" { acquire = "deploy" }
}
action "give" {
  precondition = ["lock"]
  effect { del = ["lock"] }
  run "lease" { release = "deploy" }
}
action "drain" {`, `"key"]`, `"key", "lock"]`, `precondition = ["in_lb(s)"]`, `precondition = ["in_lb(s)", "lock"]`)
	w.write(t, "fail-mend-api", "")
	end := w.driven(func(r *run) {
		w.config.Actuator.(*world.World).UseLeases(world.NewLeases(r.Locker, r.Journal.ID()))
	})
	w.ends(end, Escalated, "no_progress")
	w.logged("drain api", "mend api", "mend api", "readd api")
	if !slices.Equal(end.Restored, []string{"readd(api)"}) || len(end.NotRestored) > 0 || !slices.Equal(end.Released, []string{"deploy"}) {
		t.Errorf("end %+v", end)
	}
	w.clean()
}

func TestTheApprovalOfAPlanCoversTheWaysItWasShownWith(t *testing.T) {
	w := newWard(t, setup{policy: []string{"mode", `"approve"`, "on_stop", `"restore"`, "same_failure_retries", "1"}})
	w.write(t, "fail-mend-api", "")
	asked := w.asks(true)
	end := w.run()
	w.ends(end, Escalated, "no_progress")
	w.logged("drain api", "mend api", "readd api")
	if len(*asked) != 1 || len(end.NotRestored) > 0 {
		t.Errorf("asked %d times, not restored %+v", len(*asked), end.NotRestored)
	}
}

func TestAnyOtherWayIsAskedAbout(t *testing.T) {
	for _, yes := range []bool{true, false} {
		w := newWard(t, setup{policy: []string{"mode", `"approve"`, "on_stop", `"restore"`, "same_failure_retries", "1"}})
		w.write(t, "fail-mend-api", "")
		asked := w.asks(true, yes)
		end := w.driven(func(r *run) {
			w.see = func(kind string, _ journal.Event) {
				if kind == RoundEnded {
					r.posed = nil // As where the way is one that no plan was shown with.
				}
			}
		})
		w.ends(end, Escalated, "no_progress")
		if len(*asked) != 2 || (*asked)[1].Plan.Steps[0].Action != "readd(api)" {
			t.Errorf("asked %+v", *asked)
		}
		if did := w.log(); yes != (did[len(did)-1] == "readd api") || yes != (len(end.NotRestored) == 0) {
			t.Errorf("answered %v: did %v, not restored %+v", yes, did, end.NotRestored)
		}
	}
}

// TestNothingIsPutOnTopOfWhatIsInDoubt: whether drain took effect cannot be seen.
func TestNothingIsPutOnTopOfWhatIsInDoubt(t *testing.T) {
	w := newWard(t, setup{policy: []string{"on_stop", `"restore"`}}, "{{timeout}}", "300ms")
	w.write(t, "trap-drain-api", "rm "+w.dir+"/in_lb-api; exit 1")
	end := w.run()
	if end.Status == Succeeded || len(end.InDoubt) != 1 || len(end.NotRestored) == 0 || len(end.Restored) > 0 {
		t.Errorf("end %+v", end)
	}
	w.logged("drain api")
	if end.Severity.Now != nil || end.NotRestored[0].Fluent != "in_lb(api)" || end.NotRestored[0].Now != nil {
		t.Errorf("severity %s, not restored %+v", spanOf(end), end.NotRestored)
	}
}

// TestARunThatIsGoneOnWithKeepsItsBaseline: what it did before counts.
func TestARunThatIsGoneOnWithKeepsItsBaseline(t *testing.T) {
	w := newWard(t, setup{policy: []string{"on_stop", `"restore"`, "same_failure_retries", "2"}})
	other := w.other()
	w.on(StepFinished, func(journal.Event) {
		_, _, err := other.Pause(testCtx(t), "me", "lunch")
		must(t, err)
	})
	end := w.run()
	w.ends(end, WaitingStatus, "paused")
	if !slices.Equal(end.WayBack, []string{"readd(api)"}) || spanOf(end) != "0 → 1" {
		t.Errorf("waits with %+v", end)
	}
	_, _, err := other.Unpause(testCtx(t), "me", "done")
	must(t, err)
	w.write(t, "fail-mend-api", "")
	w.see = nil
	before := w.events
	end = w.resume(w.events[0].Run)
	w.ends(end, Escalated, "no_progress")
	if spanOf(end) != "0 → 0" || !slices.Equal(end.Restored, []string{"readd(api)"}) {
		t.Errorf("end %+v", end)
	}
	w.events = append(before, w.events...)
	one[Baseline](w.rig, SeverityTaken)
	w.clean()
}

// TestARunThatIsKilledWhileItGoesBackGoesBackWhenItIsGoneOnWith: what was in
// flight is resolved first, and nothing is done twice.
func TestARunThatIsKilledWhileItGoesBackGoesBackWhenItIsGoneOnWith(t *testing.T) {
	for _, landed := range []bool{false, true} {
		s := setup{policy: []string{"on_stop", `"restore"`, "same_failure_retries", "2"}, cli: connect(t, store)}
		w := newWard(t, s, "{{timeout}}", "300ms")
		w.write(t, "fail-mend-api", "")
		w.see = func(kind string, e journal.Event) {
			if kind == StepArmed && decoded[Armed](w, e).Restore {
				must(t, w.cli.Close())
				runtime.Goexit()
			}
		}
		killed := make(chan struct{})
		go func() {
			defer close(killed)
			_, err := w.try(testCtx(t))
			t.Errorf("the run was not killed, but ended: %v", err)
		}()
		<-killed
		w.revoke()
		w.unclaim()
		if landed {
			w.write(t, "in_lb-api", "yes")
		}
		next, id := w.next(setup{policy: s.policy, model: strings.SplitN(w.text, "policy {", 2)[0]})
		end := next.resume(id)
		next.ends(end, Escalated, "no_progress")
		if spanOf(end) != "0 → 0" || len(end.NotRestored) > 0 || !slices.Equal(end.Restored, []string{"readd(api)"}) || w.out() != 0 {
			t.Errorf("end %+v", end)
		}
		want := []string{"drain api", "mend api", "mend api", "readd api"}
		if landed {
			want = want[:3]
		}
		w.logged(want...)
		next.clean()
	}
}

// TestACancelledRunThatWaitedSaysWhatItLeft, and one whose process was killed
// that nobody knows.
func TestACancelledRunThatWaitedSaysWhatItLeft(t *testing.T) {
	w := newWard(t, setup{policy: []string{"on_stop", `"restore"`}})
	other := w.other()
	w.on(StepFinished, func(journal.Event) {
		_, _, err := other.Pause(testCtx(t), "me", "lunch")
		must(t, err)
	})
	w.ends(w.run(), WaitingStatus, "paused")
	k := Canceller{Client: w.cli, Locker: other, Journal: w.journal()}
	end, err := k.Cancel(testCtx(t), w.events[0].Run, Cancellation{By: "me"})
	must(t, err)
	if spanOf(end) != "0 → 1" || len(end.NotRestored) != 1 || end.NotRestored[0].Reason != afterCancel || !slices.Equal(end.WayBack, []string{"readd(api)"}) {
		t.Errorf("end %+v", end)
	}
	w.logged("drain api")

	s := setup{cli: connect(t, store)}
	w = newWard(t, s)
	w.see = func(kind string, _ journal.Event) {
		if kind == StepFinished {
			must(t, w.cli.Close())
			runtime.Goexit()
		}
	}
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		_, err := w.try(testCtx(t))
		t.Errorf("the run was not killed, but ended: %v", err)
	}()
	<-killed
	w.unclaim()
	k = Canceller{Client: store.Client(), Locker: w.other(), Journal: journal.Open(store.Client(), string(w.keys))}
	end, err = k.Cancel(testCtx(t), w.events[0].Run, Cancellation{By: "me"})
	must(t, err)
	if spanOf(end) != "0 → ?" || len(end.NotRestored) != 1 {
		t.Errorf("end %+v", end)
	}
}

// TestAnApprovedPlanBeginsAnewAfterGoingBack: the run is killed while it goes back
// from a plan that stopped in its midst, which is approved and carried out again.
func TestAnApprovedPlanBeginsAnewAfterGoingBack(t *testing.T) {
	s := setup{policy: []string{"mode", `"approve"`, "on_stop", `"restore"`, "max_actions", "2"}, cli: connect(t, store)}
	w := newWard(t, s, "{{timeout}}", "300ms")
	w.asks(true)
	w.see = func(kind string, e journal.Event) {
		if kind == StepFinished && decoded[Finished](w, e).Restore {
			must(t, w.cli.Close())
			runtime.Goexit()
		}
	}
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		_, err := w.try(testCtx(t))
		t.Errorf("the run was not killed, but ended: %v", err)
	}()
	<-killed
	w.revoke()
	w.unclaim()
	w.logged("drain api", "mend api", "readd api") // The third action is not allowed any more.
	next, id := w.next(setup{policy: []string{"mode", `"approve"`, "on_stop", `"restore"`, "max_actions", "20"}, model: strings.SplitN(w.text, "policy {", 2)[0]})
	next.config.Ask = yes
	end := next.resume(id)
	next.ends(end, Succeeded, "")
	if w.out() != 0 {
		t.Errorf("%d are out, and the run did %v", w.out(), w.log())
	}
	next.clean()
}
