package executor

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/world"
)

// ModelOf returns the model that a run was driven with, for its goal, of that
// hash, as the journal has it; nil where that does not have it.
type ModelOf func(goal, hash string, recorded *RecordedModel) (ReplayModel, error)

// LastKnown is what the journal of a run knows of the world: what was observed
// last, and every change that was seen since. What an action without a known
// outcome may have written is unknown.
type LastKnown struct {
	At      time.Time    // of the last event that told of the world
	First   *Observation // what the run found of the goal when it began
	Missing []Missing    // conditions of the goal that do not hold, as known last
	More    int          // conditions that Missing has no room for

	past *past
}

// Known folds the events of a run into what they tell of the world. The bodies
// are found by their digests. The error says why that is not known.
func Known(events []journal.Event, body func(sum string) ([]byte, error), of ModelOf) (*LastKnown, error) {
	goal, hash, rec, err := drivenWith(events)
	if err != nil {
		return nil, err
	}
	m, err := of(goal, hash, rec)
	if err != nil {
		return nil, err
	}
	k := &LastKnown{}
	now := func() time.Time { return events[len(events)-1].Time }
	k.past = &past{run: undriven(m, goal, hash, now), id: events[0].Run, model: hash, body: body}
	open := doubtful{actions: map[string]string{}, told: map[string]bool{}}
	for _, e := range events {
		err := errors.Join(k.event(e), open.event(e))
		if err != nil {
			return nil, fmt.Errorf("event %d (%s): %w", e.Seq, e.Kind, err)
		}
	}
	if k.At.IsZero() {
		return nil, errUnlooked
	}
	for _, action := range open.actions {
		if err := k.past.unsure(action); err != nil {
			return nil, err
		}
	}
	failures := k.past.Goal.Cond.Explain(k.past.state, k.past.GoalArgs)
	k.Missing = k.past.missing(failures[:min(len(failures), maxListed)], now())
	k.More = len(failures) - len(k.Missing)
	return k, nil
}

// errUnlooked says that nothing is known, nor was anything done.
var errUnlooked = errors.New("the run ended before it had looked at the world")

// drivenWith is the goal of a run and the model that it was driven with last.
func drivenWith(events []journal.Event) (goal, hash string, rec *RecordedModel, err error) {
	for _, e := range events {
		switch e.Kind {
		case RunStarted:
			err = fold(e, func(v Started) { goal, hash, rec = v.Goal, v.ModelHash, v.Model })
		case RunResumed:
			err = fold(e, func(v Resumed) {
				if v.Changed {
					hash, rec = v.ModelHash, v.Model
				}
			})
		}
		if err != nil {
			return "", "", nil, err
		}
	}
	if hash == "" {
		return "", "", nil, errors.New("its journal does not say with which model it was driven")
	}
	return goal, hash, rec, nil
}

// undriven is a run that only takes events in.
func undriven(m ReplayModel, goal, hash string, now func() time.Time) *run {
	return newRun(Config{
		Universe: m.Universe, Goal: m.Goal, GoalArgs: m.GoalArgs, GoalName: goal, ModelHash: hash, Policy: m.Policy,
		Settings: m.Settings, Discoverer: nobody{}, Proposers: make([]planner.Proposer, manyPlanners), Now: now,
	})
}

// event takes one event in.
func (k *LastKnown) event(e journal.Event) error {
	if e.Kind == RunResumed {
		return foldErr(e, func(v Resumed) error {
			err := k.past.event(e)
			if v.Changed { // What was known may mean something else with the other model.
				k.past.view = newView(k.past.u)
			}
			return err
		})
	}
	var v Values
	if len(e.Data) > 0 && json.Unmarshal(e.Data, &v) == nil {
		if err := k.told(e, v); err != nil {
			return err
		}
	}
	switch e.Kind {
	case Observed:
		return errors.Join(fold(e, k.looked), k.past.event(e))
	case StepFinished:
		return errors.Join(fold(e, k.saw), k.past.event(e))
	}
	return k.past.event(e)
}

// told notes that values are new: where they were seen before counts no more.
func (k *LastKnown) told(e journal.Event, v Values) error {
	if v.Body != nil && v.Body.Cut {
		return errors.New("what was observed was too much for the journal")
	}
	for text := range v.Changed {
		delete(k.past.last, text)
	}
	if e.Kind == Observed || len(v.Changed) > 0 || v.Body != nil {
		k.At = e.Time
	}
	return nil
}

// looked keeps what the first look found, and where a look saw what.
func (k *LastKnown) looked(o Observation) {
	if k.First == nil {
		k.First = &Observation{Missing: o.Missing, More: o.More}
	}
	for _, m := range o.Missing {
		for _, f := range m.Because {
			rd := world.Reading{Err: f.Error, Note: f.Note}
			if rd.Source.Query = f.Source; f.Sampled != nil {
				rd.Sampled = *f.Sampled
			}
			k.past.last[f.Fluent] = rd
		}
	}
}

// saw keeps where the effects of an action were seen.
func (k *LastKnown) saw(v Finished) {
	for _, s := range v.Seen {
		rd := world.Reading{Err: s.Error}
		rd.Source.Query = s.Source
		k.past.last[s.Fluent] = rd
	}
}

// unsure makes unknown what an action may have written.
func (p *past) unsure(action string) error {
	name, args, err := model.ParseAtom(action)
	if err != nil {
		return fmt.Errorf("the action in doubt: %w", err)
	}
	g, fault := p.u.Bind(model.Step{Action: name, Args: args}, nil)
	if fault != nil {
		return fmt.Errorf("the action in doubt, %s: %s", action, fault.Message)
	}
	for _, a := range p.atoms(g.Footprint(p.u).Write) {
		p.learn(a, model.Value{})
		p.last[p.u.Text(a)] = world.Reading{Note: action + " may have written it"}
	}
	return nil
}

// doubtful gathers the actions of a run whose outcome its journal does not know.
type doubtful struct {
	actions map[string]string // ground, by their ids
	told    map[string]bool   // of which a person said what became of them, and nothing was observed since
}

func (d doubtful) event(e journal.Event) error {
	switch e.Kind {
	case StepArmed:
		return fold(e, func(v Armed) { d.actions[v.ActionID] = v.Action })
	case StepRefused:
		return fold(e, func(v Refused) { delete(d.actions, v.ActionID) })
	case StepFinished:
		return fold(e, func(v Finished) {
			if v.Outcome != unknown {
				delete(d.actions, v.ActionID)
			}
		})
	case DoubtResolved:
		return fold(e, func(v Resolved) {
			if v.By != "" {
				d.told[v.ActionID] = true
				return
			}
			delete(d.actions, v.ActionID)
		})
	case Observed:
		for id := range d.told {
			delete(d.actions, id)
			delete(d.told, id)
		}
	}
	return nil
}
