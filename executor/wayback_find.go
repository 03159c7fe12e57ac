package executor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/planner/search"
	"github.com/fettleops/fettle/validator"
)

// way is a way back from the state after a step, or why none is known.
type way struct {
	how    string // NoneNeeded, ByUndo, BySearch, NoneAtAll
	steps  []model.Step
	before level
	after  level
	why    string
	hasty  bool     // none was found within the time; with more there may be one
	asks   []string // because of what a person is asked before it is gone
}

func (w way) ok() bool { return w.how != NoneAtAll }

func (w way) event() *WayBack {
	e := &WayBack{How: w.how, Steps: texts(w.steps), Before: w.before.value(), After: w.after.value(), Why: w.why, Asks: w.asks}
	if len(e.Steps) > maxWaySteps {
		e.Steps, e.More = e.Steps[:maxWaySteps], len(e.Steps)-maxWaySteps
	}
	return e
}

// maxWaySteps bounds the steps of a way that the event of a step lists.
const maxWaySteps = 16

func texts(steps []model.Step) []string {
	var out []string
	for _, st := range steps {
		out = append(out, st.String())
	}
	return out
}

// wayTime bounds one search for a way back, and the searches for all steps of a
// plan, beside the policy's limits of the search.
const wayTime = 5 * time.Second

// maxKnown bounds the ways that are tried before a search.
const maxKnown = 8

// wayAfter finds a way back from the state after a step, given what the run did
// before it.
func (r *run) wayAfter(ctx context.Context, before *model.State, g model.Ground, done []actedStep) way {
	w := way{how: NoneAtAll, before: r.severity(before)}
	after, d := before.Clone(), &model.Delta{}
	if fault := g.Effects(after, d); fault != nil {
		w.why = fault.Message
		return w
	}
	d.Commit(after)
	w.after = r.severity(after)
	switch {
	case w.after.hi <= r.ceiling:
		w.how = NoneNeeded
		return w
	case !r.bore(done) && (!r.bears(g) || w.after.hi <= w.before.lo): // Whatever it is, it is not the run's doing.
		w.how = NoneNeeded
		return w
	}
	step := r.u.Step(g)
	r.find(ctx, &w, after, r.settled(append(done[:len(done):len(done)], actedStep{id: thisOne, step: step}), thisOne), step.String())
	if !w.ok() {
		w.why = fmt.Sprintf("no way back is known from the state after %s: severity %s, at the start %s; %s", step, w.after, bound(r.ceiling), w.why)
	}
	return w
}

// thisOne stands for the id of an action that was not begun.
const thisOne = "this"

// find looks for a way back from a state: by the undo of what was done, by what
// was a way before, and at last by a search. The step is the last that was done,
// "" where that says nothing.
func (r *run) find(ctx context.Context, w *way, from *model.State, done []actedStep, step string) {
	steps, why := r.chain(from, done)
	if steps != nil {
		if why = r.goes(w, ByUndo, from, steps, done); why == "" {
			return
		}
	}
	for _, steps := range r.candidates(done, step) {
		if r.leads(from, steps) && r.goes(w, BySearch, from, steps, done) == "" {
			return
		}
	}
	var said string
	steps, said, w.hasty = r.seek(ctx, from)
	if steps != nil {
		if said = r.goes(w, BySearch, from, steps, done); said == "" {
			r.remember(steps)
			return
		}
	}
	switch {
	case strings.Contains(said, why): // The same denial, as the search met it.
		w.why = said
	case said == "":
		w.why = why
	default:
		w.why = why + "; " + said
	}
}

// goes takes the steps for the way back, or says why they are none: the
// validator or the rules refuse them.
func (r *run) goes(w *way, how string, from *model.State, steps []model.Step, done []actedStep) (why string) {
	if why = r.refuted(from, steps); why != "" {
		return why
	}
	asks, denied := r.wayNeeds(from, steps, done)
	if denied == "" {
		w.how, w.steps, w.asks = how, steps, asks
	}
	return denied
}

// refuted asks the validator whether the steps are a way back, and says why they
// are not; "" where they are.
func (r *run) refuted(from *model.State, steps []model.Step) string {
	if most, _ := r.Policy.GoingBack(); r.restores() && len(steps) > most {
		return fmt.Sprintf("the way back takes %d actions, and the policy allows %d for going back", len(steps), most)
	}
	return validator.Validate(r.backProblem(from), stepSeq(steps)).Critique
}

// remember keeps a way that a search has found.
func (r *run) remember(steps []model.Step) {
	r.known = append([][]model.Step{steps}, r.known...)
	r.known = r.known[:min(len(r.known), maxKnown)]
}

// candidates are the ways that were known before, and what becomes of them by
// the last step: one may have begun with it, and another leads on once it is
// undone.
func (r *run) candidates(done []actedStep, step string) [][]model.Step {
	var out [][]model.Step
	for _, k := range r.known {
		out = append(out, k)
		if len(k) > 1 && k[0].String() == step {
			out = append(out, k[1:])
		}
		if len(done) == 0 {
			continue
		}
		if undo, ok := r.undo(done[len(done)-1].step); ok {
			out = append(out, append([]model.Step{undo}, k...))
		}
	}
	return out
}

// seek searches a way back.
func (r *run) seek(ctx context.Context, from *model.State) (steps []model.Step, why string, hasty bool) {
	limits := r.Policy.Search
	timeout := min(wayTime, limits.Timeout.Or(wayTime))
	s := planner.NewSearch("search", search.Options{MaxNodes: limits.MaxNodes.Or(0), MaxMemory: limits.MaxMemory.Or(0), Timeout: timeout})
	p, err := s.Propose(ctx, planner.Request{Problem: r.backProblem(from)})
	switch {
	case err != nil:
		return nil, "the search was stopped: " + err.Error(), true
	case p.Verdict == planner.HasPlan:
		return p.Steps, "", false
	case p.Verdict == planner.GaveUp:
		return nil, "the search finds none within its limits: " + p.Reason, true
	}
	return nil, "the search proves that there is none: " + p.Reason, false
}
