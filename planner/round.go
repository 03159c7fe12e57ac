package planner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/validator"
)

// Limits bound a round. They are those of a policy, or flags.
type Limits struct {
	MaxAttempts        int // proposals in all; at least 1
	SameFailureRetries int // equal failures of one proposer in a row before the next is asked; 0: any number
	MaxPlanSteps       int // 0: any
	MaxRepeats         int // how often one plan may be tried from one state; 0: any number
	CriticRounds       int // plans that the critics read; 0: none
	// PlanRule is asked about each plan as a whole that the validator accepted,
	// before critics read it. The reason completes "plan denied by …". Nil: every
	// plan may be carried out.
	PlanRule func(steps []model.Step) (reason string, denied bool)
}

// Status says how a round ended.
type Status string

// The ways in which a round ends.
const (
	Valid        Status = "valid"
	Unsolvable   Status = "unsolvable"   // proved
	Unobservable Status = "unobservable" // proved that only unknown facts could change that
	Denied       Status = "denied"       // proved that the problem's rules leave no plan
	Exhausted    Status = "exhausted"    // no valid plan within the limits
)

// Result is the outcome of a round.
type Result struct {
	Status   Status
	Plan     []model.Step // of a valid round, else nil
	Proposer string       // whose plan or proof it is
	Optimal  bool
	Cost     float64
	Report   validator.Report // of the plan
	Key      string           // of the plan and the state, see [Tried]
	Reason   string           // why there is no plan, for a person
	Unknown  []string         // the facts that an unobservable goal needs
	Denials  []Denial         // what the rules deny, where they leave no plan
	Without  []model.Step     // the plan that there would be without the rules, nil where that is not known
	Repeated bool             // a valid plan was refused because it had been tried
	Remarks  []string         // what critics say of the plan, for whoever approves
	Attempts []Attempt
	Usage    Usage
	Uptake   map[string]Uptake // by proposer
	Stopped  error             // the budget's refusal, where that ended the round
}

// round is the state of one call of Round.
type round struct {
	problem  validator.Problem
	limits   Limits
	budget   Budget
	tried    *Tried
	goal     string
	note     func(Attempt) error
	attempts []Attempt
	result   Result
	errs     []error
	fatal    error // nobody may be asked in the place of who failed

	critics  []Critic
	reviews  int
	required []string // by the critics, of the last plan that they read
	spare    *Attempt // the last plan that nobody but a critic objects to
}

// Round asks the proposers in order until one of them has a valid plan or a
// proof that there is none, and tells onAttempt of every proposal; nil is fine.
// A proposer is given up after an error, after a final answer, or after the
// same failure as often as the limits say. The goal's sentence is taken from
// the model. The error is that of the context, of onAttempt, or of proposers
// none of whom could be asked; everything else is a [Result]. The plan that a
// valid result has was accepted by the validator from the problem's start; where
// critics read plans too, it is the last that the validator accepted, be it with
// their remarks.
func Round(ctx context.Context, problem validator.Problem, proposers []Proposer, limits Limits, budget Budget, tried *Tried, onAttempt func(Attempt) error, critics ...Critic) (Result, error) {
	if len(proposers) == 0 || limits.MaxAttempts < 1 {
		return Result{Status: Exhausted}, errors.New("a planning round needs a planner and at least one attempt")
	}
	r := &round{problem: problem, limits: limits, budget: marked{budget}, tried: tried, note: onAttempt, goal: sentence(problem), critics: critics}
	r.result.Uptake = map[string]Uptake{}
	for i, p := range proposers {
		done, err := r.ask(ctx, p, i == len(proposers)-1)
		if err != nil {
			return r.end(), err
		}
		if done {
			break
		}
	}
	return r.end(), r.unasked()
}

// unasked returns the proposers' errors where none of them could be asked, or
// none may be asked in the place of one.
func (r *round) unasked() error {
	if r.fatal != nil {
		return r.fatal
	}
	if r.result.Stopped != nil || len(r.errs) < len(r.attempts) {
		return nil
	}
	return errors.Join(r.errs...)
}

// sentence returns the objective of the goal that the problem names.
func sentence(p validator.Problem) string {
	for _, g := range p.U.Goals {
		if g.Cond == p.Goal && p.Goal != nil {
			return g.Doc
		}
	}
	return ""
}

// ask asks one proposer until the round is done, or the next one's turn.
func (r *round) ask(ctx context.Context, p Proposer, last bool) (done bool, err error) {
	same, before := 0, ""
	for {
		if r.stop() {
			return true, nil
		}
		a, err := r.attempt(ctx, p)
		if err != nil {
			return true, err
		}
		if a == nil {
			return true, nil
		}
		if a.key != before {
			same, before = 0, a.key
		}
		same++
		r.decide(a, same, last)
		if err := r.record(a); err != nil {
			return true, err
		}
		switch a.Next {
		case Done, EndRound:
			return true, nil
		case AskNext:
			return false, nil
		}
	}
}

