package executor

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/policy"
)

// goingBack is how a run that stopped short goes back to the severity of its start.
type goingBack struct {
	until    time.Time // it has to be over
	progress policy.RestoreProgress
	done     []string // actions that took something back
	why      string   // it stopped before that severity was reached
}

// putBack ends what the run did to the world: where the policy asks for it, it
// goes back, while named leases and the right to drive the run are still held.
// How the run ended stays as it is.
func (r *run) putBack(ctx context.Context, end Ended) {
	if r.baseline == nil || r.gone || r.mute || !r.restores() || end.Status != Escalated && end.Status != FailedStatus {
		return
	}
	_, within := r.Policy.GoingBack()
	now := r.Now()
	b := &goingBack{until: now.Add(within), progress: policy.RestoreProgress{Started: now}}
	r.back, r.returned = b, b
	defer func() { r.back = nil }()
	if err := r.goBack(ctx, end); err != nil {
		b.why = err.Error()
	}
}

// goBack goes ways back, each from what is observed, until the severity is no
// higher than at the start or something is in the way. The error is that of the
// journal.
func (r *run) goBack(ctx context.Context, end Ended) error {
	for b := r.back; ; {
		if stop, err := r.seeAgain(ctx); stop != nil || err != nil {
			b.why = sayEnd(stop)
			return err
		}
		if !r.bore(r.deeds) || r.fine(r.state) {
			return nil
		}
		if err := r.consult(ctx); err != nil {
			b.why = err.Error()
			return nil
		}
		w := way{how: NoneAtAll}
		r.find(ctx, &w, r.state, r.deeds, "")
		if !w.ok() {
			b.why = "no way back is known from here: " + w.why
			return nil
		}
		b.progress.Ways++
		stop, again, err := r.goWay(ctx, w, end)
		if err != nil || !again {
			b.why = stop
			return err
		}
	}
}

// seeAgain finds out where the run stands: what is in doubt is taken over first.
func (r *run) seeAgain(ctx context.Context) (*Ended, error) {
	if err := r.settleDoubts(ctx); err != nil {
		return nil, err
	}
	return r.look(ctx)
}

func sayEnd(e *Ended) string {
	switch {
	case e == nil:
		return ""
	case e.Message != "":
		return e.Message
	}
	return e.Status
}

// goWay goes one way back. Again tells that another may be gone from what is
// observed then; else stop says what is in the way, "" where it was gone to its end.
func (r *run) goWay(ctx context.Context, w way, end Ended) (stop string, again bool, err error) {
	plan, ground, err := r.restorePlan(w, end)
	if err != nil {
		return err.Error(), false, nil
	}
	if err := r.emit(ctx, RestorePlanned, r.restoreEvent(w, plan, end)); err != nil {
		return "", false, err
	}
	if stop, err := r.mayGo(ctx, plan, w.steps, ground); stop != "" || err != nil {
		return stop, false, err
	}
	for i, g := range ground {
		stop, err := r.mayStep(ctx, plan, i+1, g)
		if stop != "" || err != nil {
			return stop, false, err
		}
		gd := r.newGuard(i+1, g, w.steps[i:])
		gd.ref.Restore = true
		f, err := gd.do(ctx)
		if err != nil {
			return "", false, err
		}
		r.counted(gd, f)
		if f != nil {
			if f.end != nil {
				return f.reason, false, nil
			}
			return "", true, nil
		}
		if r.fine(r.state) {
			break
		}
	}
	return "", true, nil
}

// counted counts what came of an action by which the run goes back.
func (r *run) counted(g *guard, f *failure) {
	p := &r.back.progress
	if g.armed {
		p.Actions++
	}
	switch {
	case f == nil:
		if !g.skipped {
			r.back.done = append(r.back.done, g.ref.Action)
		}
		p.Failure, p.SameFailure = "", 0
	case f.key == p.Failure:
		p.SameFailure++
	default:
		p.Failure, p.SameFailure = f.key, 1
	}
	if f != nil {
		r.back.why = f.reason
	}
}

