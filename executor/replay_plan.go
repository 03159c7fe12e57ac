package executor

import (
	"slices"
	"strings"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/policy"
	"github.com/fettleops/fettle/validator"
)

// attempted derives the verdict on a proposal.
func (r *replayer) attempted(v Attempt) error {
	if err := r.fold(); err != nil {
		return err
	}
	r.leaves()
	r.calls, r.tokens, r.cost = r.calls+v.Calls, r.tokens+v.Tokens, r.cost+v.CostUSD
	c := r.decision("verdict on a proposal", "the verdict on attempt %d of round %d, by %s", v.Attempt, v.Round, v.Planner)
	c.follows(r.inside && (r.plan == nil || decidedOn(v.Planner)), RoundStarted)
	c.same("round", v.Round, r.p.round)
	if !decidedOn(v.Planner) {
		r.use(c, policy.PointAttempt)
	}
	if v.Calls > 0 {
		r.use(c, policy.PointCall)
	}
	r.proposed(c, v)
	if !r.sighted() {
		return nil
	}
	return r.verdict(c, v)
}

// proposed notes an attempt, and derives what follows from its verdict alone.
func (r *replayer) proposed(c *check, v Attempt) {
	if r.asked == nil {
		r.asked, r.passed = map[string]int{}, map[string]Attempt{}
	}
	n, most := 1, 1
	if !decidedOn(v.Planner) {
		r.tries++
		n, most = r.tries, r.m.Policy.MaxAttempts
	}
	r.asked[v.Kind]++
	next := v.Next
	switch pass := v.Verdict == string(planner.Pass); {
	case pass, v.Kind == string(planner.Objected):
		r.passed[strings.Join(v.Steps, "\n")] = v
		if pass {
			next = string(planner.Done)
		}
	case v.Verdict == string(planner.NeedsPerson):
		r.proof, next = true, string(planner.Done)
	case v.Verdict == string(planner.Fail), v.Verdict == string(planner.Error):
		if n >= most {
			next = string(planner.EndRound)
		}
	default:
		c.same("verdict", v.Verdict, "a word that is one")
	}
	if !r.Other {
		c.same("attempt", v.Attempt, n)
		c.same("next", v.Next, next)
	}
}

// decidedOn tells whether a plan was proposed by a person's decision, and not planned.
func decidedOn(planner string) bool { return planner == approvedPlan || planner == editedPlan }

// judged are the kinds of verdicts that follow from the plan alone.
var judged = []validator.Kind{
	"", validator.UnknownAction, validator.WrongArity, validator.UnknownObject, validator.WrongType, validator.Precondition,
	validator.UnknownValue, validator.EffectConflict, validator.Invariant, validator.Goal, planner.Repeat,
}

// verdict judges the plan of an attempt once more.
func (r *replayer) verdict(c *check, v Attempt) error {
	kind := validator.Kind(v.Kind)
	ruled := kind == validator.Policy && !strings.Contains(v.Critique, "denied by max_plan_steps")
	switch {
	case v.Verdict == string(planner.NeedsPerson), v.Verdict == string(planner.Error):
		r.taken("what planners said in place of a plan")
		return nil
	case len(v.Steps) == 0 && !slices.Contains(judged, kind) && kind != validator.Policy, kind == planner.NoPlan:
		r.taken("what planners said in place of a plan")
		return nil
	}
	steps, ok := parsedSteps(v.Steps)
	if kind == validator.Kind(planner.Rejected) {
		_, no := r.p.rejected[PlanHash(r.p.model, r.p.GoalName, steps)]
		c.follows(no, Approval+" in which a person rejected this plan")
		return nil
	}
	if !ok {
		r.taken("plans whose steps cannot be read back")
		return nil
	}
	if v.Kind == string(planner.Rejected) { // A person's word decided.
		c.follows(r.p.turnedDown(steps), Approval+" that rejects this plan")
		return nil
	}
	a, err := r.judge(v.Planner, steps)
	if err != nil {
		return err
	}
	switch {
	case kind == planner.Objected:
		r.taken("what critics said")
		c.same("verdict", "pass, but for a critic", objected(a))
	case kind == validator.Syntax: // What could not be read comes after these steps.
		if a.Report.Step > 0 {
			c.same("kind", kind, a.Kind)
		}
	case ruled: // The ruling is derived where it is told.
		if a.Report.Step > 0 && a.Report.Step < ruledStep(v.Critique) {
			c.same("kind", kind, a.Kind)
		}
	default:
		c.same("verdict", v.Verdict, string(a.Outcome))
		c.same("kind", v.Kind, string(a.Kind))
		if a.Outcome == planner.Pass {
			c.same("cost", cents(v.Cost), cents(a.Cost))
		}
		if r.words && (r.errors || !strings.Contains(v.Critique, "(unknown)")) {
			c.same("critique", v.Critique, a.Critique)
		}
		if v.Violation != nil {
			c.same("violation", v.Violation, violation(a))
		}
	}
	return nil
}