// stop asks the budget whether another proposal may be made.
func (r *round) stop() bool {
	settle, err := r.budget.Reserve(Usage{})
	if err != nil {
		r.result.Stopped = err
		return true
	}
	settle(Usage{})
	return false
}

// attempt makes one proposal and judges it. It is nil where the budget stopped
// the proposer in its midst.
func (r *round) attempt(ctx context.Context, p Proposer) (*Attempt, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("planning was stopped: %w", err)
	}
	a := &Attempt{Number: len(r.attempts) + 1, Proposer: p.Name()}
	if m, ok := p.(interface{ Model() string }); ok {
		a.Model = m.Model()
	}
	began := time.Now()
	proposal, err := p.Propose(ctx, Request{
		Problem: r.problem, Goal: r.goal, Attempts: r.attempts[:len(r.attempts):len(r.attempts)],
		MaxPlanSteps: r.limits.MaxPlanSteps, Budget: r.budget,
	})
	a.Took = time.Since(began)
	var stopped *StopError
	var fatal *FatalError
	switch {
	case errors.As(err, &stopped):
		r.result.Stopped = stopped
		if proposal.Usage.Calls == 0 {
			return nil, nil
		}
		a.failed(Failure, err.Error()) // What was called for nothing is told.
		a.Outcome, a.Usage = Error, proposal.Usage
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("planning was stopped: %w", context.Cause(ctx))
	case err != nil:
		a.failed(Failure, err.Error())
		a.Outcome, a.Usage = Error, proposal.Usage
		r.errs = append(r.errs, fmt.Errorf("%s: %w", p.Name(), err))
		if errors.As(err, &fatal) {
			r.fatal = r.errs[len(r.errs)-1]
		}
	default:
		r.judge(a, proposal)
		if a.Outcome == Pass {
			r.review(ctx, a)
		}
	}
	return a, nil
}

// decide says what follows the attempt.
func (r *round) decide(a *Attempt, same int, last bool) {
	giveUp := a.Outcome == Error || a.Proposal.Final || !last && r.again(a) || a.Proposal.Verdict == GaveUp ||
		r.limits.SameFailureRetries > 0 && same >= r.limits.SameFailureRetries
	switch {
	case a.Outcome == Pass || a.Outcome == NeedsPerson:
		a.Next = Done
	case r.fatal != nil, r.result.Stopped != nil, a.Number >= r.limits.MaxAttempts, giveUp && last:
		a.Next = EndRound
	case giveUp:
		a.Next = AskNext
	default:
		a.Next = AskAgain
	}
}

// again tells whether the attempt's plan was proposed before: from an equal
// state, or in this round. Who repeats a plan that failed has nothing else.
func (r *round) again(a *Attempt) bool {
	if a.Kind == Repeat {
		return true
	}
	return r.limits.MaxRepeats > 0 && a.Outcome == Fail && len(a.Steps) > 0 && slices.ContainsFunc(r.attempts, func(b Attempt) bool {
		return b.Proposer == a.Proposer && slices.EqualFunc(a.Steps, b.Steps, func(s, t model.Step) bool { return s.String() == t.String() })
	})
}

// record keeps the attempt, takes over what it decided, and tells of it.
func (r *round) record(a *Attempt) error {
	r.uptake(a)
	r.attempts = append(r.attempts, *a)
	res := &r.result
	res.Usage = res.Usage.Add(a.Usage)
	res.Repeated = res.Repeated || a.Kind == Repeat
	switch a.Outcome {
	case Pass:
		r.accept(a)
	case NeedsPerson:
		res.Status, res.Proposer, res.Reason, res.Unknown = Status(a.Proposal.Verdict), a.Proposer, a.Critique, a.Proposal.Unknown
		res.Denials, res.Without = a.Proposal.Denials, a.Proposal.Without
	}
	if r.note == nil {
		return nil
	}
	return r.note(*a)
}

// accept makes the attempt's plan the result.
func (r *round) accept(a *Attempt) {
	res := &r.result
	res.Status, res.Proposer, res.Plan, res.Report = Valid, a.Proposer, a.Steps, a.Report
	res.Optimal, res.Cost, res.Remarks = a.Proposal.Optimal, a.Cost, a.Remarks
	res.Key = Key(r.problem, a.Steps)
	r.tried.Add(res.Key)
}

// end completes the result. A plan that only a critic objected to is not lost
// to worse ones after it.
func (r *round) end() Result {
	if r.result.Status == "" && r.spare != nil && r.fatal == nil {
		r.accept(r.spare)
	}
	res := r.result
	res.Attempts = r.attempts
	if res.Status != "" {
		return res
	}
	res.Status = Exhausted
	switch {
	case res.Stopped != nil:
		res.Reason = res.Stopped.Error()
	case len(r.attempts) > 0:
		res.Reason = r.attempts[len(r.attempts)-1].Critique
	}
	return res
}
