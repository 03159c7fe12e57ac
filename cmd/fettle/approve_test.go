package main

import (
	"encoding/json"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/fettleops/fettle/executor"
)

// limit adds an attribute, or a block, to the policy of the doors.
func (h *house) limit(text string) {
	h.Helper()
	file := h.path("doors.fettle.hcl")
	raw, err := os.ReadFile(file)
	h.must(err)
	h.must(os.WriteFile(file, []byte(strings.Replace(string(raw), "policy {\n", "policy {\n  "+text+"\n", 1)), 0o600))
}

// free lifts both gates.
func (h *house) free() {
	h.lift("back")
	h.lift("front")
}

// approvals are what the journal of the last run tells of answers.
func (h *house) approvals() []executor.Approved {
	h.Helper()
	var out []executor.Approved
	for line := range strings.Lines(h.fettle(exitDone, "show", "last", "-o", "jsonl")) {
		var e struct {
			Kind string
			Data executor.Approved
		}
		if json.Unmarshal([]byte(line), &e) == nil && e.Kind == executor.Approval {
			out = append(out, e.Data)
		}
	}
	return out
}

func TestARunThatWaitsIsApprovedByCommandAndGoneOnWith(t *testing.T) {
	h := newHouse(t, "10s")
	h.free()
	if out := h.fettle(exitWaiting, "run"); !strings.Contains(out, "needs a person's approval: `fettle approve ") {
		t.Errorf("said %s", out)
	}
	out := h.fettle(exitDone, "approve", "last", "--reason", "agreed")
	for _, want := range []string{"approved for run ", "  1  unlock(back)   open(back) → true   unfenced\n", "  2  unlock(front)  open(front) → true  unfenced\n", "go on with `fettle resume "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if out := h.fettle(exitFailed, "approve", "last"); !strings.Contains(out, "waits for an answer: the plan ") || !strings.Contains(out, " was approved by "+userName()) {
		t.Errorf("twice: %s", out)
	}
	out = h.fettle(exitDone, "resume", "last")
	if !strings.Contains(out, "approved plan  2 steps") || !strings.Contains(out, "approved by "+userName()+" on ") || strings.Contains(out, "search") {
		t.Errorf("gone on with: %s", out)
	}
	h.acted("back", "front")
	host, err := os.Hostname()
	h.must(err)
	all := h.approvals()
	if a := all[len(all)-1]; len(all) != 2 || all[0].Answer != "none" || a.Answer != "yes" || a.By != userName() || a.Host != host || a.Reason != "agreed" || a.At == nil {
		t.Errorf("the journal tells %+v", all)
	}
	if out := h.fettle(exitDone, "leases", "--audit"); !strings.Contains(out, "approved plan "+all[1].PlanHash[:12]+" of run ") || !strings.Contains(out, "reason: agreed") {
		t.Errorf("written down: %s", out)
	}
	if out := h.fettle(exitFailed, "approve", "last"); !strings.Contains(out, "has ended: succeeded") {
		t.Errorf("afterwards: %s", out)
	}
}

// Its process is killed while it waits; the approval is given, and whoever goes
// on with the run has it. That one is killed too, right after it has.
func TestAnApprovalOutlivesTheProcesses(t *testing.T) {
	h := newHouse(t, "2s")
	p := h.start("run", "--wait", "-o", "jsonl", "--lease-ttl", "4s")
	p.await(executor.ApprovalAsked)
	p.signal(syscall.SIGKILL)
	p.exits(-1)
	if out := h.fettle(exitDone, "approve", "last"); !strings.Contains(out, "go on with `fettle resume ") {
		t.Errorf("said %s", out)
	}
	r := h.start("resume", "last", "-o", "jsonl", "--lease-ttl", "4s")
	r.await(executor.Approval)
	r.signal(syscall.SIGKILL)
	r.exits(-1)
	h.free()
	h.fettle(exitDone, "resume", "last", "--lease-ttl", "4s")
	if all := h.approvals(); all[0].Answer != "yes" || len(all) > 2 {
		t.Errorf("the journal tells %+v", all)
	}
}

func TestARunWaitsForAnAnswerFromElsewhere(t *testing.T) {
	for _, tt := range []struct {
		answer []string
		exit   int
		reason string
		says   string
	}{
		{[]string{"approve", "last"}, exitDone, "", "the run is under way (pid "},
		{[]string{"reject", "last"}, exitEscalated, "rejected", "the run is under way: it ends before its next action"},
		{[]string{"reject", "last", "--feedback", "not at night"}, exitEscalated, "rejected", "and goes on; it plans anew"},
		{[]string{"cancel", "last"}, exitEscalated, "", "is cancelled after 1 round"},
	} {
		h := newHouse(t, "10s")
		h.free()
		p := h.start("run", "--wait", "-o", "jsonl")
		p.await(executor.ApprovalAsked)
		if out := h.fettle(exitDone, tt.answer...); !strings.Contains(out, tt.says) {
			t.Errorf("%v: %s", tt.answer, out)
		}
		p.exits(tt.exit)
		if e := h.ended(); e.Reason != tt.reason {
			t.Errorf("%v: ended %+v", tt.answer, e)
		}
	}
}

func TestOfManyWhoApproveOneDoes(t *testing.T) {
	h := newHouse(t, "10s")
	h.fettle(exitWaiting, "run")
	const people = 4
	codes := make([]int, people)
	var wg sync.WaitGroup
	for i := range people {
		wg.Go(func() {
			cmd := fettle(t, "approve", "last")
			cmd.Dir = h.dir
			_ = cmd.Run()
			codes[i] = cmd.ProcessState.ExitCode()
		})
	}
	wg.Wait()
	done := 0
	for _, c := range codes {
		if c == exitDone {
			done++
		} else if c != exitFailed {
			t.Errorf("exit code %d", c)
		}
	}
	if done != 1 {
		t.Errorf("%d approved it, exit codes %v", done, codes)
	}
}

func TestAQuestionThatHasExpiredCannotBeAnswered(t *testing.T) {
	h := newHouse(t, "10s")
	h.limit(`approval_expires = "1s"`)
	out := h.fettle(exitWaiting, "run", "--wait")
	if !strings.Contains(out, "nobody answered whether the plan may be carried out within approval_expires = 1s") {
		t.Errorf("said %s", out)
	}
	if out := h.fettle(exitFailed, "approve", "last"); !strings.Contains(out, "expired at ") {
		t.Errorf("approved: %s", out)
	}
	h.acted()
}

func TestWhatWasAskedIsWhatIsApproved(t *testing.T) {
	h := newHouse(t, "10s")
	h.fettle(exitWaiting, "run")
	if out := h.fettle(exitFailed, "approve", "last", "--plan-hash", "0123456789abcdef"); !strings.Contains(out, "not 0123456789ab: another was made meanwhile") {
		t.Errorf("another plan: %s", out)
	}
	if out := h.fettle(exitFailed, "approve", "last", "--plan-hash", "0123"); !strings.Contains(out, "--plan-hash takes at least 6 characters") {
		t.Errorf("too short a hash: %s", out)
	}
	h.limit("# a word")
	if out := h.fettle(exitFailed, "approve", "last"); !strings.Contains(out, "the model or its variables are others") {
		t.Errorf("another model: %s", out)
	}
	h.acted()
}

func TestAnotherPlanIsApprovedAfterItWasValidated(t *testing.T) {
	h := newHouse(t, "10s")
	h.free()
	h.fettle(exitWaiting, "run")
	h.must(os.WriteFile(h.path("half"), []byte("unlock(front)\n"), 0o600))
	h.must(os.WriteFile(h.path("mine"), []byte("unlock(front)\nunlock(back)\n"), 0o600))
	out := h.fettle(exitNo, "approve", "last", "--plan", "half")
	if !strings.HasPrefix(out, "goal not reached after 1 step; missing open(back)") || !strings.Contains(out, "the plan is not approved") {
		t.Errorf("half a plan: %s", out)
	}
	var doc struct {
		Answer string   `json:"answer"`
		Plan   []string `json:"plan"`
	}
	h.must(json.Unmarshal([]byte(h.fettle(exitDone, "approve", "last", "--plan", "mine", "-o", "json")), &doc))
	if doc.Answer != "yes" || strings.Join(doc.Plan, " ") != "unlock(front) unlock(back)" {
		t.Errorf("approved %+v", doc)
	}
	h.fettle(exitDone, "resume", "last")
	h.acted("front", "back")
}

func TestARejectedRunThatNobodyDrivesHasEnded(t *testing.T) {
	h := newHouse(t, "10s")
	h.fettle(exitWaiting, "run")
	if out := h.fettle(exitDone, "reject", "last"); !strings.Contains(out, "the run has ended as escalated (rejected) after 1 round, 0 actions") {
		t.Errorf("said %s", out)
	}
	if out := h.fettle(exitDone, "show", "last"); !strings.Contains(out, "not approved by "+userName()) || !strings.Contains(out, "Escalated (rejected)") {
		t.Errorf("show: %s", out)
	}
	h.fettle(exitFailed, "resume", "last")
	h.fettle(exitFailed, "reject", "last")
}

// Taken back while its first action is under way: that one is finished, and no
// other is begun.
func TestAnApprovalIsTakenBackBeforeTheNextAction(t *testing.T) {
	h := newHouse(t, "10s")
	h.fettle(exitWaiting, "run")
	h.fettle(exitDone, "approve", "last")
	p := h.start("resume", "last", "-o", "jsonl")
	p.await(executor.StepArmed)
	gate := h.reach("back")
	h.fettle(exitDone, "reject", "last")
	h.must(gate.Close())
	p.exits(exitEscalated)
	h.acted("back")
	if e := h.ended(); e.Reason != "rejected" || e.Actions != 1 || !strings.Contains(e.Message, "took the approval of the plan back") {
		t.Errorf("ended %+v", e)
	}
}

func TestAStepIsApprovedByCommand(t *testing.T) {
	h := newHouse(t, "10s")
	h.limit(`pause_before = ["unlock"]`)
	h.free()
	if out := h.fettle(exitWaiting, "run", "--approve"); !strings.Contains(out, "step 1, unlock(back) needs a person's approval") {
		t.Errorf("said %s", out)
	}
	if out := h.fettle(exitDone, "approve", "last"); !strings.Contains(out, ": step 1 of plan ") || !strings.Contains(out, ", unlock(back)\n") {
		t.Errorf("said %s", out)
	}
	h.fettle(exitWaiting, "resume", "last")
	h.acted("back")
	h.fettle(exitDone, "approve", "last")
	h.fettle(exitDone, "resume", "last")
	h.acted("back", "front")
}

// The kill switch holds whatever process drives the run, and takes no approval away.
func TestAPauseOutlivesTheProcessesAndKeepsTheApproval(t *testing.T) {
	h := newHouse(t, "10s")
	h.free()
	h.fettle(exitWaiting, "run")
	h.fettle(exitDone, "approve", "last")
	h.fettle(exitDone, "pause", "--reason", "hands off")
	for range 2 {
		if out := h.fettle(exitWaiting, "resume", "last"); !strings.Contains(out, "Waiting (paused): ") || !strings.Contains(out, "hands off") {
			t.Errorf("said %s", out)
		}
	}
	h.acted()
	h.fettle(exitDone, "unpause", "--reason", "go on")
	h.fettle(exitDone, "resume", "last")
	h.acted("back", "front")
}

// In the midst of an action a pause lets that one finish and stops the next.
func TestAPauseIsLookedAtRightBeforeEachAction(t *testing.T) {
	h := newHouse(t, "10s")
	p := h.start("run", "--approve", "-o", "jsonl")
	p.await(executor.StepArmed)
	gate := h.reach("back")
	h.fettle(exitDone, "pause", "--reason", "hands off")
	h.must(gate.Close())
	p.exits(exitWaiting)
	h.acted("back")
	if e := h.ended(); e.Reason != "paused" || !strings.Contains(e.Message, "hands off") {
		t.Errorf("ended %+v", e)
	}
}
