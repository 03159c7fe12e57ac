package executor

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/policy"
)

// past is what is folded from the events of a run, in their order, while the
// run that goes on with it is being restored.
type past struct {
	*run
	id   string                           // of the run
	body func(sum string) ([]byte, error) // of a digest, from the journal

	model string    // hash of the model that it was driven with last
	tried string    // the plan of the round under way
	armed string    // the action that was armed last, until its end is known
	ended *RoundEnd // the round's end, until it is known that the run did not wait because of it
}

// restore brings the run to where its journal says that it was.
func (r *run) restore(ctx context.Context, j *journal.Journal) error {
	events, err := eventsOf(ctx, j, r.Journal.ID())
	if err != nil {
		return err
	}
	r.hands = hands(events)
	r.started = r.Now().Add(-driven(events))
	r.progress = policy.NewTracker(r.started)
	r.progress.Planners(len(r.Proposers))
	id := r.Journal.ID()
	p := &past{run: r, id: id, body: func(sum string) ([]byte, error) { return j.Blob(ctx, id, sum) }}
	for _, e := range events {
		if err := p.event(e); err != nil {
			return fmt.Errorf("event %d (%s): %w", e.Seq, e.Kind, err)
		}
	}
	p.acted()
	p.roundOver()
	p.progress.Unsettled()
	r.progress.Planners(len(r.Proposers))
	r.journalled()
	if p.model != r.ModelHash {
		r.changed = true
		r.view = newView(r.u) // What the journal knows may mean something else now.
	}
	return r.standing(ctx)
}

