package prompt

import "github.com/fettleops/fettle/model"

// maxStartFacts is how many facts the example's start names.
const maxStartFacts = 24

// example writes the worked example: its goal, the facts at the start that its
// steps depend on, what each step changes, and the answer.
func (r *renderer) example() string {
	ex := r.Example
	if ex == nil || !r.size.example {
		return ""
	}
	lines := []string{object("goal", r.fact(ex.Goal))}
	if facts := r.startFacts(ex); len(facts) > 0 {
		lines = append(lines, object("at_the_start", object(facts...)))
	}
	s := ex.Start
	for _, st := range ex.Steps {
		changed := r.changes(s, []model.Step{st})
		lines = append(lines, object("step", r.fact(st.String()), "changes", object(changed...)))
		s = after(s, st)
	}
	return data("example", append(lines, object("answer", answerOf(r, ex.Steps))))
}

// after returns the state after a step.
func after(s *model.State, st model.Step) *model.State {
	s = s.Clone()
	var d model.Delta
	if g, fault := s.Universe().Bind(st, nil); fault == nil && g.Effects(s, &d) == nil {
		d.Commit(s)
	}
	return s
}

// answerOf writes steps as an answer has them.
func answerOf(r *renderer, steps []model.Step) string {
	var out []string
	for _, st := range steps {
		var args []string
		for _, a := range st.Args {
			args = append(args, r.text(a, maxName))
		}
		out = append(out, object("action", r.text(st.Action, maxName), "args", list(args)))
	}
	return object("steps", list(out), "no_plan", "null")
}

// startFacts returns the facts that the preconditions of the example's steps
// read, with their values at the start.
func (r *renderer) startFacts(ex *Example) []string {
	u := ex.Start.Universe()
	var pairs []string
	seen := map[string]bool{}
	add := func(a model.Atom) {
		name := u.Text(a)
		if seen[name] || len(seen) == maxStartFacts {
			return
		}
		seen[name] = true
		pairs = append(pairs, r.plain(name), r.value(a.Fluent, ex.Start.Get(a)))
	}
	for _, st := range ex.Steps {
		g, fault := u.Bind(st, nil)
		if fault != nil {
			return nil
		}
		for _, ref := range g.Action.Precondition.Reads(u, g.Args) {
			if !ref.Whole() {
				add(model.Atom(ref))
				continue
			}
			for a := range u.Atoms(ref.Fluent) {
				if add(a); len(seen) == maxStartFacts {
					break
				}
			}
		}
	}
	return pairs
}
