package executor

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/policy"
	"github.com/fettleops/fettle/validator"
)

// accepted is a plan that the validator accepted from the observed state.
type accepted struct {
	event  Plan
	steps  []model.Step
	ground []model.Ground

	asks    []string // why a person is to be asked, whatever the mode: what rules say
	allowed bool     // rules allow every step of it, and none asks
}

// towards is the problem of reaching the goal from what is known now.
func (r *run) towards() validator.Problem {
	return validator.Problem{
		U: r.u, Start: r.state, Goal: r.Goal.Cond, GoalArgs: r.GoalArgs, GoalName: r.GoalName, Allowed: r.Goal.Actions,
		StartedAs: "as observed now",
		Why:       func(a model.Atom) string { return r.last[r.u.Text(a)].Err },
		Rules:     r.rules(),
	}
}

// plan holds one planning round. Nil without an end means that the round ended
// without a plan that may be tried.
func (r *run) plan(ctx context.Context) (*accepted, *Ended, error) {
	pctx, cancel := r.bounded(ctx)
	defer cancel()
	r.opens, r.none, r.limit = time.Time{}, false, false
	var broken error
	res, err := planner.Round(pctx, r.problem(), r.advised(), r.limits(), &budget{r, ctx}, r.tried, func(a planner.Attempt) error {
		r.progress.Attempted()
		broken = r.emit(ctx, AttemptMade, r.attempted(a))
		return broken
	}, r.Critics...)
	var stop *stopped
	switch {
	case broken != nil:
		return nil, nil, broken
	case errors.As(res.Stopped, &stop):
		return nil, stop.end, nil
	case res.Stopped != nil: // The journal could not take the policy's answer.
		return nil, nil, res.Stopped
	}
	if end := r.cut(ctx, "planning"); end != nil {
		return nil, end, nil
	}
	switch res.Status {
	case planner.Valid:
		a, err := r.accept(res)
		if err != nil {
			return nil, nil, err
		}
		return a, nil, r.emit(ctx, PlanAccepted, a.event)
	case planner.Denied:
		return nil, r.noWay(res), nil
	case planner.Unsolvable, planner.Unobservable:
		end, err := r.unreachable(ctx, res)
		return nil, end, err
	}
	end, err := r.noPlan(ctx, res, err)
	return nil, end, err
}

func (r *run) limits() planner.Limits {
	p := r.Policy
	return planner.Limits{
		MaxAttempts: p.MaxAttempts, SameFailureRetries: p.SameFailureRetries,
		MaxPlanSteps: p.MaxPlanSteps.Value, MaxRepeats: p.MaxRepeats, CriticRounds: p.CriticRounds.Or(p.MaxAttempts),
		PlanRule: r.wholePlan,
	}
}

// repeated is the kind of a round whose plan had been tried from here.
const repeated = "repeat"

// noPlan ends the round without a plan: none was found, it had been tried, or
// no planner could be asked, which is the error given.
func (r *run) noPlan(ctx context.Context, res planner.Result, cause error) (*Ended, error) {
	f := &failure{kind: "no_plan", reason: "no plan was accepted: " + res.Reason}
	var fatal *planner.FatalError
	switch {
	case errors.As(cause, &fatal): // Asking again would be asking the same.
		return &Ended{Status: FailedStatus, Reason: policy.Errors, Message: cause.Error() + "; nobody is asked in its place"}, nil
	case cause != nil:
		f.kind, f.reason, f.infra = "infrastructure", "no planner could be asked: "+cause.Error(), true
	case r.deniedOutright(res):
		return r.inTheWay(res.Reason), nil
	case res.Repeated:
		r.progress.Repeated()
		f.kind, f.reason = repeated, "the plan was tried before from here: "+res.Reason
	}
	f.key = policy.NewFailureKey(f.kind, "")
	return r.endRound(ctx, f, 0)
}

// unreachable ends the run: the goal was proved out of reach. Where somebody
// else holds what bears on it, that may change, and the run waits for them;
// where they have just let go, what was observed before no longer counts.
func (r *run) unreachable(ctx context.Context, res planner.Result) (*Ended, error) {
	wctx, cancel := r.patience(ctx)
	defer cancel()
	everything := r.bearing()
	holders, err := r.Locker.Holders(wctx, everything)
	holders = r.others(holders)
	f := &failure{kind: string(res.Status), key: policy.NewFailureKey(string(res.Status), ""), reason: res.Reason}
	switch {
	case err != nil:
		f.kind, f.infra, f.reason = "infrastructure", true, res.Reason+"; whether others are at work is not known: "+err.Error()
		f.key = policy.NewFailureKey(f.kind, "")
		return r.endRound(ctx, f, 0)
	case len(holders) > 0:
		f.reason += "; but others are at work: " + holders[0].String()
		if err := r.emit(ctx, StepWaiting, Waiting{StepRef: StepRef{Round: r.round}, Busy: f.reason}); err != nil {
			return nil, err
		}
		if end, err := r.letWork(ctx, wctx, everything); err != nil {
			return nil, err
		} else if f.end = end; end != nil && end.Reason == policy.Busy {
			end.Message = f.reason
		}
		return r.endRound(ctx, f, 0)
	}
	if end, err := r.look(ctx); end != nil || err != nil {
		return end, err
	}
	if r.news > 0 {
		r.fresh = true
		f.reason += "; but the world has changed meanwhile"
		return r.endRound(ctx, f, 0)
	}
	r.progress.Learned(policy.Evidence{Kind: policy.Proof, What: string(res.Status)})
	return &Ended{Status: Escalated, Reason: string(res.Status), Message: res.Reason}, nil
}

