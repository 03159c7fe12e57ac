package executor

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/fettleops/fettle/journal"
)

func TestEachLimitEndsTheRunWithItsWord(t *testing.T) {
	fail := func(string, *http.Request) (int, bool) { return http.StatusInternalServerError, false }
	for _, tt := range []struct {
		name           string
		policy         []string
		prepare        func(*rig)
		status, reason string
		acted          int
	}{
		{"suggest", []string{"mode", `"suggest"`}, nil, Escalated, "denied", 0},
		{"max_actions", []string{"max_actions", "1"}, nil, Escalated, "budget", 1},
		{"no action", []string{"max_actions", "0"}, nil, Escalated, "budget", 0},
		{"max_rounds", []string{"max_rounds", "1"}, func(r *rig) { r.yard.on = fail }, Escalated, "rounds", 1},
		{"same_failure_retries", []string{"same_failure_retries", "2"}, func(r *rig) { r.yard.on = fail }, Escalated, "no_progress", 2},
		{"no_evidence_rounds", []string{"no_evidence_rounds", "1"}, func(r *rig) { r.yard.on = fail }, Escalated, "no_progress", 2},
		{"max_errors", []string{"max_errors", "0"}, func(r *rig) { r.yard.broken = true }, FailedStatus, "error", 0},
		{"deadline", nil, func(r *rig) {
			late := time.Duration(0)
			r.config.Now = func() time.Time { return time.Now().Add(late) }
			r.see = func(kind string, _ journal.Event) {
				if kind == StepFinished {
					late = time.Hour
				}
			}
		}, Escalated, "deadline", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, setup{policy: tt.policy})
			r.yard.ok["api"] = false
			if tt.prepare != nil {
				tt.prepare(r)
			}
			end := r.run()
			r.ends(end, tt.status, tt.reason)
			if n := len(r.yard.acts()); n != tt.acted || end.Actions != tt.acted {
				t.Errorf("acted %d times, counted %d, want %d", n, end.Actions, tt.acted)
			}
			if len(end.Undone) == 0 || end.Message == "" {
				t.Errorf("end %+v", end)
			}
			r.clean()
		})
	}
}

func TestAQuestionEndsWithTheDeadline(t *testing.T) {
	r := newRig(t, setup{policy: []string{"mode", `"approve"`, "deadline", `"1s"`}})
	r.yard.ok["api"] = false
	r.config.Ask = func(ctx context.Context, _ Question) (Answer, error) {
		<-ctx.Done()
		return Answer{}, ctx.Err()
	}
	r.ends(r.run(), Escalated, "deadline")
	r.did()
}

func TestAGoalThatHoldsNeedsNoRound(t *testing.T) {
	r := newRig(t, setup{})
	end := r.run()
	r.ends(end, Succeeded, "")
	if end.Rounds != 0 || end.Actions != 0 || len(end.Evidence) != 4 {
		t.Errorf("end %+v", end)
	}
	r.did()
}
