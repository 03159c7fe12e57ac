package main

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/policy"
)

// gates are those of the one run that is not over.
func (h *house) gates() []gate {
	h.Helper()
	return h.active().Gates
}

// active is the one run that is not over.
func (h *house) active() listed {
	h.Helper()
	var runs []listed
	h.must(json.Unmarshal([]byte(h.fettle(exitDone, "runs", "--active", "-o", "json")), &runs))
	if len(runs) != 1 {
		h.Fatalf("%d runs: %+v", len(runs), runs)
	}
	return runs[0]
}

// gated checks the gates of that run: for each its name, and words of what it says.
func (h *house) gated(want ...string) []gate {
	h.Helper()
	got := h.gates()
	if len(got) != len(want)/2 {
		h.Fatalf("gates %+v, want %q", got, want)
	}
	for i, g := range got {
		if g.Gate != want[2*i] || !strings.Contains(g.What, want[2*i+1]) || g.Since == nil || g.Since.After(time.Now()) {
			h.Errorf("gate %+v, want %s: %s", g, want[2*i], want[2*i+1])
		}
	}
	return got
}

func TestARunTellsWhatItIsAt(t *testing.T) {
	h := newHouse(t, "1m")
	p := h.start("run", "--approve", "-o", "jsonl", "--lease-ttl", "4s")
	run := p.await(executor.StepArmed).Run
	h.gated("acting", "step 1, unlock(back), is carried out, fence ")
	if r := h.active(); r.Run != run || r.Rounds != 1 || r.Actions != 1 { // So far.
		t.Errorf("listed %+v", r)
	}
	h.fettle(exitDone, "pause", "--reason", "hands off")
	h.gated("acting", "step 1", "paused", "hands off")
	if out := h.fettle(exitDone, "show", run); !strings.Contains(out, "\nNow\n  acting since ") || !strings.HasSuffix(out, "\n      fettle unpause\n") {
		t.Errorf("show: %s", out)
	}
	gate := h.reach("back")
	p.signal(syscall.SIGKILL)
	p.exits(-1)
	got := h.gated("killed", "is carried out", "paused", "hands off", "in_doubt", "whether unlock(back) (")
	if got[0].Next[0] != "fettle resume "+run {
		t.Errorf("next %q", got[0].Next)
	}
	out := h.fettle(exitDone, "show", run, "-o", "markdown")
	if !strings.HasPrefix(out, "# Run `"+run+"`: running (killed), so far\n") || !strings.Contains(out, "`fettle resume "+run+"`") ||
		!strings.Contains(out, "\n## In doubt\n\n- `in doubt since ") {
		t.Errorf("report: %s", out)
	}
	h.must(gate.Close())
	h.fettle(exitDone, "cancel", run)
	if out := h.fettle(exitDone, "show", run); !strings.Contains(out, "\nLeft undone, as last seen at ") || !strings.Contains(out, "unlock(back) may have written it") {
		t.Errorf("cancelled: %s", out)
	}
	h.fettle(exitDone, "replay", run)
	if out := h.fettle(exitDone, "runs", "--active"); out != "no runs\n" {
		t.Errorf("active: %s", out)
	}
}

// While others hold what a run needs it says who, and since when: those who hold
// it now, not those of when it began to wait.
func TestARunThatWaitsForOthersTellsWhoTheyAre(t *testing.T) {
	h := newHouse(t, "1m")
	_, end := h.holding("keys", "--reason", "by hand")
	p := h.start("run", "--approve", "-o", "jsonl")
	p.await(executor.StepWaiting)
	h.gated("busy", "keys is held exclusively by ")
	if got := h.gates()[0]; !strings.Contains(got.What, "fettle lease") || got.Next[0] != "fettle leases" {
		t.Errorf("gate %+v", got)
	}
	end()
	h.pass("back")
	h.pass("front")
	p.await(executor.RunEnded)
	p.exits(exitDone)
}

