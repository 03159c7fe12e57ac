package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/policy"
)

// attemptTeller returns what shows attempts: a line each, and below it how the
// proposal came about where there is anything to say.
func (a *app) attemptTeller(line *waitingLine, proposers []planner.Proposer) func(planner.Attempt) {
	width := 0
	for _, p := range proposers {
		name := p.Name()
		if m, ok := p.(interface{ Model() string }); ok {
			name = asker(name, m.Model())
		}
		width = max(width, widest(40, name))
	}
	paint := newPaint(a.err)
	return func(at planner.Attempt) {
		line.println(pad(plain(asker(at.Proposer, at.Model)), width) + "  " + attemptText(paint, at) + " (" + taken(attemptMS(at), at.Usage) + ")")
		for _, s := range at.Remarks {
			line.println(pad("", width) + "    critic: " + plain(s))
		}
		for _, s := range at.Proposal.Notes {
			line.println(pad("", width) + "    " + paint.faint(plain(s)))
		}
	}
}

// asker names a planner, with the language model that it asked.
func asker(name, model string) string {
	if model == "" {
		return name
	}
	return name + " (" + model + ")"
}

func attemptMS(at planner.Attempt) float64 { return float64(at.Took.Microseconds()) / 1000 }

func attemptText(p paint, at planner.Attempt) string {
	critique := plain(at.Critique)
	switch {
	case at.Outcome == planner.Pass:
		return attemptSize(at) + ", " + p.good("valid") + optimal(at)
	case at.Outcome == planner.NeedsPerson:
		return p.warn(string(at.Proposal.Verdict)) // the result says why
	case at.Outcome == planner.Error:
		return p.bad("no answer") + ": " + critique
	case at.Kind == planner.Objected:
		return attemptSize(at) + ", " + p.warn("valid, but "+critique)
	case at.Kind == planner.NoPlan:
		return critique
	case at.Proposal.Verdict != planner.HasPlan, len(at.Steps) == 0 && at.Proposal.Unreadable != nil:
		return p.bad("no plan") + ": " + critique
	}
	return count(len(at.Steps), "step") + ", " + p.bad("invalid") + ": " + critique
}

func attemptSize(at planner.Attempt) string {
	if at.Report.CostUnknown {
		return count(len(at.Steps), "step") + ", cost unknown"
	}
	return count(len(at.Steps), "step") + ", cost " + model.FormatNumber(at.Cost)
}

func optimal(at planner.Attempt) string {
	if at.Proposal.Optimal {
		return ", optimal"
	}
	return ""
}

// taken says what an attempt took: time, and calls, tokens and money where a
// model was called.
func taken(ms float64, u planner.Usage) string {
	parts := []string{short(ms)}
	if u.Calls > 1 {
		parts = append(parts, count(u.Calls, "call"))
	}
	if n := u.TokensIn + u.TokensOut; n > 0 {
		parts = append(parts, grouped(n)+" "+nouns(n, "token"))
	}
	if u.Cost > 0 {
		parts = append(parts, usd(u.Cost))
	}
	return strings.Join(parts, ", ")
}

// usedSoFar says what calls of models have used of the policy's limits; nil is
// no limit, "" no call.
func usedSoFar(u planner.Usage, maxCalls *int, maxCost *float64) string {
	if u.Calls == 0 {
		return ""
	}
	s := "used so far: " + count(u.Calls, "call")
	if maxCalls != nil {
		s = fmt.Sprintf("used so far: %d of %s", u.Calls, count(*maxCalls, "call"))
	}
	switch {
	case u.Cost == 0: // Or nobody counts it.
	case maxCost != nil:
		s += ", " + usd(u.Cost) + " of " + usd(*maxCost)
	default:
		s += ", " + usd(u.Cost)
	}
	return s
}

// limited returns what a limit allows, nil where there is none.
func limited[T int | float64](l policy.Limit[T]) *T {
	if !l.Set {
		return nil
	}
	return &l.Value
}

// usd writes an amount of USD: cents, and as much below them as says something.
func usd(f float64) string {
	const least = 0.0001
	if f > 0 && f < least {
		return "less than $0.0001"
	}
	s := strings.TrimRight(strconv.FormatFloat(f, 'f', 4, 64), "0")
	whole, cents, _ := strings.Cut(s, ".")
	return "$" + whole + "." + pad0(cents)
}

func pad0(cents string) string {
	for len(cents) < 2 {
		cents += "0"
	}
	return cents
}

// grouped writes a number with its thousands apart: 1,204.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
