package audit

import (
	"encoding/json"
	"iter"
	"strings"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/journal"
)

// Fold takes in one run after the other. It keeps a number for each execution
// and none of the events. Not safe for concurrent use.
type Fold struct {
	settings  map[string]Settings // by action
	modelHash string
	body      func(run, sum string) ([]byte, error)
	runs      Runs
	actions   map[string]*Action
	effects   map[[2]string]*Effect // by action and fluent
	planners  map[[2]string]*Planner
}

// New returns a fold for the actions that the model has now, and the hash of
// that model. Body fetches what was too large for an event; nil: that is left
// out.
func New(settings map[string]Settings, modelHash string, body func(run, sum string) ([]byte, error)) *Fold {
	return &Fold{
		settings: settings, modelHash: modelHash, body: body, runs: Runs{ByStatus: map[string]int{}},
		actions: map[string]*Action{}, effects: map[[2]string]*Effect{}, planners: map[[2]string]*Planner{},
	}
}

// Run takes in a run. Its error is the first of reading its events; what came
// before that counts.
func (f *Fold) Run(h executor.Head, events iter.Seq2[journal.Event, error]) error {
	f.begin(h)
	r := &run{f: f, id: h.Run, armed: map[string]armed{}, late: map[string]*late{}}
	defer r.end()
	for ev, err := range events {
		if err != nil {
			return err
		}
		if r.event(ev) != nil {
			f.runs.Unreadable++
		}
	}
	return nil
}

func (f *Fold) begin(h executor.Head) {
	f.runs.Total++
	f.runs.ByStatus[h.Status]++
	if h.Started.IsZero() {
		return
	}
	at := h.Started
	if f.runs.First == nil || at.Before(*f.runs.First) {
		f.runs.First = &at
	}
	if f.runs.Last == nil || at.After(*f.runs.Last) {
		f.runs.Last = &at
	}
}

// run is the fold of one run.
type run struct {
	f       *Fold
	id      string
	foreign bool              // driven with another model than the present one
	armed   map[string]armed  // by action id, until it is finished
	late    map[string]*late  // by ground fluent: effects that were not seen in time
	before  *executor.Attempt // the last one
}

// event takes in an event; those of other kinds say nothing here.
func (r *run) event(ev journal.Event) error {
	switch ev.Kind {
	case executor.RunStarted:
		return read(ev, func(e executor.Started) { r.model(e.ModelHash) })
	case executor.RunResumed:
		return read(ev, func(e executor.Resumed) { r.model(e.ModelHash) })
	case executor.Observed:
		return read(ev, func(e executor.Observation) { r.values(e.Values, ev.Time) })
	case executor.AttemptMade:
		return read(ev, r.attempt)
	case executor.StepSkipped:
		return read(ev, func(e executor.Skipped) {
			r.f.action(e.Action).Skipped++
			r.values(e.Values, ev.Time)
		})
	case executor.StepRefused:
		return read(ev, func(e executor.Refused) {
			r.f.action(e.Action).Refused[e.Kind]++
			r.values(e.Values, ev.Time)
		})
	case executor.StepArmed:
		return read(ev, func(e executor.Armed) {
			r.values(e.Values, ev.Time)
			r.armed[e.ActionID] = armed{name(e.Action), ev.Time}
		})
	case executor.StepFinished:
		return read(ev, func(e executor.Finished) { r.finished(e, ev.Time) })
	case executor.DoubtResolved:
		return read(ev, func(e executor.Resolved) { r.resolved(e, ev.Time) })
	}
	return nil
}

func read[T any](ev journal.Event, use func(T)) error {
	var data T
	if err := json.Unmarshal(ev.Data, &data); err != nil {
		return err
	}
	use(data)
	return nil
}

func (r *run) model(hash string) {
	r.foreign = r.foreign || hash != r.f.modelHash
}

// end counts what the run leaves open.
func (r *run) end() {
	for _, a := range r.armed {
		r.f.action(a.name).Unfinished++
	}
	if r.foreign {
		r.f.runs.OtherModels++
	}
}

// action returns what is counted of an action, given its ground form.
func (f *Fold) action(ground string) *Action {
	n := name(ground)
	a := f.actions[n]
	if a == nil {
		set, known := f.settings[n]
		a = &Action{
			Name: n, Gone: !known, Outcomes: map[string]int{}, Resolved: map[string]int{}, Refused: map[string]int{}, Effects: []*Effect{},
			TimeoutS: set.Timeout.Seconds(), SettleS: set.Settle.Seconds(),
		}
		f.actions[n] = a
	}
	return a
}

func (f *Fold) effect(action, fluent string) *Effect {
	k := [2]string{name(action), name(fluent)}
	e := f.effects[k]
	if e == nil {
		e = &Effect{Fluent: k[1]}
		f.effects[k] = e
		a := f.action(action)
		a.Effects = append(a.Effects, e)
	}
	return e
}

// name returns what a ground atom or action is an instance of.
func name(ground string) string {
	n, _, _ := strings.Cut(ground, "(")
	return n
}