// stood is the stand after events, a second apart.
func stood(t *testing.T, events ...any) stand {
	t.Helper()
	var s stand
	for i := 0; i < len(events); i += 2 {
		raw, err := json.Marshal(events[i+1])
		if err != nil {
			t.Fatal(err)
		}
		at := noon.Add(time.Duration(i/2+1) * time.Second)
		if err := s.event(journal.Event{Seq: int64(i), Time: at, Kind: events[i].(string), Data: raw}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestWhereARunStands(t *testing.T) {
	at := noon.Add(time.Hour)
	before, after := at.Add(-time.Minute), at.Add(time.Minute)
	step := executor.StepRef{Round: 1, Step: 2, Action: "drain(db)"}
	started := []any{executor.RunStarted, executor.Started{Mode: "approve"}}
	plan := []any{executor.PlanAccepted, executor.Plan{PlanHash: "0123456789abcdef", Steps: []executor.PlannedStep{{Step: 1, Action: "drain(api)"}}}}
	asked := func(expires *time.Time) []any {
		return append(plan, executor.ApprovalAsked, executor.Asked{PlanHash: "0123456789abcdef", Why: []string{"rule x asks"}, Expires: expires},
			executor.Approval, executor.Approved{Answer: "none"})
	}
	ended := func(reason, message string, opens ...time.Time) []any {
		e := executor.Ended{Status: executor.WaitingStatus, Reason: reason, Message: message}
		for _, at := range opens {
			e.Opens = &at
		}
		return []any{executor.RunEnded, e}
	}
	holder := lease.Holder{Resource: lease.Resource{Fluent: "in_lb", Instance: "db", Exclusive: true}, Owner: lease.Owner{Run: "02OTHER"}, Since: noon, Fence: 7}
	for name, c := range map[string]struct {
		status, reason string
		events         [][]any
		more           situation
		gate, what     string
		since          time.Duration // after noon
		until          *time.Time
	}{
		"it begins":                {executor.Running, "", nil, situation{}, atObserving, "the world is observed", time.Second, nil},
		"a planner is asked":       {executor.Running, "", [][]any{{executor.RoundStarted, executor.Round{Round: 1, Of: 3}}}, situation{}, atPlanning, "round 1 of 3: a planner is asked", 2 * time.Second, nil},
		"it is asked again":        {executor.Running, "", [][]any{{executor.RoundStarted, executor.Round{Round: 1, Of: 3}, executor.AttemptMade, executor.Attempt{Round: 1, Attempt: 1, Planner: "main", Next: "ask_again"}, executor.Decided, executor.Decision{Decision: policy.Decision{Point: policy.PointCall}}}}, situation{}, atPlanning, "round 1: a planner is asked, after 1 attempt of main", 4 * time.Second, nil},
		"a person is asked":        {executor.Running, "", [][]any{asked(&after)}, situation{}, gateApproval, "approval of the plan 0123456789ab (1 step), asked for because rule x asks", 3 * time.Second, &after},
		"older journals":           {executor.Running, "", [][]any{plan}, situation{}, gateApproval, "approval of the plan 0123456789ab (1 step)", 2 * time.Second, nil},
		"it waits in doubt":        {executor.Running, "", [][]any{{executor.StepWaiting, executor.Waiting{StepRef: step, Busy: "x of run 01 is in doubt and may land"}}}, situation{}, gateInDoubt, "step 2, drain(db): x of run 01 is in doubt and may land", 2 * time.Second, nil},
		"it looks while it waits":  {executor.Running, "", [][]any{{executor.StepWaiting, executor.Waiting{Busy: "others are at work"}, executor.Observed, executor.Observation{}, executor.StepWaiting, executor.Waiting{Busy: "others are at work"}}}, situation{}, gateBusy, "others are at work", 2 * time.Second, nil},
		"it acts":                  {executor.Running, "", [][]any{{executor.StepArmed, executor.Armed{StepRef: step, Fence: 5}}}, situation{}, atActing, "step 2, drain(db), is carried out, fence 5", 2 * time.Second, nil},
		"it goes back":             {executor.Running, "", [][]any{{executor.StepArmed, executor.Armed{StepRef: executor.StepRef{Step: 1, Action: "readd(db)", Restore: true}, Fence: 5}}}, situation{}, atRestoring, "step 1, readd(db), is carried out, fence 5", 2 * time.Second, nil},
		"an older version asked":   {executor.WaitingStatus, "approval", [][]any{plan, ended("approval", "m")}, situation{}, gateApproval, "approval of the plan 0123456789ab (1 step): it is put again once the run is gone on with", 3 * time.Second, nil},
		"an approval is awaited":   {executor.WaitingStatus, "approval", [][]any{asked(nil), ended("approval", "m")}, situation{posed: true}, gateApproval, "approval of the plan 0123456789ab (1 step), asked for because rule x asks", 3 * time.Second, nil},
		"it was given":             {executor.WaitingStatus, "approval", [][]any{asked(nil), ended("approval", "m")}, situation{replies: []executor.Reply{{Answer: "yes", By: "ann", At: at}}}, gateResume, "approved by ann", time.Hour, nil},
		"it was given before":      {executor.WaitingStatus, "approval", [][]any{asked(nil), ended("approval", "m")}, situation{posed: true, replies: []executor.Reply{{Answer: "yes", By: "ann", At: noon}}}, gateApproval, "approval of the plan 0123456789ab (1 step), asked for because rule x asks", 3 * time.Second, nil},
		"it expired":               {executor.WaitingStatus, "approval", [][]any{asked(nil), ended("approval", "m")}, situation{replies: []executor.Reply{{Answer: "yes", By: "ann", At: before, Expires: &before}}}, gateResume, "approved by ann, but that expired: it is asked again", time.Hour - time.Minute, nil},
		"it was rejected":          {executor.WaitingStatus, "approval", [][]any{asked(nil), ended("approval", "m")}, situation{replies: []executor.Reply{{Answer: "no", By: "ann", Feedback: "not now", At: at}}}, gateResume, "rejected by ann, who says what to do otherwise: it plans anew", time.Hour, nil},
		"the question expired":     {executor.WaitingStatus, "approval", [][]any{asked(&before), ended("approval", "m")}, situation{}, gateResume, "approval of the plan 0123456789ab (1 step), asked for because rule x asks; the question is too old to be answered, and is put again", time.Hour - time.Minute, nil},
		"it is paused":             {executor.WaitingStatus, "paused", [][]any{ended("paused", "m")}, situation{pause: &lease.PauseRecord{By: "bob", Reason: "r", Since: noon}}, gatePaused, "by bob: r", 0, nil},
		"the pause is over":        {executor.WaitingStatus, "paused", [][]any{ended("paused", "m")}, situation{}, gateResume, "it stopped for a pause that is over by now", 2 * time.Second, nil},
		"others hold it still":     {executor.WaitingStatus, "busy", [][]any{ended("busy", "others: lease: busy: "+holder.String())}, situation{held: []lease.Holder{holder}}, gateBusy, holder.String(), 2 * time.Second, nil},
		"others have let go":       {executor.WaitingStatus, "busy", [][]any{ended("busy", holder.String())}, situation{}, gateResume, "what it waited for is no longer held as it was: " + holder.String(), 2 * time.Second, nil},
		"a window is shut":         {executor.WaitingStatus, "window", [][]any{{executor.RulesAsked, executor.Ruled{Ruling: policy.Ruling{Effect: policy.EffectDeny, Opens: after}}}, ended("window", "m")}, situation{}, gateWindow, "m", 3 * time.Second, &after},
		"a step's window is shut":  {executor.WaitingStatus, "window", [][]any{{executor.RulesAsked, executor.Ruled{Steps: []executor.RuledStep{{Ruling: policy.Ruling{Effect: policy.EffectDeny, Opens: after}}}}}, ended("window", "m")}, situation{}, gateWindow, "m", 3 * time.Second, &after},
		"the end says until when":  {executor.WaitingStatus, "window", [][]any{ended("window", "denied; this is so until 13:01: `fettle resume 01`", after)}, situation{}, gateWindow, "denied; this is so until 13:01: `fettle resume 01`", 2 * time.Second, &after},
		"a window has opened":      {executor.WaitingStatus, "window", [][]any{ended("window", "this is so until then", before)}, situation{}, gateResume, "what it waited for is over", time.Hour - time.Minute, nil},
		"enough was done":          {executor.WaitingStatus, "limit", [][]any{{executor.LimitShared, executor.SharedLimit{SharedRefusal: policy.SharedRefusal{Until: after}}}, ended("limit", "m")}, situation{}, gateLimit, "m", 3 * time.Second, &after},
		"what later versions know": {executor.WaitingStatus, "tea", [][]any{{"brewing", 1}, ended("tea", "the kettle")}, situation{}, "tea", "the kettle", 3 * time.Second, nil},
	} {
		events := started
		for _, more := range c.events {
			events = append(events[:len(events):len(events)], more...)
		}
		s := c.more
		s.head, s.driven, s.now, s.stand = executor.Head{Run: "01RUN", Status: c.status, Reason: c.reason}, true, at, stood(t, events...)
		g := s.gates()[0]
		if g.Gate != c.gate || g.What != c.what || !g.Since.Equal(noon.Add(c.since)) || (g.Until == nil) != (c.until == nil) || g.Until != nil && !g.Until.Equal(*c.until) {
			t.Errorf("%s: %+v since %v; want %s: %s since %v until %v", name, g, g.Since, c.gate, c.what, noon.Add(c.since), c.until)
		}
	}
}

// Only what is kept as a question can be answered.
func TestAQuestionThatIsNotKeptCannotBeAnswered(t *testing.T) {
	for posed, want := range map[bool]string{true: "fettle approve 01RUN,fettle reject 01RUN,fettle resume 01RUN", false: "fettle resume 01RUN"} {
		s := situation{
			posed: posed, now: noon, head: executor.Head{Run: "01RUN", Status: executor.WaitingStatus, Reason: "approval"},
			stand: stood(t, executor.PlanAccepted, executor.Plan{PlanHash: "0123456789abcdef"}, executor.RunEnded, executor.Ended{Status: executor.WaitingStatus, Reason: "approval"}),
		}
		if got := strings.Join(s.gates()[0].Next, ","); got != want {
			t.Errorf("posed %v: next %s", posed, got)
		}
	}
}

func TestAGateIsToldWithItsTime(t *testing.T) {
	now := noon.Add(50 * time.Hour)
	for _, c := range []struct {
		since time.Duration
		want  string
	}{{49*time.Hour + 59*time.Minute, "(60.0 s)"}, {49 * time.Hour, "(60 min)"}, {40 * time.Hour, "(10 h)"}, {0, "(2 days)"}} {
		since := noon.Add(c.since)
		g := gate{Gate: gateInDoubt, What: "what\x1b[31m", Since: &since}
		if got, want := g.text(now), "in doubt since "+clock(since, now)+" "+c.want+": what�[31m"; got != want {
			t.Errorf("told %q, want %q", got, want)
		}
	}
}