func eventsOf(ctx context.Context, j *journal.Journal, id string) ([]journal.Event, error) {
	var out []journal.Event
	for e, err := range j.Events(ctx, id) {
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// driven is how long a process drove the run: until its last word, and not
// while the run waited for a person.
func driven(events []journal.Event) time.Duration {
	var used time.Duration
	var began, last time.Time
	for _, e := range events {
		if bySomebody(e) {
			continue
		}
		if e.Kind == RunStarted || e.Kind == RunResumed {
			used += last.Sub(began)
			began = e.Time
		}
		last = e.Time
	}
	return used + last.Sub(began)
}

// event takes one event in.
func (p *past) event(e journal.Event) error {
	p.guards = max(p.guards, p.number(e.Data))
	if e.Kind != RunEnded {
		p.roundOver()
	}
	switch e.Kind {
	case RunStarted:
		return fold(e, func(v Started) { p.model = v.ModelHash })
	case RunResumed:
		return fold(e, p.resumed)
	case RoundStarted:
		return fold(e, p.roundStarted)
	case AttemptMade:
		return fold(e, func(v Attempt) {
			p.progress.Called(v.Calls, v.Tokens, v.CostUSD)
			p.progress.Attempted()
		})
	case PlanAccepted:
		return fold(e, p.planAccepted)
	case Decided:
		return fold(e, p.decided)
	case ApprovalAsked:
		return fold(e, p.asked)
	case Approval:
		return fold(e, p.answer)
	case RoundEnded:
		return fold(e, func(v RoundEnd) { p.ended = &v })
	case RunEnded:
		return fold(e, p.runEnded)
	}
	return p.stepEvent(e)
}

func (p *past) stepEvent(e journal.Event) error {
	switch e.Kind {
	case Observed:
		return foldErr(e, func(v Observation) error {
			err := p.values(v.Values)
			p.progress.Observed(p.truths())
			p.found(v)
			return err
		})
	case StepSkipped:
		return foldErr(e, func(v Skipped) error {
			p.stepOver(v.Step)
			return p.values(v.Values)
		})
	case StepRefused:
		return foldErr(e, func(v Refused) error {
			if v.ActionID == p.armed {
				p.armed = "" // Withdrawn: it was not begun.
				p.undid(v.ActionID)
			}
			return p.values(v.Values)
		})
	case StepArmed:
		return foldErr(e, func(v Armed) error {
			p.armed = v.ActionID
			p.rearmed(v)
			return p.values(v.Values)
		})
	case StepFinished:
		return foldErr(e, func(v Finished) error {
			p.acted()
			p.lastActed = e.Time
			if v.Outcome == applied {
				p.progress.Confirmed(v.Action)
				p.stepOver(v.Step)
			}
			p.outcome(v.ActionID, v.Outcome)
			return p.values(v.Values)
		})
	case Discovered:
		return foldErr(e, p.discovered)
	case SeverityTaken:
		return fold(e, p.holdTo)
	case RestorePlanned:
		return fold(e, p.wentBack)
	case DoubtResolved:
		return foldErr(e, func(v Resolved) error {
			p.outcome(v.ActionID, v.Outcome)
			return p.values(v.Values)
		})
	}
	return nil
}

func fold[T any](e journal.Event, take func(T)) error {
	return foldErr(e, func(v T) error {
		take(v)
		return nil
	})
}

func foldErr[T any](e journal.Event, take func(T) error) error {
	var v T
	if err := json.Unmarshal(e.Data, &v); err != nil {
		return fmt.Errorf("cannot be read: %w", err)
	}
	return take(v)
}

// number returns the number of the action that an event is about, so that no id is used twice.
func (p *past) number(data json.RawMessage) int {
	var ref struct {
		ActionID string `json:"action_id"`
	}
	if json.Unmarshal(data, &ref) != nil {
		return 0
	}
	rest, ok := strings.CutPrefix(ref.ActionID, p.id+"-")
	n, err := strconv.Atoi(rest)
	if !ok || err != nil {
		return 0
	}
	return n
}

func (p *past) resumed(v Resumed) {
	p.acted()
	p.progress.Unsettled()
	p.model = v.ModelHash
}

// acted counts the action that was armed last: it was begun, or may have been.
func (p *past) acted() {
	if p.armed == "" {
		return
	}
	p.armed = ""
	p.actions++
	p.progress.Acted()
}

func (p *past) roundStarted(v Round) {
	p.tried = ""
	if v.Round != p.round { // Else the same one, gone on with.
		p.progress.BeginRound()
		p.begun = begunPlan{}
	}
	p.round, p.reopened = v.Round, true
}

// roundOver counts how the round ended.
func (p *past) roundOver() {
	v := p.ended
	if v == nil {
		return
	}
	p.ended, p.reopened = nil, false
	switch {
	case v.Kind == repeated:
		p.progress.Repeated()
	case v.Infra:
		p.progress.Errored(v.Key, v.Action)
	default:
		p.progress.Failed(v.Key, v.Action)
	}
	if p.tried != "" {
		p.run.tried.Add(p.tried)
		p.tried = ""
	}
}

// runEnded: a round that ended because the run was to wait is gone on with.
func (p *past) runEnded(v Ended) {
	if v.Status == WaitingStatus {
		p.ended = nil
	}
	p.roundOver()
}

func (p *past) decided(v Decision) {
	p.deciding(v)
	p.went(v)
}

// deciding closes the round after which the policy was asked.
func (p *past) deciding(v Decision) {
	if v.Point == policy.PointRound && p.round > 0 {
		p.progress.EndRound()
	}
}

// went goes on as the policy answered, from the progress that it was asked about.
func (p *past) went(v Decision) {
	if v.Answer != policy.Continue {
		v.Progress.NextCalls, v.Progress.NextCost = 0, 0
	}
	p.progress.Restore(v.Progress)
	if v.NextPlanner {
		p.nextPlanner()
	}
}

// values takes observed values in, as the journal knows them.
func (p *past) values(v Values) error {
	changed, _, err := v.Read(p.body) // What was cut the next observation tells.
	if err != nil {
		return err
	}
	together, err := p.parsed(changed)
	if err != nil {
		return err
	}
	for text, value := range changed {
		state := together
		if state == nil {
			if state, err = p.parsed(map[string]any{text: value}); state == nil || err != nil {
				continue // The model no longer has it.
			}
		}
		name, args, err := model.ParseAtom(text)
		if err != nil {
			continue
		}
		if a, err := p.u.FindAtom(name, args); err == nil {
			p.learn(a, state.Get(a))
		}
	}
	return nil
}

// parsed is the state of these values; nil where the model does not have all of them.
func (p *past) parsed(values map[string]any) (*model.State, error) {
	raw, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	state, err := p.u.ParseState(raw)
	if err != nil {
		return nil, nil //nolint:nilerr // Which one it is does not matter.
	}
	return state, nil
}