func objected(a planner.Attempt) string {
	if a.Outcome == planner.Pass {
		return "pass, but for a critic"
	}
	return string(a.Outcome) + ": " + a.Critique
}

// judge has the planning round judge a plan as it did then.
func (r *replayer) judge(by string, steps []model.Step) (planner.Attempt, error) {
	problem, tried := r.problem(), planner.NewTried()
	key := planner.Key(problem, steps)
	for range r.tried[key] {
		tried.Add(key)
	}
	p := r.m.Policy
	limits := planner.Limits{MaxAttempts: 1, MaxPlanSteps: p.MaxPlanSteps.Value, MaxRepeats: p.MaxRepeats}
	if decidedOn(by) {
		limits.MaxRepeats = 0
	}
	file := planner.NewFile(by, stepSeq(steps))
	res, err := planner.Round(r.ctx, problem, []planner.Proposer{file}, limits, planner.Unlimited{}, tried, nil)
	if err != nil {
		return planner.Attempt{}, err
	}
	a := res.Attempts[0]
	a.Proposal.Final = false // It was not, where a violation was recorded.
	return a, nil
}

func parsedSteps(texts []string) ([]model.Step, bool) {
	var out []model.Step
	for _, text := range texts {
		name, args, err := model.ParseAtom(text)
		if err != nil {
			return nil, false
		}
		out = append(out, model.Step{Action: name, Args: args})
	}
	return out, true
}

// planned derives what was said of the accepted plan.
func (r *replayer) planned(v Plan) error {
	if err := r.fold(); err != nil {
		return err
	}
	c := r.decision("plan", "the plan of round %d", v.Round)
	var texts []string
	for _, s := range v.Steps {
		texts = append(texts, s.Action)
	}
	c.follows(r.inside && (r.plan == nil || decidedOn(v.Planner)), RoundStarted)
	from, ok := r.passed[strings.Join(texts, "\n")]
	c.follows(ok, AttemptMade+" with this plan, that passed")
	c.same("round", v.Round, r.p.round)
	c.same("planner", v.Planner, from.Planner)
	c.same("optimal", v.Optimal, from.Optimal)
	a := &accepted{event: v}
	r.plan, r.done, r.acted, r.ruled, r.answer = a, 0, 0, nil, ""
	r.hashes[v.PlanHash] = true
	r.tried[v.Tried]++
	steps, ok := parsedSteps(texts)
	if a.steps = steps; !ok || !r.sighted() {
		a.steps = make([]model.Step, len(texts))
		return nil
	}
	rep := validator.Validate(r.problem(), stepSeq(steps))
	c.same("plan", "valid", validity(rep))
	if !rep.Valid {
		return nil
	}
	c.same("cost", cents(v.Cost), cents(rep.Cost))
	var promises []string
	for _, inv := range r.p.u.Invariants {
		if inv.Message != "" {
			promises = append(promises, inv.Message)
		}
	}
	c.same("invariants", v.Invariants, promises)
	r.effects(c, a)
	if !r.Other {
		c.same("plan_hash", v.PlanHash, PlanHash(r.p.model, r.p.GoalName, steps))
		c.same("tried_key", v.Tried, planner.Key(r.problem(), steps))
	}
	return nil
}

func validity(rep validator.Report) string {
	if rep.Valid {
		return "valid"
	}
	return rep.Critique
}

// effects derives what each step of a valid plan changes.
func (r *replayer) effects(c *check, a *accepted) {
	state, d := r.p.state.Clone(), &model.Delta{}
	for i, st := range a.steps {
		g, fault := r.p.u.Bind(st, nil)
		if fault != nil || g.Effects(state, d) != nil {
			return // Validation passed it: cannot happen.
		}
		a.ground = append(a.ground, g)
		var effects []Change
		for _, w := range d.Writes {
			if w.Changed() {
				effects = append(effects, Change{Fluent: r.p.u.Text(r.p.atom(w)), To: r.p.u.Plain(w.Fluent, w.New)})
			}
		}
		said := a.event.Steps[i]
		c.same("step", said.Step, i+1)
		c.same("effects of "+said.Action, said.Effects, effects)
		c.same("risk of "+said.Action, said.Risk, r.m.Settings[g.Action].Risk)
		d.Commit(state)
	}
}
