package executor

import (
	"context"
	"fmt"
	"strings"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/planner"
)

// plannedWays are the ways back from the states after the steps of a plan, as it
// was simulated from what was observed then.
type plannedWays struct {
	plan  string // its steps
	round int
	steps []model.Step
	ways  []way
	asked *Ruled // what the rules say of it; nil where there are none
}

// of is the way that was known from the state after a step.
func (p *plannedWays) of(step string) []model.Step {
	if p == nil {
		return nil
	}
	for i, st := range p.steps {
		if st.String() == step && i < len(p.ways) {
			return p.ways[i].steps
		}
	}
	return nil
}

// waysOf finds a way back from the state after each step of a plan. All searches
// for them together end after wayTime.
func (r *run) waysOf(steps []model.Step) *plannedWays {
	text := strings.Join(texts(steps), "\n")
	if p := r.ways; p != nil && p.plan == text && p.round == r.round {
		return p
	}
	ctx, cancel := context.WithTimeout(context.Background(), wayTime)
	defer cancel()
	p := &plannedWays{plan: text, round: r.round, steps: steps, asked: r.askedSo(steps)}
	defer func(was float64) { r.ceiling = was }(r.ceiling)
	state, done, d := r.state.Clone(), append([]actedStep(nil), r.deeds...), &model.Delta{}
	for i, st := range steps {
		g, fault := r.u.Bind(st, nil)
		if fault != nil || g.Effects(state, d) != nil { // Not of a plan that the validator accepted.
			break
		}
		w := r.wayAfter(ctx, state, g, done)
		p.ways = append(p.ways, w)
		if !w.ok() && p.asked.lets(i+1) { // Once it is approved, the run is held to what it leaves.
			r.accepted(&WayBack{How: ByApproval, After: w.after.value()})
		}
		if g.Effects(state, d) == nil {
			d.Commit(state)
		}
		id := fmt.Sprintf("step %d", i+1)
		done = r.settled(append(done, actedStep{id: id, step: r.u.Step(g)}), id)
	}
	r.ways = p
	return p
}

// bySeverity begins the reason of a denial because no way back is known.
const bySeverity = "the goal's severity: "

// keepsAWay denies a plan one of whose steps would be refused because no way back
// is known from the state after it, before anything of it is done. The reason
// completes "plan denied by …".
func (r *run) keepsAWay(steps []model.Step) (reason string, denied bool) {
	if r.baseline == nil {
		return "", false
	}
	p := r.waysOf(steps)
	for i, w := range p.ways {
		if w.ok() || w.hasty || p.asked.lets(i+1) {
			continue
		}
		r.refuseWayless(steps[i].String())
		return fmt.Sprintf("%sstep %d: %s", bySeverity, i+1, w.why), true
	}
	return "", false
}

// forWantOfAWay tells whether a plan was denied by keepsAWay: the next may be
// another, from which a way back is known.
func forWantOfAWay(a planner.Attempt) bool {
	return strings.HasPrefix(a.Critique, "plan denied by "+bySeverity)
}

func (r *run) refuseWayless(action string) {
	if r.wayless == nil {
		r.wayless = map[string]bool{}
	}
	r.wayless[action] = true
}

// tellWays adds to an accepted plan how each of its steps gets back.
func (r *run) tellWays(a *accepted) {
	if r.baseline == nil {
		return
	}
	for i, w := range r.waysOf(a.steps).ways {
		a.event.Steps[i].Way = w.event()
	}
	if !tooLarge(a.event) {
		return
	}
	for _, s := range a.event.Steps { // That there is a way matters more than which.
		if w := s.Way; w != nil {
			w.More, w.Steps = w.More+len(w.Steps), nil
		}
	}
	if !tooLarge(a.event) {
		return
	}
	for _, s := range a.event.Steps { // What is not told, nobody approves.
		if s.Way != nil {
			s.Way.Asks = nil
		}
	}
}
