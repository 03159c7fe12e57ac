package main

import (
	"math"

	"github.com/fettleops/fettle/validator/modeltest"
)

// testsDoc is what `test -o json` prints.
type testsDoc struct {
	Model    string        `json:"model"`
	Passed   int           `json:"passed"`
	Failed   int           `json:"failed"`
	Seconds  float64       `json:"seconds"`
	Tests    []testDoc     `json:"tests"`
	Coverage []coverageDoc `json:"coverage,omitempty"`
	Mutation *mutationDoc  `json:"mutation,omitempty"`
}

type testDoc struct {
	Name     string          `json:"name"`
	Doc      string          `json:"doc,omitempty"`
	File     string          `json:"file"`
	Line     int             `json:"line"`
	Passed   bool            `json:"passed"`
	Seconds  float64         `json:"seconds"`
	Checks   []modeltest.Row `json:"checks"`
	Critique string          `json:"critique,omitempty"`
	Found    []string        `json:"found,omitempty"`
}

type coverageDoc struct {
	Name    string   `json:"name"`
	Covered int      `json:"covered"`
	Total   int      `json:"total"`
	Percent float64  `json:"percent"`
	Missed  []gapDoc `json:"missed"`
}

type mutationDoc struct {
	Mutants  int      `json:"mutants"`
	Killed   int      `json:"killed"`
	Percent  float64  `json:"percent"`
	Survived []gapDoc `json:"survived"`
}

type gapDoc struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	What   string `json:"what"`
}

func testsJSON(r *testRun) testsDoc {
	doc := testsDoc{Model: r.model, Failed: r.failed(), Seconds: seconds(r.took.Seconds()), Tests: []testDoc{}}
	doc.Passed = len(r.outcomes) - doc.Failed
	for i := range r.outcomes {
		o := &r.outcomes[i]
		doc.Tests = append(doc.Tests, testDoc{
			Name: o.Test.Name, Doc: o.Test.Doc, File: o.Test.Range.Filename, Line: o.Test.Range.Start.Line, Passed: o.Passed(),
			Seconds: seconds(o.took.Seconds()), Checks: o.Rows, Critique: o.Critique, Found: o.Found,
		})
	}
	if r.coverage != nil {
		for _, g := range r.coverage.Groups {
			doc.Coverage = append(doc.Coverage, coverageDoc{g.Name, g.Covered, g.Total, g.Percent(), gapDocs(g.Missed)})
		}
	}
	if m := r.mutation; m != nil {
		doc.Mutation = &mutationDoc{m.Total, m.Total - len(m.Survived), m.Percent(), gapDocs(m.Survived)}
	}
	return doc
}

func gapDocs(gaps []modeltest.Gap) []gapDoc {
	out := []gapDoc{}
	for _, g := range gaps {
		out = append(out, gapDoc{g.Range.Filename, g.Range.Start.Line, g.Range.Start.Column, g.What})
	}
	return out
}

// seconds are rounded to microseconds.
func seconds(s float64) float64 { return math.Round(s*1e6) / 1e6 }
