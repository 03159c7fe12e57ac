package executor

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/policy"
	"github.com/fettleops/fettle/validator"
)

// keyOf identifies a validator's failure.
func keyOf(rep validator.Report) policy.FailureKey {
	var conds []string
	for _, m := range rep.Missing {
		conds = append(conds, m.Condition)
	}
	return policy.NewFailureKey(string(rep.Kind), rep.Action, conds...)
}

// renumber gives the critique of the rest of a plan the step numbers of the
// whole plan, which is what a person sees.
func renumber(rep validator.Report, before int) string {
	text := stepNumbers.ReplaceAllStringFunc(rep.Critique, func(s string) string {
		m := stepNumbers.FindStringSubmatch(s)
		n, err := strconv.Atoi(m[2])
		if err != nil { // More digits than a plan has steps: not ours.
			return s
		}
		return fmt.Sprintf("%sstep %d: ", m[1], n+before)
	})
	old := fmt.Sprintf("goal not reached after %d ", rep.Steps)
	if rest, ok := strings.CutPrefix(text, old); ok && rep.Kind == validator.Goal {
		rest = strings.TrimPrefix(strings.TrimPrefix(rest, "steps"), "step")
		return fmt.Sprintf("goal not reached after %d steps%s", rep.Steps+before, rest)
	}
	return text
}

// stepNumbers finds how a critique names a step, at its start or as a cause.
var stepNumbers = regexp.MustCompile(`(^|since )step (\d+): `)

// facts are the observed values that a critique rests on: those that no step
// of the plan is to change before.
func (g *guard) facts(rep validator.Report) []Fact {
	var out []Fact
	for _, m := range rep.Missing {
		for _, b := range m.Because {
			if b.Since == nil && b.Atom.Fluent != nil && len(out) < maxCited {
				out = append(out, g.fact(b.Atom, g.Now()))
			}
		}
	}
	return out
}

// bearing are the resources of everything that bears on the goal: a shared
// claim on every base fluent and on every named lease that is observed, which
// any exclusive holder stands in the way of.
func (r *run) bearing() []lease.Resource {
	var out []lease.Resource
	for _, f := range r.u.Fluents {
		if f.Derived == nil {
			out = append(out, lease.Resource{Fluent: f.Name})
		}
	}
	for _, name := range r.Leases {
		res := lease.ParseResource(name)
		res.Exclusive = false
		out = append(out, res)
	}
	return out
}
