package modeltest

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/model/load"
	"github.com/fettleops/fettle/validator"
)

// Suite is the tests of a model. Running them changes nothing in it.
type Suite struct {
	Loaded *load.Loaded
	Tests  []*Test // in the order in which the files are read
}

// Test is one test block, ready to run.
type Test struct {
	Name  string
	Doc   string
	Range hcl.Range // of the block's header

	problem validator.Problem
	plan    *string // nil: the search plans
	expect  expectation
}

// expectation is an expect block; nil is what is not given.
type expectation struct {
	valid                    *bool
	step                     *int
	kind                     string
	conditions               []string
	steps, maxSteps          *int
	cost, maxCost            *float64
	unsolvable, unobservable bool
	state                    []fact
}

// fact is a ground fluent with the value that is expected, unknown included.
type fact struct {
	atom  model.Atom
	value model.Value
}

// violation tells whether a violation is expected.
func (e *expectation) violation() bool {
	return e.step != nil || e.kind != "" || e.conditions != nil || e.valid != nil && !*e.valid
}

// New reads the tests of a model that was loaded without errors. What cannot
// be told before the objects of a test are known is a diagnostic.
func New(l *load.Loaded) (*Suite, hcl.Diagnostics) {
	s := &Suite{Loaded: l}
	var diags hcl.Diagnostics
	for _, b := range l.Tests {
		r := &reader{l: l, u: model.NewUniverse(l.Model), t: &Test{Name: b.Kind, Range: b.Range}}
		r.read(b.Body)
		diags = append(diags, r.diags...)
		if !r.diags.HasErrors() {
			s.Tests = append(s.Tests, r.t)
		}
	}
	return s, diags
}

// Select keeps the tests whose name is wanted.
func (s *Suite) Select(wanted func(name string) bool) {
	s.Tests = slices.DeleteFunc(s.Tests, func(t *Test) bool { return !wanted(t.Name) })
}
