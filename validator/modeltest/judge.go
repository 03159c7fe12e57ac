package modeltest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/validator"
)

const (
	valid     = "valid"
	violation = "a violation"
	nothing   = "–" // where there is no such thing
)

// judge holds what came against what the test expects.
func (t *Test) judge(res *Result, v Verdict) {
	e := &t.expect
	want, got := valid, string(v)
	switch {
	case e.violation():
		want = violation
	case e.unsolvable:
		want = string(Unsolvable)
	case e.unobservable:
		want = string(Unobservable)
	}
	if res.report != nil {
		if got = valid; !res.report.Valid {
			got = violation
		}
	}
	res.row("plan", want, got, want == got)
	if res.report != nil {
		e.judgeViolation(res)
		e.judgeBounds(res)
		e.judgeState(res)
	}
}

func (r *Result) row(what, want, got string, ok bool) {
	r.Rows = append(r.Rows, Row{what, want, got, ok})
}

// judgeViolation compares the step, the kind and the conjuncts that fail.
func (e *expectation) judgeViolation(res *Result) {
	r := res.report
	if e.step != nil {
		got := nothing
		if r.Step > 0 {
			got = strconv.Itoa(r.Step)
		}
		res.row("step", strconv.Itoa(*e.step), got, *e.step == r.Step)
	}
	if e.kind != "" {
		res.row("kind", e.kind, cmp.Or(string(r.Kind), nothing), e.kind == string(r.Kind))
	}
	if e.conditions != nil {
		got := missing(r)
		res.row("conditions", list(e.conditions), list(got), sameConditions(e.conditions, got))
	}
}

func missing(r *validator.Report) []string {
	var out []string
	for _, m := range r.Missing {
		out = append(out, m.Condition)
	}
	return out
}

// sameConditions compares without regard to order and spaces.
func sameConditions(a, b []string) bool {
	return slices.Equal(bare(a), bare(b))
}

func bare(conditions []string) []string {
	var out []string
	for _, c := range conditions {
		out = append(out, strings.Join(strings.Fields(c), ""))
	}
	slices.Sort(out)
	return out
}

func list(items []string) string {
	return cmp.Or(strings.Join(items, ", "), nothing)
}

// judgeBounds compares the length and the cost of the plan.
func (e *expectation) judgeBounds(res *Result) {
	r := res.report
	steps, cost := strconv.Itoa(r.Steps), "unknown"
	if !r.CostUnknown {
		cost = model.FormatNumber(r.Cost)
	}
	if e.steps != nil {
		res.row("steps", strconv.Itoa(*e.steps), steps, r.Steps == *e.steps)
	}
	if e.maxSteps != nil {
		res.row("steps", "at most "+strconv.Itoa(*e.maxSteps), steps, r.Steps <= *e.maxSteps)
	}
	if e.cost != nil {
		res.row("cost", model.FormatNumber(*e.cost), cost, !r.CostUnknown && near(r.Cost, *e.cost))
	}
	if e.maxCost != nil {
		res.row("cost", "at most "+model.FormatNumber(*e.maxCost), cost, !r.CostUnknown && (r.Cost <= *e.maxCost || near(r.Cost, *e.maxCost)))
	}
}

// near forgives what adding decimal fractions leaves behind.
func near(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }

// judgeState compares facts of the final state, or of the one before the
// violating step.
func (e *expectation) judgeState(res *Result) {
	s := res.report.State
	for _, f := range e.state {
		got := s.Get(f.atom)
		u := s.Universe()
		res.row(u.Text(f.atom), u.ValueText(f.atom.Fluent, f.value), u.ValueText(f.atom.Fluent, got), got == f.value)
	}
}
