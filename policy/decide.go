package policy

import "fmt"

// Point is where in the loop the policy is asked.
type Point string

// The points at which the policy is asked.
const (
	PointAttempt Point = "attempt" // a proposal
	PointCall    Point = "call"    // a call of a language model, the critic's too
	PointAction  Point = "action"  // an execution of an action
	PointRetry   Point = "retry"   // the same after an error or a failure
	PointRound   Point = "round"   // after every round, and before the first
)

// Answer is what the policy says.
type Answer string

// The answers.
const (
	Continue   Answer = "continue"
	Checkpoint Answer = "checkpoint" // give control back; the run is resumable
	Stop       Answer = "stop"
)

// The reasons of decisions: the words by which a run's status names why it
// stopped or waits.
const (
	Rounds     = "rounds"
	Budget     = "budget" // calls, cost or actions
	Deadline   = "deadline"
	NoProgress = "no_progress" // one failure repeated, or rounds without evidence
	Denied     = "denied"
	Errors     = "error" // too many infrastructure errors: the run failed
	Paused     = "paused"
	Busy       = "busy"
)

// Decision is an answer with its reasons, fit for the journal.
type Decision struct {
	Point  Point  `json:"point"`
	Answer Answer `json:"answer"`
	Reason string `json:"reason,omitempty"` // of a stop or a checkpoint
	// NextPlanner says that the present planner is given up: the same failure
	// came too often in a row. At a retry it refuses the retry.
	NextPlanner bool `json:"next_planner,omitempty"`
	// Reasons are sentences: why not, or where the run stands within its limits.
	Reasons []string `json:"reasons"`
}

// Decide answers whether a run may go on at this point. It depends on its
// arguments alone. A stop outweighs a checkpoint; all that apply are among the
// reasons.
func (p *Policy) Decide(at Point, g Progress) Decision {
	d := decision{Decision: Decision{Point: at, Answer: Continue}}
	p.always(&d, g)
	switch at {
	case PointCall:
		p.call(&d, g)
	case PointAction:
		p.action(&d, g)
	case PointRetry:
		p.repeated(&d, g)
		p.action(&d, g)
	case PointRound:
		p.round(&d, g)
		p.repeated(&d, g)
	}
	p.waits(&d, g)
	if d.Answer == Continue {
		d.Reasons = append(d.Reasons, p.standing(at, g)...)
	} else {
		d.NextPlanner = false
	}
	return d.Decision
}

// decision gathers reasons; the first stop, or else the first checkpoint,
// gives the word.
type decision struct{ Decision }

func (d *decision) stop(reason, format string, args ...any) {
	d.Reasons = append(d.Reasons, fmt.Sprintf(format, args...))
	if d.Answer != Stop {
		d.Answer, d.Reason = Stop, reason
	}
}

func (d *decision) wait(reason, format string, args ...any) {
	d.Reasons = append(d.Reasons, fmt.Sprintf(format, args...))
	if d.Answer == Continue {
		d.Answer, d.Reason = Checkpoint, reason
	}
}

// always checks the limits that hold at every point.
func (p *Policy) always(d *decision, g Progress) {
	if e := g.Elapsed(); e >= p.Deadline {
		d.stop(Deadline, "deadline = %s is over: the run started %s ago", spell(p.Deadline), spell(e))
	}
	if g.Errors > p.MaxErrors {
		d.stop(Errors, "max_errors = %d exceeded: %d infrastructure errors", p.MaxErrors, g.Errors)
	}
}

func (p *Policy) call(d *decision, g Progress) {
	if n := g.Calls + max(1, g.NextCalls); !p.MaxCalls.Allows(n) {
		d.stop(Budget, "max_calls = %d reached: %d used", p.MaxCalls.Value, g.Calls)
	}
	switch {
	case p.MaxCost.Set && p.MaxCost.Value > 0 && g.Cost >= p.MaxCost.Value:
		d.stop(Budget, "max_cost = $%g reached: $%.4g used", p.MaxCost.Value, g.Cost)
	case !p.MaxCost.Allows(g.Cost + g.NextCost):
		d.stop(Budget, "max_cost = $%g could be exceeded: $%.4g used, and the next call may cost $%.4g", p.MaxCost.Value, g.Cost, g.NextCost)
	}
}

func (p *Policy) action(d *decision, g Progress) {
	if p.Mode == Suggest {
		d.stop(Denied, "mode = \"suggest\": plans are proposed and nothing is carried out")
	}
	if g.Actions >= p.MaxActions {
		d.stop(Budget, "max_actions = %d reached: %d executed", p.MaxActions, g.Actions)
	}
}

func (p *Policy) round(d *decision, g Progress) {
	if g.Round >= p.MaxRounds {
		d.stop(Rounds, "max_rounds = %d reached", p.MaxRounds)
	}
	if g.RoundsNoEvidence >= p.NoEvidenceRounds {
		d.stop(NoProgress, "no_evidence_rounds = %d reached: nothing new was learned in %s", p.NoEvidenceRounds, rounds(g.RoundsNoEvidence))
	}
}

// repeated gives a planner up whose failures are all the same, and stops where
// there is no other.
func (p *Policy) repeated(d *decision, g Progress) {
	if g.SameFailure < p.SameFailureRetries {
		return
	}
	if g.Planners > 1 {
		d.NextPlanner = true
		d.Reasons = append(d.Reasons, fmt.Sprintf("same_failure_retries = %d reached by %s: the next planner is asked", p.SameFailureRetries, g.Failure))
		return
	}
	d.stop(NoProgress, "same_failure_retries = %d reached by %s, and there is no other planner", p.SameFailureRetries, g.Failure)
}

func (p *Policy) waits(d *decision, g Progress) {
	if g.Paused {
		d.wait(Paused, "actions are paused everywhere")
	}
	if w := g.Waited; w > 0 && p.MaxWait.Reached(w) {
		d.wait(Busy, "max_wait = %s is over: somebody else holds a lease that is needed", spell(p.MaxWait.Value))
	}
}

// standing says where the run is within the limits that matter at this point.
func (p *Policy) standing(at Point, g Progress) []string {
	var out []string
	say := func(what string, used, of int) { out = append(out, fmt.Sprintf("%d of %d %s used", used, of, what)) }
	switch at {
	case PointRound:
		say("rounds", g.Round, p.MaxRounds)
	case PointAttempt:
		say("attempts", g.Attempts, p.MaxAttempts)
	case PointCall:
		if p.MaxCalls.Set {
			say("calls", g.Calls, p.MaxCalls.Value)
		}
		if p.MaxCost.Set {
			out = append(out, fmt.Sprintf("$%.4g of $%g used", g.Cost, p.MaxCost.Value))
		}
	default:
		say("actions", g.Actions, p.MaxActions)
	}
	return append(out, fmt.Sprintf("%s of %s used", spell(g.Elapsed()), spell(p.Deadline)))
}

func rounds(n int) string {
	if n == 1 {
		return "the last round"
	}
	return fmt.Sprintf("the last %d rounds", n)
}
