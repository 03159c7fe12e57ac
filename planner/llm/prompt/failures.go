package prompt

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/validator"
)

// maxFailures bounds the failing steps that are told, each of which takes a
// simulation.
const maxFailures = 12

// everyFailure simulates the last plan again and again, each time without the
// steps that failed so far, and returns what is wrong with each of them, then
// whether what is left reaches the goal. Steps keep the numbers of the plan. A
// critique that is not of the model (the policy's, a critic's) comes first.
func (r *renderer) everyFailure() []string {
	p := r.Problem
	p.Trace = nil
	kept := make([]int, len(r.last.Steps)) // indices into the plan
	for i := range kept {
		kept[i] = i
	}
	var lines []string
	for ended := false; !ended; {
		if len(lines) == maxFailures {
			lines = append(lines, "what follows was not looked at")
			break
		}
		rep := validator.Validate(p, r.chosen(kept))
		if ended = rep.Step == 0; ended {
			if end := r.end(&rep, kept, len(lines)); end != "" {
				lines = append(lines, end)
			}
			continue
		}
		lines = append(lines, renumbered(rep.Critique, rep.Step, kept[rep.Step-1]+1))
		kept = slices.Delete(kept, rep.Step-1, rep.Step)
	}
	if first := r.last.Critique; len(lines) == 0 || lines[0] != first {
		lines = append([]string{first}, lines...)
	}
	return lines
}

// chosen yields the steps of the last plan with these indices.
func (r *renderer) chosen(indices []int) func(func(model.Step, error) bool) {
	return func(yield func(model.Step, error) bool) {
		for _, i := range indices {
			if !yield(r.last.Steps[i], nil) {
				return
			}
		}
	}
}

// end says what the steps that are left come to; "" where the whole plan reads
// and they are all of it, which the critique has said.
func (r *renderer) end(rep *validator.Report, kept []int, failed int) string {
	unread := r.last.Proposal.Unreadable != nil
	if failed == 0 || unread {
		return ""
	}
	if rep.Valid {
		return "without these steps the plan reaches the goal"
	}
	if rep.Kind != validator.Goal {
		return rep.Critique
	}
	var missing []string
	for i := range rep.Missing {
		m := &rep.Missing[i]
		if i == maxMissing {
			missing = append(missing, fmt.Sprintf("and %d more", len(rep.Missing)-i))
			break
		}
		s := m.Condition
		if len(m.Because) > 0 && m.Because[0].Since != nil {
			since := m.Because[0].Since
			s += fmt.Sprintf(" (since step %d: %s)", kept[since.Step-1]+1, since.Action)
		}
		missing = append(missing, s)
	}
	return "without these steps the goal is not reached; missing " + strings.Join(missing, ", ")
}

// renumbered gives a critique the number that the step has in the whole plan.
func renumbered(critique string, from, to int) string {
	rest, ok := strings.CutPrefix(critique, fmt.Sprintf("step %d: ", from))
	if !ok {
		return critique
	}
	return fmt.Sprintf("step %d: %s", to, rest)
}

func sorted(set map[uint64]bool) []uint64 { return slices.Sorted(maps.Keys(set)) }
