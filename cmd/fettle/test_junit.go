package main

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/fettleops/fettle/validator/modeltest"
)

// The elements of JUnit's XML that CI systems read.
type (
	junitSuites struct {
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string           `xml:"name,attr"`
		Tests      int              `xml:"tests,attr"`
		Failures   int              `xml:"failures,attr"`
		Time       string           `xml:"time,attr"`
		Properties *junitProperties `xml:"properties"`
		Cases      []junitCase      `xml:"testcase"`
	}
	junitProperties struct {
		Properties []junitProperty `xml:"property"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		File    string        `xml:"file,attr"`
		Line    int           `xml:"line,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitFailure `xml:"failure"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",cdata"`
	}
)

func writeJUnit(w io.Writer, r *testRun) error {
	s := junitSuite{Name: xmlText(r.model), Tests: len(r.outcomes), Failures: r.failed(), Time: fmt.Sprintf("%.6f", r.took.Seconds())}
	if p := properties(r); len(p) > 0 {
		s.Properties = &junitProperties{p}
	}
	for i := range r.outcomes {
		o := &r.outcomes[i]
		c := junitCase{
			Name: xmlText(o.Test.Name), Class: xmlText(r.model), File: xmlText(o.Test.Range.Filename), Line: o.Test.Range.Start.Line,
			Time: fmt.Sprintf("%.6f", o.took.Seconds()),
		}
		if !o.Passed() {
			c.Failure = &junitFailure{xmlText(firstWrong(o.Rows)), xmlText(failureText(o))}
		}
		s.Cases = append(s.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(junitSuites{Suites: []junitSuite{s}}); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// properties tell how much is covered and killed.
func properties(r *testRun) []junitProperty {
	var out []junitProperty
	if r.coverage != nil {
		for _, g := range r.coverage.Groups {
			out = append(out, junitProperty{"covered " + g.Name, fmt.Sprintf("%d of %d", g.Covered, g.Total)})
		}
	}
	if m := r.mutation; m != nil {
		out = append(out, junitProperty{"killed mutants", fmt.Sprintf("%d of %d", m.Total-len(m.Survived), m.Total)})
	}
	return out
}

// firstWrong says in one line what did not come as expected.
func firstWrong(rows []modeltest.Row) string {
	for _, r := range rows {
		if !r.OK {
			return fmt.Sprintf("%s: expected %s, got %s", r.What, r.Want, r.Got)
		}
	}
	return ""
}

// failureText is the failure as the text format shows it.
func failureText(o *outcome) string {
	var b strings.Builder
	(&testWriter{Writer: &b}).outcome(o)
	return b.String()
}

// xmlText leaves out what XML cannot hold.
func xmlText(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return '�'
	}, s)
}