// letWork waits until nobody else holds what bears on the goal any more, or
// until what they do has changed a condition: one who holds on to something for
// long is no new failure with every lease that somebody takes meanwhile.
func (r *run) letWork(ctx, wctx context.Context, everything []lease.Resource) (*Ended, error) {
	for {
		short, cancel := context.WithTimeout(wctx, time.Second) // The change may have come before the look.
		err := r.Locker.AwaitChange(short, everything)
		idle := short.Err() != nil
		cancel()
		if err == nil {
			err = pause(wctx, lookAgain)
		}
		if wctx.Err() != nil {
			if end := r.cut(ctx, "others were at work"); end != nil {
				return end, nil
			}
			return &Ended{Status: WaitingStatus, Reason: policy.Busy}, nil
		}
		if err != nil && !idle { // The next round finds out more.
			return nil, nil
		}
		holders, err := r.Locker.Holders(wctx, everything)
		over := err == nil && len(r.others(holders)) == 0
		if idle && !over {
			continue
		}
		if end, err := r.look(ctx); end != nil || err != nil {
			return end, err
		}
		if r.fresh = over || r.news > 0; r.fresh {
			return nil, nil
		}
	}
}

// accept describes an accepted plan.
func (r *run) accept(res planner.Result) (*accepted, error) {
	a := &accepted{steps: res.Plan, event: Plan{
		Round: r.round, Planner: res.Proposer, Optimal: res.Optimal, Cost: res.Cost,
		PlanHash: PlanHash(r.ModelHash, r.GoalName, res.Plan), Tried: planner.Key(r.problem(), res.Plan), Remarks: res.Remarks,
	}}
	for _, inv := range r.u.Invariants {
		if inv.Message != "" {
			a.event.Invariants = append(a.event.Invariants, inv.Message)
		}
	}
	if err := r.describe(a); err != nil {
		return nil, err
	}
	r.tellWays(a)
	return a, nil
}

// describe says what each step of an accepted plan is to do.
func (r *run) describe(a *accepted) error {
	state, d := r.state.Clone(), &model.Delta{}
	for i, st := range a.steps {
		g, fault := r.u.Bind(st, nil)
		if fault != nil {
			return fmt.Errorf("an accepted plan has a step that means nothing: %s", fault.Message)
		}
		if fault := g.Effects(state, d); fault != nil {
			return fmt.Errorf("an accepted plan has a step that cannot be applied: %s", fault.Message)
		}
		a.ground = append(a.ground, g)
		a.event.Steps = append(a.event.Steps, r.planned(i+1, g, d))
		d.Commit(state)
	}
	return nil
}

func (r *run) planned(n int, g model.Ground, d *model.Delta) PlannedStep {
	set := r.Settings[g.Action]
	s := PlannedStep{Step: n, Action: r.u.StepText(g), Risk: set.Risk, Undo: set.Undo != ""}
	s.Unfenced = !r.Actuator.Fenced(g.Action)
	s.Unprotected = s.Unfenced && set.Timeout > r.safe()
	for _, w := range d.Writes {
		if w.Changed() {
			s.Effects = append(s.Effects, Change{Fluent: r.u.Text(r.atom(w)), To: r.u.Plain(w.Fluent, w.New)})
		}
	}
	return s
}

// safe is how long an action may take within one lease that is not renewed.
func (r *run) safe() time.Duration {
	ttl, margin := r.Locker.Times()
	return ttl - margin
}

func (r *run) attempted(a planner.Attempt) Attempt {
	e := Attempt{
		Round: r.round, Attempt: a.Number, Planner: a.Proposer, Verdict: string(a.Outcome), Next: string(a.Next), Kind: string(a.Kind),
		Critique: a.Critique, Cost: a.Cost, Optimal: a.Proposal.Optimal, MS: ms(a.Took), Steps: []string{},
	}
	e.Violation = violation(a)
	e.Calls, e.Tokens, e.CostUSD = a.Usage.Calls, a.Usage.TokensIn+a.Usage.TokensOut, a.Usage.Cost
	e.Model, e.Notes = a.Model, a.Proposal.Notes
	for _, st := range a.Steps {
		e.Steps = append(e.Steps, st.String())
	}
	return e
}

// PlanHash identifies what an approval is for: the model, the goal and the plan.
func PlanHash(modelHash, goal string, steps []model.Step) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n", modelHash, goal)
	for _, st := range steps {
		fmt.Fprintf(h, "%s\n", st)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// nextPlanner gives up the planner whose failures are all the same.
func (r *run) nextPlanner() {
	if len(r.Proposers) > 1 {
		r.Proposers = r.Proposers[1:]
		r.progress.NextPlanner()
	}
}

// budget asks the policy before every proposal and every call of a model.
type budget struct {
	r   *run
	ctx context.Context
}

// stopped is the policy's no, or the loss of the journal.
type stopped struct{ end *Ended }

func (s *stopped) Error() string { return s.end.Message }

func (b *budget) Reserve(u planner.Usage) (func(planner.Usage), error) {
	at := policy.PointAttempt
	if u != (planner.Usage{}) {
		at = policy.PointCall
	}
	b.r.progress.Reserved(u.Calls, u.Cost)
	end, err := b.r.decide(b.ctx, at)
	b.r.progress.Reserved(0, 0)
	switch {
	case err != nil:
		return nil, err
	case end != nil:
		return nil, &stopped{end}
	}
	return func(used planner.Usage) {
		b.r.progress.Called(used.Calls, used.TokensIn+used.TokensOut, used.Cost)
	}, nil
}

// stepSeq yields steps that are already read.
func stepSeq(steps []model.Step) iter.Seq2[model.Step, error] {
	return func(yield func(model.Step, error) bool) {
		for _, st := range steps {
			if !yield(st, nil) {
				return
			}
		}
	}
}
