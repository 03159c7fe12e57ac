package main

import (
	"bytes"
	"testing"

	"github.com/fettleops/fettle/executor"
)

// Whoever approves sees what: each step with what it does, what deserves a second
// look, and its way back; why it was asked; and whether it is about going back.
func TestWhatIsApprovedIsShown(t *testing.T) {
	zero := 0.0
	steps := []executor.PlannedStep{
		{Step: 1, Action: "drain(api)", Effects: []executor.Change{{Fluent: "in_pool(api)", To: false}}, Unfenced: true, Way: &executor.WayBack{How: executor.ByUndo, Steps: []string{"admit(api)"}, After: &zero}},
		{Step: 2, Action: "wipe(api)", Effects: []executor.Change{{Fluent: "clean(api)", To: true}}, Risk: "high", Unprotected: true, Way: &executor.WayBack{How: executor.NoneAtAll, Why: "no"}},
		{Step: 3, Action: "admit(api)", Effects: []executor.Change{{Fluent: "in_pool(api)", To: true}}, Way: &executor.WayBack{How: executor.NoneNeeded}},
	}
	p := executor.Pending{Run: "01RUN", Goal: "healthy", PlanHash: "0123456789abcdef", Plan: []string{"drain(api)", "wipe(api)", "admit(api)"}}
	rep := executor.Reply{PlanHash: p.PlanHash, Why: []string{"rule data: wipes are asked about", `mode = "approve"`}}
	step, back := p, p
	step.Step, step.Action = 2, "wipe(api)"
	back.Restore = true
	all := `    1  drain(api)  in_pool(api) → false  unfenced; way back: admit(api)
    2  wipe(api)   clean(api) → true     risk high, no way back, unprotected
    3  admit(api)  in_pool(api) → true
`
	why := "asked because of rule data: wipes are asked about\nnext\n"
	for name, tt := range map[string]struct {
		p     executor.Pending
		steps []executor.PlannedStep
		want  string
	}{
		"a plan":        {p, steps, "plan 0123456789ab\n" + all + "  way back known for 2 of 3\n" + why},
		"a step":        {step, steps, "step 2 of plan 0123456789ab, wipe(api)\n    2  wipe(api)  clean(api) → true  risk high, no way back, unprotected\n" + why},
		"going back":    {back, steps, "going back, after the run stopped: plan 0123456789ab\n" + all + why},
		"only by names": {p, nil, "plan 0123456789ab\n    1  drain(api)\n    2  wipe(api)\n    3  admit(api)\n" + why},
	} {
		var out bytes.Buffer
		if err := (&app{out: &out}).sayApproved(tt.p, rep, tt.steps, "next", "text"); err != nil {
			t.Fatal(err)
		}
		if want := "approved for run 01RUN, goal healthy: " + tt.want; out.String() != want {
			t.Errorf("%s: said\n%s\nwant\n%s", name, out.String(), want)
		}
	}
}

func TestWhatAPersonIsAskedIsTold(t *testing.T) {
	q := executor.Question{Restore: true}
	if got, want := question(q, "text"), "The run has stopped. Go back like this? Only \"yes\" is accepted: "; got != want {
		t.Errorf("asked %q, want %q", got, want)
	}
	got := told(t, executor.ApprovalAsked, executor.Asked{PlanHash: "0123456789abcdef", Restore: true},
		executor.Approval, executor.Approved{Answer: executor.AnswerYes, By: "eve", Host: "vm", How: "--approve"},
		executor.Approval, executor.Approved{Answer: executor.AnswerVoid, By: "eve", Reason: executor.RoundOver})
	want := `  going back, plan 0123456789ab, waits for an answer; from elsewhere: fettle approve 01RUN

  approved by eve with --approve

  the approval by eve is void: the round that it was given in has ended; what is planned now is asked about

`
	if got != want {
		t.Errorf("told\n%s\nwant\n%s", got, want)
	}
}
