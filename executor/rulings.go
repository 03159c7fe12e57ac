package executor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/policy"
	"github.com/fettleops/fettle/validator"
)

// RulesAsked is the kind of the event that tells what the rules say of a plan
// or of a step.
const RulesAsked = "ruled"

// rulings is what a run knows of the rules and of the limits that all
// controllers share.
type rulings struct {
	ruler    *Ruler    // as of the planning under way
	behind   int       // steps of the plan before the first that is validated
	ruled    *Ruled    // what is said of the plan under way
	opens    time.Time // when the first denial of this planning would no longer be given
	none     bool      // one is given whatever the time is
	limit    bool      // one is a shared limit's
	enrolled bool      // the run is known to all controllers as one towards its goal
}

// rules are those that deny steps, as of the planning under way.
func (r *run) rules() []validator.Rule {
	if r.ruler == nil { // Nothing is planned yet.
		return nil
	}
	if r.back != nil {
		return r.ruler.policyRules(r.behind)
	}
	return r.ruler.Rules(r.behind)
}

// consult gets what the rules look at beyond the model, as of now.
func (r *run) consult(ctx context.Context) error {
	ruler := &Ruler{
		Policy: r.Policy, Universe: r.u, Settings: r.Settings, Fenced: r.Actuator.Fenced, Safe: r.safe(),
		Goal: r.GoalName, Trigger: r.Trigger, Now: r.Now(),
	}
	if back := max(r.Policy.RulesReach(), r.Policy.Shared.Reach()); back > 0 {
		var err error
		if ruler.History, err = r.ledger().History(ctx, back); err != nil {
			return err
		}
	}
	r.ruler = ruler
	return nil
}

// unread ends the round: what the rules look at could not be read.
func (r *run) unread(ctx context.Context, err error) (*Ended, error) {
	if end := r.cut(ctx, "what all controllers did was read"); end != nil {
		return end, nil
	}
	f := &failure{kind: "infrastructure", infra: true, reason: err.Error(), key: policy.NewFailureKey("infrastructure", "")}
	return r.endRound(ctx, f, 0)
}

// wholePlan asks the rules about a plan as a whole that the validator accepted.
// The reason completes "plan denied by …".
func (r *run) wholePlan(steps []model.Step) (reason string, no bool) {
	if d := r.ruler.whole(r.state, steps); d != nil {
		r.limit = d.limit
		r.denied(d.opens)
		return d.why, true
	}
	return r.keepsAWay(steps)
}

// denied notes a denial, and when it would no longer be given.
func (r *run) denied(opens time.Time) {
	switch {
	case opens.IsZero():
		r.none = true
	case r.opens.IsZero() || opens.Before(r.opens):
		r.opens = opens
	}
}

// ruleOn asks the rules about an accepted plan before a person is, and records
// what they say. A plan that a person wrote is denied here.
func (r *run) ruleOn(ctx context.Context, p *accepted) (*Ended, error) {
	r.ruled = nil
	if len(r.Policy.Rules) == 0 && !r.Policy.PauseBeforePlan() {
		return nil, nil
	}
	ruled := r.ruler.Plan(r.state, p.ground)
	ruled.Round = r.round
	r.ruled = &ruled
	if len(r.Policy.Rules) > 0 {
		if err := r.emitRuled(ctx, ruled); err != nil {
			return nil, err
		}
	}
	if why, of, no := ruled.Denial(); no {
		f := &failure{kind: "policy", reason: "the plan is denied by " + why}
		if of != nil {
			f.action = of.Facts.Ground
		}
		f.key = policy.NewFailureKey(f.kind, f.action)
		return r.endRound(ctx, f, 0)
	}
	p.asks, p.allowed = ruled.Asks(), ruled.Allows(len(p.ground))
	if r.Policy.PauseBeforePlan() {
		p.asks = append(p.asks, pausesAtPlan)
	}
	return nil, nil
}

// maxHistory is how many actions a ruling cites; where rules counted more, it
// only says how many, and is taken as recorded when the run is replayed.
const maxHistory = 2000

// ruledOver are the actions that the rules counted when they were asked about a plan
// and these steps of it, with what they look at.
func (r *run) ruledOver(facts policy.Facts, steps []RuledStep) []policy.Deed {
	all := []policy.Facts{facts}
	for i := range steps {
		facts.Step = &steps[i].Facts
		all = append(all, facts)
	}
	return r.Policy.Counted(all...)
}

// emitRuled records what the rules say. What does not fit into an event is left
// out from the end: the denial and the questions are elsewhere too.
func (r *run) emitRuled(ctx context.Context, ruled Ruled) error {
	if ruled.Step > 0 {
		ruled.Facts.History = r.ruledOver(ruled.Facts, ruled.Steps)
	}
	if len(ruled.Facts.History) > maxHistory {
		ruled.Facts.History, ruled.HistoryMore = nil, len(ruled.Facts.History)
	}
	for tooLarge(ruled) && len(ruled.Steps) > 0 {
		keep := len(ruled.Steps) / 2
		ruled.More += len(ruled.Steps) - keep
		ruled.Steps = ruled.Steps[:keep]
	}
	return r.emit(ctx, RulesAsked, ruled)
}

// askStep asks the rules about a step once more, and a person where they, the
// policy's pauses or the command line say so.
func (r *run) askStep(ctx context.Context, p *accepted, n int) (*Ended, error) {
	var why []string
	if r.AskSteps {
		why = append(why, "every step is to be confirmed")
	}
	step := p.event.Steps[n-1]
	action := p.ground[n-1].Action.Name
	if r.Policy.PauseBeforeStep(action) {
		why = append(why, "pause_before names it")
	}
	if len(r.Policy.Rules) > 0 {
		if err := r.consult(ctx); err != nil {
			return r.unread(ctx, err)
		}
		s := r.stepRuling(n, p.ground[n-1])
		why = append(why, r.unasked(s)...)
	}
	if len(why) == 0 {
		r.stepYes = nil
		return nil, nil
	}
	return r.ask(ctx, Question{Plan: p.event, Step: &step, Why: why})
}

