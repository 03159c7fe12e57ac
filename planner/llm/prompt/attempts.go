package prompt

import (
	"fmt"
	"strings"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/validator"
)

const (
	maxSteps   = 200 // of the last plan
	nearSteps  = 10  // of it around the violation, where there is little room
	maxLines   = 120 // of a critique
	maxChanges = 200 // facts that differ before the violation
)

// attempts finds the attempts that a model can learn from: a search that gave
// up and a provider that could not be asked say nothing of the task.
func (r *renderer) attempts() {
	var failed []planner.Attempt
	for _, a := range r.Attempts {
		if a.Outcome == planner.Fail && a.Proposal.Verdict != planner.GaveUp {
			failed = append(failed, a)
		}
	}
	if n := len(failed); n > 0 {
		r.last, r.tried = &failed[n-1], failed[:n-1]
	}
}

// lastPlan writes the last plan, what is wrong with it, and the state before
// the violation.
func (r *renderer) lastPlan() string {
	if r.last == nil {
		return ""
	}
	var b strings.Builder
	switch steps := r.steps(); {
	case len(steps) > 0:
		b.WriteString(data("last_plan", steps) + "\n")
	case r.last.Proposal.Verdict == planner.HasPlan && r.last.Proposal.Unreadable == nil:
		b.WriteString("The last plan had no steps.\n")
	default:
		b.WriteString("The last answer had no plan.\n")
	}
	b.WriteString(r.critique)
	if before := r.before(); before != "" {
		b.WriteString("\n" + before)
	}
	return b.String()
}

// steps writes the last plan, those near the violation where it is long.
func (r *renderer) steps() []string {
	all := r.last.Steps
	from, to := 0, len(all)
	if near := r.size.near; len(all) > near {
		from = min(max(r.violation()-near/2, 0), len(all)-near)
		to = from + near
	}
	var lines []string
	gap := func(n int) {
		if n > 0 {
			lines = append(lines, object("steps_not_shown", fmt.Sprint(n)))
		}
	}
	gap(from)
	for i := from; i < to; i++ {
		lines = append(lines, r.step(i+1, all[i]))
	}
	gap(len(all) - to)
	return lines
}

// step writes a step as an answer has it, with its number.
func (r *renderer) step(n int, st model.Step) string {
	var args []string
	for i, a := range st.Args {
		a := r.text(a, maxName)
		if st.Params != nil {
			a = r.text(st.Params[i], maxName) + ": " + a
		}
		args = append(args, a)
	}
	written := list(args)
	if st.Params != nil {
		written = "{" + strings.Join(args, ", ") + "}"
	}
	return object("step", fmt.Sprint(n), "action", r.text(st.Action, maxName), "args", written)
}

// violation is the index of the violating step, that behind the last where the
// plan as a whole is at fault.
func (r *renderer) violation() int {
	if n := r.last.Report.Step; n > 0 {
		return min(n-1, len(r.last.Steps))
	}
	return len(r.last.Steps)
}

// verdict writes what is wrong with the last plan.
func (r *renderer) verdict() string {
	if r.last == nil {
		return ""
	}
	switch r.Feedback {
	case Binary:
		return "The plan is not valid."
	case Explained:
		return "What is wrong with it, why, and what would mend it:\n" + r.lines(r.explained())
	case All:
		if lines := r.everyFailure(); len(lines) > 1 {
			return "What is wrong with it; each failing step is judged as if those before it that fail were left out:\n" + r.lines(lines)
		}
	}
	return "The first thing that is wrong with it:\n" + r.lines([]string{r.last.Critique})
}

func (r *renderer) lines(critique []string) string {
	var lines []string
	for i, s := range critique {
		if i == maxLines {
			lines = append(lines, quote(fmt.Sprintf("and %d lines more", len(critique)-i)))
			break
		}
		lines = append(lines, r.text(s, maxSpeech))
	}
	return data("critique", lines)
}

// explained returns the critique with its causes and cures, a line each.
func (r *renderer) explained() []string {
	rep := &r.last.Report
	if rep.Kind == "" || rep.Critique != r.last.Critique {
		return []string{r.last.Critique}
	}
	var b strings.Builder
	if rep.WriteText(&b) != nil {
		return []string{r.last.Critique}
	}
	var lines []string
	for _, s := range strings.Split(b.String(), "\n") {
		if s = strings.TrimRight(s, " "); s != "" {
			lines = append(lines, s)
		}
	}
	return lines
}

// before writes the state before the violation: the facts that the steps before
// it changed.
func (r *renderer) before() string {
	kind := r.last.Report.Kind
	if !r.size.before || r.Feedback == Binary || kind == "" || r.last.Report.Step == 1 {
		return ""
	}
	n := r.violation()
	changed := r.changes(r.Problem.Start, r.last.Steps[:n])
	when := fmt.Sprintf("before step %d", n+1)
	if kind == validator.Goal {
		when = "after the last step"
	}
	if len(changed) == 0 {
		return fmt.Sprintf("The state %s is that of the start.", when)
	}
	return fmt.Sprintf("The state %s is that of the start, except for:\n", when) + data("state_at_violation", []string{object(changed...)})
}

// changes simulates the steps and returns the facts that differ afterwards, each
// with its value, derived facts without parameters included.
func (r *renderer) changes(start *model.State, steps []model.Step) []string {
	s := start.Clone()
	u := s.Universe()
	var d model.Delta
	written := map[*model.Fluent]map[uint64]bool{}
	for _, st := range steps {
		g, fault := u.Bind(st, nil)
		if fault != nil || g.Effects(s, &d) != nil {
			break
		}
		d.Commit(s)
		for _, w := range d.Writes {
			if written[w.Fluent] == nil {
				written[w.Fluent] = map[uint64]bool{}
			}
			written[w.Fluent][w.Index] = true
		}
	}
	var pairs []string
	for _, f := range u.Fluents {
		if f.Derived != nil && len(f.Params) == 0 {
			written[f] = map[uint64]bool{0: true}
		}
		for _, i := range sorted(written[f]) {
			a := model.Atom{Fluent: f, Args: u.Args(f, i)}
			if v := s.Get(a); v != start.Get(a) && len(pairs) < 2*maxChanges {
				pairs = append(pairs, r.plain(u.Text(a)), r.value(f, v))
			}
		}
	}
	return pairs
}
