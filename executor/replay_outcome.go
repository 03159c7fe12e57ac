package executor

import (
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/policy"
	"github.com/fettleops/fettle/world"
)

// finished derives the outcome of an action from what was seen.
func (r *replayer) finished(v Finished) error {
	c := r.decision("outcome", "the outcome of step %d, %s", v.Step, v.Action)
	a := r.armed
	c.follows(a != nil && a.ref.ActionID == v.ActionID, StepArmed)
	r.armed = nil
	r.behind = r.behind || v.Lost
	if a != nil && !c.over {
		c.same("round", v.Round, a.ref.Round)
		c.same("step", v.Step, a.ref.Step)
		c.same("action", v.Action, a.ref.Action)
		if r.sighted() {
			r.outcome(c, v, a.expected)
		}
	}
	if err := r.fold(); err != nil {
		return err
	}
	if r.blind == "" && !v.Lost {
		r.believed(c, v)
	}
	if v.Outcome == applied {
		r.done = v.Step
		r.acted++
		return nil
	}
	if v.Restore { // Another way back is looked for.
		return nil
	}
	r.cause = &failure{kind: v.Outcome, action: v.Action, key: policy.NewFailureKey(v.Outcome, v.Action, unseen(v.Seen)...), reason: describe(v)}
	return nil
}

// outcome holds the effects that were looked for to those that the model
// declares, and joins what was seen with what the actuator said. Whether the look
// was cut is not told, so that either answer is right where it matters.
func (r *replayer) outcome(c *check, v Finished, expected []model.Write) {
	seen := map[string]Seen{}
	for _, s := range v.Seen {
		seen[s.Fluent] = s
	}
	all, looked, n := true, false, 0
	for _, w := range expected {
		belief := isBelief(w.Fluent)
		if !belief && !w.New.Known() {
			continue
		}
		text := r.p.u.Text(r.p.atom(w))
		s, ok := seen[text]
		n++
		if looked = looked || !belief; !ok {
			all = all && belief
			continue
		}
		c.same("wanted of "+text, s.Want, r.p.u.Plain(w.Fluent, w.New))
		verified := "assumed"
		if !belief {
			verified = "no"
			if told(s.Value) == told(s.Want) {
				verified = "observed"
			}
			all = all && verified == "observed"
		}
		c.same("verified of "+text, s.Verified, verified)
	}
	if !looked {
		all = v.Status == string(world.Done)
	}
	if len(v.Seen) > n {
		c.same("effects seen", len(v.Seen), n)
	}
	want := judge(world.Status(v.Status), v.Seen, all, false)
	if v.Lost {
		want = unknown
	}
	if cut := judge(world.Status(v.Status), v.Seen, all, true); v.Outcome == cut {
		want = cut
	}
	c.same("outcome", v.Outcome, want)
}

// believed holds what the run went on with to what was seen.
func (r *replayer) believed(c *check, v Finished) {
	for _, s := range v.Seen {
		if s.Verified != "assumed" {
			c.same("value of "+s.Fluent, s.Value, r.value(s.Fluent))
		}
	}
}

// value is what the run knows of an atom, by its text.
func (r *replayer) value(text string) any {
	name, args, err := model.ParseAtom(text)
	if err != nil {
		return "no fact of the model"
	}
	a, err := r.p.u.FindAtom(name, args)
	if err != nil {
		return "no fact of the model"
	}
	return r.p.u.Plain(a.Fluent, r.p.state.Get(a))
}
