package executor

import "github.com/fettleops/fettle/model"

// observed derives what is missing for the goal.
func (r *replayer) observed(v Observation) error {
	clear(r.p.last)
	r.errorsOf(v.Errors)
	r.errors = v.Unknown <= len(v.Errors)
	if err := r.fold(); err != nil {
		return err
	}
	c := r.decision("look at the goal", "what is missing for the goal")
	c.follows(r.armed == nil, "the outcome of the action that was armed")
	c.same("round", v.Round, r.p.round)
	r.looked, r.behind = true, false
	if !r.sighted() {
		r.holds = len(v.Missing)+v.More == 0
		return nil
	}
	failures := r.p.Goal.Cond.Explain(r.p.state, r.p.GoalArgs)
	r.holds = len(failures) == 0
	r.missing(c, "missing", v.Missing, failures)
	c.same("conditions missing", len(v.Missing)+v.More, len(failures))
	if !r.Other {
		r.counted(c, v)
	}
	return nil
}

// missing holds the conditions that are said not to hold to those that do not,
// and the facts that keep them from it to what was observed.
func (r *replayer) missing(c *check, part string, said []Missing, failures []model.Failure) {
	if len(said) == 0 && len(failures) > 0 {
		return // There was no room for them.
	}
	want := r.p.missing(failures[:min(len(failures), len(said))], r.now.Time)
	c.same(part, conditions(said), conditions(want))
	for i, m := range want {
		c.same("what keeps "+m.Condition+" from holding", valuesOf(said[i].Because), valuesOf(m.Because))
	}
}

func conditions(missing []Missing) []string {
	var out []string
	for _, m := range missing {
		text := m.Condition
		if m.Unknown {
			text += " (unknown)"
		}
		out = append(out, text)
	}
	return out
}

// counted derives how much was observed, and how much of it is not known.
func (r *replayer) counted(c *check, v Observation) {
	facts, unknown := 0, map[string]bool{}
	for _, a := range r.p.atoms(r.p.sources()) {
		if facts++; !r.p.state.Get(a).Known() {
			unknown[r.p.u.Text(a)] = true
		}
	}
	c.same("facts", v.Facts, facts)
	c.same("unknown", v.Unknown, len(unknown))
	for _, f := range v.Errors {
		c.same("that "+f.Fluent+" is unknown", true, unknown[f.Fluent])
	}
	objects, open := map[string]int{}, []string(nil)
	for _, t := range r.p.u.Types {
		if !t.Enum {
			objects[t.Name] = len(r.p.u.Objects(t))
		}
		if r.p.u.Open(t) {
			open = append(open, t.Name)
		}
	}
	c.same("objects", v.Objects, objects)
	c.same("types that may have more objects", v.Open, open)
}
