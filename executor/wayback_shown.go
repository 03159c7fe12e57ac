package executor

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/fettleops/fettle/model"
)

// posedWays is what a person was told of the ways back of a plan that was asked
// about in a round. The approval of the plan covers that, and no more.
type posedWays struct {
	round int
	steps []string // ground actions of the ways
}

// What a person is told of the ways back of a plan begins so.
const (
	noWayAsks = "no way back is known after "
	backAsks  = "going back: "
	pauseAsks = "pause_before names "

	othersAsks = "it changes what the run did not: "
)

// askedWith notes what a person is told of the ways back of a plan.
func (w *wayback) askedWith(hash string, p Plan, round int) {
	if w.posed == nil {
		w.posed = map[string]posedWays{}
	}
	posed := posedWays{round: round}
	for _, s := range p.Steps {
		if s.Way != nil {
			posed.steps = append(posed.steps, s.Way.Steps...)
		}
	}
	w.posed[hash] = posed
}

// wayAsks is what a plan is asked about because of its ways back.
func (r *run) wayAsks(p *accepted) []string { return wayAsks(p.event, r.ruled, r.restores()) }

// wayAsks lists the steps after which no way back is known, where a rule asks
// about just that, and where the run is to go back by itself because of what a
// person has to be asked before it may.
func wayAsks(p Plan, ruled *Ruled, restores bool) []string {
	var out []string
	add := func(why string) {
		if !slices.Contains(out, why) {
			out = append(out, why)
		}
	}
	for i, s := range p.Steps {
		switch {
		case s.Way == nil:
		case s.Way.How == NoneAtAll && ruled.lets(i+1):
			add(noWayAsks + s.Action)
		case restores:
			for _, why := range s.Way.Asks {
				add(backAsks + why)
			}
		}
	}
	return out
}

// wayNeeds is what a person is asked because of before the steps are gone as a
// way back from a state, or why the rules deny that.
func (r *run) wayNeeds(from *model.State, steps []model.Step, done []actedStep) (asks []string, denied string) {
	var ground []model.Ground
	var late []string
	for _, st := range steps {
		g, fault := r.u.Bind(st, nil)
		if fault != nil {
			return nil, fault.Message
		}
		ground = append(ground, g)
		if name := r.u.StepText(g); !r.Actuator.Fenced(g.Action) && r.Settings[g.Action].Timeout > r.safe() && !slices.Contains(late, name) {
			late = append(late, name)
		}
	}
	if len(late) > 0 {
		asks = append(asks, unprotectedAsks+strings.Join(late, ", "))
	}
	if r.ruler != nil && len(r.Policy.Rules) > 0 {
		ruled := r.ruler.Plan(from, ground)
		if why, _, no := ruled.Denial(); no {
			return nil, "the way back (" + strings.Join(texts(steps), ", ") + ") is denied by " + why
		}
		asks = append(asks, ruled.Asks()...)
	}
	for _, g := range ground {
		if why := pauseAsks + g.Action.Name; r.Policy.PauseBeforeStep(g.Action.Name) && !slices.Contains(asks, why) {
			asks = append(asks, why)
		}
	}
	if others := r.notOurs(ground, done); len(others) > 0 {
		asks = append(asks, othersAsks+strings.Join(others, ", "))
	}
	return asks, ""
}

// notOurs are those of the steps that neither undo what was done nor change
// nothing but what that wrote: others may have wanted it as it is.
func (r *run) notOurs(ground []model.Ground, done []actedStep) []string {
	undoes := map[string]bool{}
	for _, d := range done {
		if undo, ok := r.undo(d.step); ok {
			undoes[undo.String()] = true
		}
	}
	var wrote []model.Ref
	var out []string
	for _, g := range ground {
		name := r.u.StepText(g)
		if undoes[name] {
			continue
		}
		if wrote == nil {
			wrote = r.wrote(done)
		}
		if slices.ContainsFunc(g.Footprint(r.u).Write, func(w model.Ref) bool { return !within(w, wrote) }) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// wrote are the facts that the deeds wrote, or may have.
func (r *run) wrote(done []actedStep) []model.Ref {
	var out []model.Ref
	for _, d := range done {
		if g, fault := r.u.Bind(d.step, nil); fault == nil {
			out = append(out, g.Footprint(r.u).Write...)
		}
	}
	return out
}

func within(ref model.Ref, all []model.Ref) bool {
	return slices.ContainsFunc(all, func(o model.Ref) bool { return overlap(ref, o) && (o.Whole() || !ref.Whole()) })
}

// waySeen tells whether the way may be gone without asking anybody any more.
func (r *run) waySeen(steps []model.Step, asks []string) bool {
	if len(asks) == 0 {
		return true
	}
	_, seen := r.seenBy(steps, asks)
	return seen
}

// seenBy finds an approval of a plan that was shown with all of these steps and
// questions.
func (r *run) seenBy(steps []model.Step, asks []string) (approval, bool) {
	for _, a := range r.approved {
		posed, ok := r.posed[a.hash]
		if !ok || posed.round != a.round || !r.approvalGood(a) || a.how != "" && overOthers(asks) ||
			slices.ContainsFunc(steps, func(st model.Step) bool { return !slices.Contains(posed.steps, st.String()) }) ||
			slices.ContainsFunc(asks, func(why string) bool { return !slices.Contains(a.why, backAsks+why) }) {
			continue
		}
		return a, true
	}
	return approval{}, false
}

// overOthers tells whether what is asked is to change what others did. Only a
// person who was asked answers that.
func overOthers(asks []string) bool {
	return slices.ContainsFunc(asks, func(why string) bool { return strings.HasPrefix(why, othersAsks) })
}

// approvedWays notes what a plan is carried out with that was approved before
// anybody was asked.
func (r *run) approvedWays(a *accepted) {
	if r.approval != nil && r.approval.how != "" {
		r.askedWith(r.approval.hash, a.event, r.approval.round)
	}
}

// forgetLapsed forgets the approvals that no longer stand: nothing is gone on
// them. It says why the last of them does not, "" where all stand.
func (r *run) forgetLapsed(ctx context.Context) (lapsed string) {
	for _, hash := range slices.Sorted(maps.Keys(r.approved)) {
		a := r.approved[hash]
		rep, err := r.replyAt(ctx, a.id)
		switch {
		case err != nil:
			lapsed = "whether the approval by " + a.by + " stands is not known"
		case rep == nil || !rep.yes() || rep.revision != a.revision:
			lapsed = "the approval by " + a.by + " was taken back"
		case !r.approvalGood(a):
			lapsed = "the approval by " + a.by + " has expired"
		default:
			continue
		}
		delete(r.approved, hash)
	}
	return lapsed
}
