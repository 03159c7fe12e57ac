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
	looks    int    // that followed one which did not tell enough
	part     bool   // only what the run did itself is undone, whatever severity that leaves
	why      string // it stopped before that severity was reached
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
		w := r.wayHome(ctx)
		if !w.ok() {
			b.why = "no way back is known from here: " + w.why
			if r.awaitSight(ctx) {
				continue
			}
			return nil
		}
		b.part = w.how == ByPart
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
	for i := 0; i < len(ground); {
		g := ground[i]
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
		if f != nil && f.kind == policy.Busy { // Others are done some time: until the deadline of going back.
			r.back.why = f.reason
			continue
		}
		i++
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
		p.Failure, p.SameFailure, r.back.why = "", 0, ""
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

// mayGo asks the rules about a way back, and obtains the approval that it needs:
// where rules ask, an action may act late, or others did what it would change; and
// in mode approve, for every way that they do not allow. The approval of a plan
// that was shown with this way, and with what is asked, is one.
func (r *run) mayGo(ctx context.Context, p Plan, steps []model.Step, ground []model.Ground) (stop string, err error) {
	r.ruled, r.approval, r.stepYes = nil, nil, nil
	lapsed := r.forgetLapsed(ctx)
	why, no := r.wayNeeds(r.state, steps, r.deeds)
	why = slices.DeleteFunc(why, func(w string) bool { return strings.HasPrefix(w, pauseAsks) }) // That is asked before the action.
	allowed := false
	if len(r.Policy.Rules) > 0 {
		ruled := r.ruler.Plan(r.state, ground)
		ruled.Round = r.round
		r.ruled = &ruled
		if err := r.emitRuled(ctx, ruled); err != nil {
			return "", err
		}
		allowed = ruled.Allows(len(ground))
	}
	if no != "" {
		return no, nil
	}
	always := r.Policy.Mode == policy.Approve && !allowed
	if len(why) == 0 && !always {
		return "", nil
	}
	if given, seen := r.seenBy(steps, why); seen {
		r.approval = &given
		return "", nil
	}
	switch {
	case lapsed != "":
		why = append(why, lapsed)
	case always:
		why = append(why, "no approved plan was shown with this way back")
	}
	if r.Preapproved != "" && overOthers(why) {
		return "a person was to approve going back, and a yes that is given beforehand to every plan is none to that: " + joined(why), nil
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
	if r.Ask == nil && !r.Wait && (r.Preapproved == "" || q.Step != nil) {
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