// restorePlan describes a way back as a plan.
func (r *run) restorePlan(w way, end Ended) (Plan, []model.Ground, error) {
	p := Plan{Round: r.round, Planner: restorer, PlanHash: PlanHash(r.ModelHash, "back from "+r.GoalName, w.steps)}
	a := &accepted{steps: w.steps}
	if err := r.describe(a); err != nil {
		return p, nil, err
	}
	p.Steps, p.Cost = a.event.Steps, float64(len(w.steps))
	p.Remarks = []string{"going back: " + sayEnd(&end)}
	return p, a.ground, nil
}

func (r *run) restoreEvent(w way, p Plan, end Ended) RestorePlan {
	most, within := r.Policy.GoingBack()
	return RestorePlan{
		Way: r.back.progress.Ways, How: w.how, Start: r.baseline.start(), Now: r.severity(r.state).value(), Steps: p.Steps, PlanHash: p.PlanHash,
		Actions: most, WithinS: within.Seconds(), Stopped: sayEnd(&end),
	}
}

// mayGo asks the rules about a way back, and obtains the approval that it needs. In
// mode approve, the approval of a plan covers the ways back that it was shown with;
// any other is asked about, and so is what rules ask about.
func (r *run) mayGo(ctx context.Context, p Plan, steps []model.Step, ground []model.Ground) (stop string, err error) {
	r.ruled = nil
	shown := !slices.ContainsFunc(steps, func(st model.Step) bool { return !r.shown[st.String()] })
	var why []string
	if names := unprotected(p); len(names) > 0 {
		why = append(why, unprotectedAsks+strings.Join(names, ", "))
	}
	if len(r.Policy.Rules) > 0 {
		ruled := r.ruler.Plan(r.state, ground)
		ruled.Round = r.round
		r.ruled = &ruled
		if err := r.emitRuled(ctx, ruled); err != nil {
			return "", err
		}
		if no, _, denied := ruled.Denial(); denied {
			return "going back is denied by " + no, nil
		}
		if !shown {
			why = append(why, ruled.Asks()...)
		}
	}
	if r.Policy.Mode == policy.Approve && !shown {
		why = append(why, "no approved plan was shown with this way back")
	}
	if len(why) == 0 {
		return "", nil
	}
	if yes, err := r.askBack(ctx, Question{Plan: p, Why: why}); !yes || err != nil {
		return "a person was to approve going back, and did not: " + joined(why), err
	}
	given := r.approved[p.PlanHash]
	r.approval = &given
	return "", nil
}

// askBack asks a person about going back. Where nobody can be asked it is not
// kept as a question, which would outlive the run.
func (r *run) askBack(ctx context.Context, q Question) (yes bool, err error) {
	if r.Ask == nil && r.Preapproved == "" && !r.Wait {
		return false, nil
	}
	r.stepYes = nil
	end, err := r.ask(ctx, q)
	r.answered = nil
	if q.Step != nil {
		yes = r.stepYes != nil
	} else {
		_, yes = r.approved[q.Plan.PlanHash]
	}
	return yes && end == nil && err == nil, errors.Join(err, r.unask(ctx))
}

// mayStep asks the policy before an action of a way back, and a person where
// every step is to be confirmed.
func (r *run) mayStep(ctx context.Context, p Plan, n int, ground model.Ground) (stop string, err error) {
	if end := r.halted(ctx); end != nil {
		return sayEnd(end), nil
	}
	if err := r.askPause(ctx); err != nil {
		return err.Error(), nil
	}
	g := r.back.progress
	g.Now, g.Paused = r.Now(), r.progress.Progress(r.Now()).Paused
	d := r.Policy.DecideRestore(g)
	if err := r.emit(ctx, RestoreDecided, RestoreDecision{d, g}); err != nil {
		return "", err
	}
	if d.Answer != policy.Continue {
		stop := joined(d.Reasons)
		if why := r.back.why; why != "" {
			stop += "; the last failure: " + why
		}
		return stop, nil
	}
	r.stepYes = nil
	why := []string{"every step is to be confirmed"}
	switch {
	case r.AskSteps:
	case r.Policy.PauseBeforeStep(ground.Action.Name):
		why[0] = "pause_before names it"
	default:
		return "", nil
	}
	step := p.Steps[n-1]
	if yes, err := r.askBack(ctx, Question{Plan: p, Step: &step, Why: why}); !yes || err != nil {
		return "a person was to approve " + step.Action + ", and did not: " + why[0], err
	}
	return "", nil
}
