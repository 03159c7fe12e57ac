package modeltest

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/validator"
)

// Verdict is how a search answered.
type Verdict string

// The verdicts of a search.
const (
	Found        Verdict = "found"
	Unsolvable   Verdict = "unsolvable"   // proved
	Unobservable Verdict = "unobservable" // proved
	Undecided    Verdict = "undecided"    // a limit was reached
)

// Answer is what a search found: the plan, or why there is none.
type Answer struct {
	Verdict Verdict
	Steps   []model.Step
	Reason  string
}

// Search looks for a plan. An error is a failure to look.
type Search func(context.Context, validator.Problem) (Answer, error)

// Result is the outcome of one test.
type Result struct {
	Test *Test
	Rows []Row // what was expected, all that was checked
	// Critique is what the validator or the search said against the plan, ""
	// where nothing.
	Critique string
	// Found is the plan that the search found, in a test without a plan.
	Found []string

	steps  []model.Ground    // carried out
	report *validator.Report // nil where there was no plan to validate
}

// Row holds one expectation against what came.
type Row struct {
	What string `json:"what"`
	Want string `json:"expected"`
	Got  string `json:"got"`
	OK   bool   `json:"ok"`
}

// Passed tells whether all that was expected came.
func (r *Result) Passed() bool {
	return !slices.ContainsFunc(r.Rows, func(row Row) bool { return !row.OK })
}

// Run runs the test. The error is that of the search, or the context's.
func (t *Test) Run(ctx context.Context, search Search) (Result, error) {
	res := Result{Test: t}
	if t.plan != nil {
		t.validate(&res, validator.ReadPlan(strings.NewReader(*t.plan)))
		t.judge(&res, Found)
		return res, nil
	}
	answer, err := search(ctx, t.problem)
	if err != nil {
		return res, fmt.Errorf("test %q: %w", t.Name, err)
	}
	if answer.Verdict == Found {
		for _, st := range answer.Steps {
			res.Found = append(res.Found, st.String())
		}
		t.validate(&res, stepsOf(answer.Steps))
	} else {
		res.Critique = string(answer.Verdict)
		if answer.Reason != "" {
			res.Critique += ": " + answer.Reason
		}
	}
	t.judge(&res, answer.Verdict)
	return res, nil
}

func stepsOf(steps []model.Step) iter.Seq2[model.Step, error] {
	return func(yield func(model.Step, error) bool) {
		for _, st := range steps {
			if !yield(st, nil) {
				return
			}
		}
	}
}

// validate simulates the plan and keeps the steps that were carried out.
func (t *Test) validate(res *Result, steps iter.Seq2[model.Step, error]) {
	p := t.problem
	p.Trace = func(_ int, g model.Ground, _ []model.Write) {
		res.steps = append(res.steps, model.Ground{Action: g.Action, Args: slices.Clone(g.Args)})
	}
	r := validator.Validate(p, steps)
	res.report, res.Critique = &r, r.Critique
}