// stepRuling asks the rules about a step of the plan under way, from what is
// known now.
func (r *run) stepRuling(n int, g model.Ground) RuledStep {
	facts := r.ruler.facts()
	if r.ruled != nil {
		facts.Plan = r.ruled.Facts.Plan
	}
	return r.ruler.one(facts, r.ruler.step(n, g, r.state))
}

// unasked is why a person is to be asked about a step, but for what an approved
// plan was asked about because of.
func (r *run) unasked(s RuledStep) []string {
	if r.approval == nil || r.ruled == nil {
		return s.asks(&Ruled{})
	}
	if before := r.ruled.of(s.Facts.Step); before != nil {
		s.Ruling.Applied = slices.DeleteFunc(slices.Clone(s.Ruling.Applied), func(a policy.AppliedRule) bool { return asksFor(before.Ruling, a.Rule) })
	}
	return s.asks(r.ruled)
}

// permitted asks the rules about the step right before it is armed, under its
// leases and from what was just observed.
func (g *guard) permitted(ctx context.Context) *failure {
	if len(g.Policy.Rules) == 0 {
		return nil
	}
	bctx, cancel := g.bounded(ctx)
	defer cancel()
	if err := g.consult(bctx); err != nil {
		return &failure{kind: "infrastructure", infra: true, reason: "nothing was done: " + err.Error()}
	}
	s := g.stepRuling(g.ref.Step, g.ground)
	if s.Ruling.Effect != "" {
		facts := g.ruler.facts()
		if g.ruled != nil {
			facts.Plan = g.ruled.Facts.Plan
		}
		if err := g.emitRuled(ctx, Ruled{Round: g.round, Step: g.ref.Step, Facts: facts, Steps: []RuledStep{s}}); err != nil {
			return &failure{kind: "infrastructure", infra: true, reason: "nothing was done: " + err.Error()}
		}
	}
	switch s.Ruling.Effect {
	case policy.EffectDeny:
		f := &failure{kind: "policy", reason: "denied by " + s.Ruling.Denial()}
		if opens := s.Ruling.Opens; !opens.IsZero() { // It was allowed when it was planned: a window has closed.
			g.opens, g.none, g.limit = opens, false, false
			f.end = g.inTheWay(g.ref.Action + " is " + f.reason)
		}
		return f
	case policy.EffectAsk:
		if why := g.unasked(s); len(why) > 0 && g.stepYes == nil {
			return &failure{kind: "policy", reason: "a person is to be asked first: " + why[0]}
		}
	}
	return nil
}

// Window is the reason of a run that waits until a rule no longer denies.
const Window = "window"

// noWay ends the run: the policy stands in the way of every plan. Where only the
// time does, of the plan that there would be otherwise, it waits for that.
func (r *run) noWay(res planner.Result) *Ended {
	if len(res.Without) > 0 {
		r.opensFor(res.Without)
	}
	return r.inTheWay(res.Reason)
}

// inTheWay ends the run, or has it wait where what stands in the way goes by
// itself. Where the run has made things worse it does not wait like that.
func (r *run) inTheWay(reason string) *Ended {
	e := &Ended{Status: Escalated, Reason: policy.Denied, Message: reason}
	if r.limit {
		e.Reason = policy.Limited
	}
	if r.none || r.opens.IsZero() {
		return e
	}
	opens := r.opens.UTC()
	e.Opens = &opens
	if r.worse() {
		e.Message = fmt.Sprintf("%s; this is so until %s%s", reason, opens.Format(time.RFC3339), leftWorse)
		return e
	}
	if e.Status = WaitingStatus; !r.limit {
		e.Reason = Window
	}
	e.Message = fmt.Sprintf("%s; this is so until %s: `fettle resume %s` goes on after that", reason, opens.Format(time.RFC3339), r.Journal.ID())
	return e
}

// leftWorse says of a run why it does not wait.
const leftWorse = ", and nothing is left worse for so long"

// worse tells whether the severity is not known to be as low as at the start.
func (r *run) worse() bool { return r.baseline != nil && !r.fine(r.state) }

// opensFor notes when the last denial of a plan would no longer be given.
func (r *run) opensFor(steps []model.Step) {
	var grounds []model.Ground
	for _, st := range steps {
		g, fault := r.u.Bind(st, nil)
		if fault != nil {
			return
		}
		grounds = append(grounds, g)
	}
	r.opens = time.Time{}
	later := func(opens time.Time) {
		if opens.IsZero() {
			r.none = true
		} else if opens.After(r.opens) {
			r.opens = opens
		}
	}
	if no := r.ruler.fits(grounds); no != nil {
		r.limit = true
		later(no.Until)
	}
	ruled := r.ruler.Plan(r.state, grounds)
	for _, s := range append(ruled.Steps, RuledStep{Ruling: ruled.Ruling}) {
		if g := s.Ruling; g.Effect == policy.EffectDeny {
			r.limit = false
			later(g.Opens)
		}
	}
}

// deniedOutright tells whether the policy denies everything that was proposed,
// and notes for how long.
func (r *run) deniedOutright(res planner.Result) bool {
	for _, a := range res.Attempts {
		if a.Kind != validator.Policy || forWantOfAWay(a) {
			return false
		}
	}
	if len(res.Attempts) == 0 {
		return false
	}
	if last := res.Attempts[len(res.Attempts)-1]; !r.none && r.opens.IsZero() {
		r.opensFor(last.Steps)
	}
	return true
}
