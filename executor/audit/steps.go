package audit

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/world"
)

// armed is an action that was begun.
type armed struct {
	name string
	at   time.Time
}

// late is an effect that was not seen before settle was over, and may still
// come true.
type late struct {
	effect *Effect
	action string // ground
	want   any
	ended  []time.Time // when the action did, each time
}

// cameTrue counts the effect as seen at a time after all, with nothing done for
// it since the last execution.
func (l *late) cameTrue(at time.Time) {
	last := len(l.ended) - 1
	l.effect.Later++
	l.effect.LaterS.add(at.Sub(l.ended[last]).Seconds())
	l.ended = l.ended[:last]
	l.again(at)
}

// again counts the effect as seen at a time, once the action was repeated.
func (l *late) again(at time.Time) {
	for _, ended := range l.ended {
		l.effect.Again++
		l.effect.AgainS.add(at.Sub(ended).Seconds())
	}
}

// outcomes of actions, by observation, as the executor writes them.
const (
	diverged = "diverged"
	unknown  = "unknown"
)

// finished takes in an execution.
func (r *run) finished(e executor.Finished, at time.Time) {
	a := r.f.action(e.Action)
	a.Executions++
	a.Outcomes[e.Outcome]++
	a.ActS.add(e.ActMS / 1000)
	if e.Outcome == diverged || e.Outcome == unknown {
		a.Disagreed++
		if !at.Before(a.last) {
			a.Example, a.last = r.id, at
		}
	}
	if e.Status != string(world.Done) {
		a.Failure = said(e)
	}
	if e.Outcome == diverged && e.Status != string(world.Done) {
		a.Unannounced++
	}
	if a.TimeoutS > 0 && e.ActMS >= a.TimeoutS*1000 {
		a.TimedOut++
	}
	ended := at
	if b, ok := r.armed[e.ActionID]; ok {
		ended = b.at.Add(time.Duration(e.ActMS * float64(time.Millisecond)))
		delete(r.armed, e.ActionID)
	}
	mine := map[string]*late{}
	for _, s := range e.Seen { // Whoever wrote it before, it is this action's now.
		if l := r.late[s.Fluent]; l != nil && l.action == e.Action && reflect.DeepEqual(l.want, s.Want) {
			mine[s.Fluent] = l
		}
		delete(r.late, s.Fluent)
	}
	r.values(e.Values, at)
	for _, s := range e.Seen {
		if e.Status == string(world.Done) {
			r.seen(e.Action, s, ended, mine[s.Fluent])
		}
	}
}

func said(e executor.Finished) string {
	if e.Message == "" {
		return e.Status
	}
	return e.Message
}

// seen takes in an effect of an action that was called done; before is what it
// was still awaited for.
func (r *run) seen(action string, s executor.Seen, ended time.Time, before *late) {
	e := r.f.effect(action, s.Fluent)
	e.Declared++
	switch s.Verified {
	case "observed":
		e.Seen++
		e.AfterS.add(s.AfterS)
		if before != nil {
			before.again(ended.Add(time.Duration(s.AfterS * float64(time.Second))))
		}
		return
	case "assumed":
		e.Assumed++
		return
	}
	if s.Value == nil {
		e.Unknown++
		e.Error = s.Error
	} else {
		e.Other++
	}
	e.Example = fmt.Sprintf("%s: wanted %s, was %s", s.Fluent, text(s.Want), text(s.Value))
	if before == nil {
		before = &late{effect: e, action: action, want: s.Want}
	}
	before.ended = append(before.ended, ended)
	r.late[s.Fluent] = before
}

// text writes a value as models do.
func text(v any) string {
	if v == nil {
		return "unknown"
	}
	raw, err := json.Marshal(v)
	if err != nil { // It came out of JSON.
		return fmt.Sprint(v)
	}
	return string(raw)
}

// values looks among what was observed for effects that have come true by now.
func (r *run) values(v executor.Values, at time.Time) {
	if len(r.late) == 0 {
		return
	}
	changed := v.Changed // Without the bodies that is all there is.
	if r.f.body != nil {
		read, whole, err := v.Read(func(sum string) ([]byte, error) { return r.f.body(r.id, sum) })
		if err != nil || !whole {
			r.f.runs.Unreadable++
			return
		}
		changed = read
	}
	for fluent, l := range r.late {
		if val, ok := changed[fluent]; ok && val != nil && reflect.DeepEqual(val, l.want) {
			l.cameTrue(at)
			delete(r.late, fluent)
		}
	}
}

// resolved takes in what became of an action in doubt, of this run or another.
func (r *run) resolved(e executor.Resolved, at time.Time) {
	a := r.f.action(e.Action)
	a.Resolved[e.Outcome]++
	if e.By != "" {
		a.ByHand++
	}
	delete(r.armed, e.ActionID)
	r.values(e.Values, at)
}
