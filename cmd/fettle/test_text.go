package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/validator/modeltest"
)

// printTests writes the outcome in the wanted format.
func (a *app) printTests(r *testRun, f testFlags) error {
	switch f.format {
	case "json":
		return writeJSON(a.out, testsJSON(r))
	case "junit":
		return writeJUnit(a.out, r)
	}
	out := bufio.NewWriter(a.out)
	w := &testWriter{Writer: out, paint: newPaint(a.out), verbose: f.verbose}
	for i := range r.outcomes {
		w.outcome(&r.outcomes[i])
	}
	w.verdict(r)
	if r.coverage != nil {
		w.coverage(r.coverage)
	}
	if r.mutation != nil {
		w.mutation(r.mutation)
	} else if f.mutate {
		fmt.Fprintln(out, "\nmutants  not tried: while tests fail they tell nothing")
	}
	return out.Flush()
}

// testWriter writes for a person, in the manner of go test.
type testWriter struct {
	io.Writer
	paint
	verbose bool
}

// at writes a place so that a terminal can open it.
func at(rng hcl.Range) string { return fmt.Sprintf("%s:%d", rng.Filename, rng.Start.Line) }

func (w *testWriter) outcome(o *outcome) {
	took := ""
	if w.verbose {
		took = fmt.Sprintf(" %.3fs", o.took.Seconds())
	}
	if o.Passed() {
		if w.verbose {
			fmt.Fprintf(w, "%s %s (%s)%s\n", w.good("--- PASS:"), plain(o.Test.Name), at(o.Test.Range), took)
		}
		return
	}
	fmt.Fprintf(w, "%s %s (%s)%s\n", w.bad("--- FAIL:"), plain(o.Test.Name), at(o.Test.Range), took)
	w.rows(o.Rows)
	if o.Critique != "" {
		fmt.Fprintf(w, "    %s\n", plain(o.Critique))
	}
	if len(o.Found) > 0 {
		fmt.Fprintf(w, "    found: %s\n", plain(strings.Join(o.Found, ", ")))
	}
}

// maxCell is the width of a column above which the next is not aligned to it.
const maxCell = 40

// rows sets what was expected beside what came.
func (w *testWriter) rows(rows []modeltest.Row) {
	whats, wants := []string{""}, []string{"expected"}
	for _, r := range rows {
		whats, wants = append(whats, plain(r.What)), append(wants, plain(r.Want))
	}
	what, want := widest(maxCell, whats...), widest(maxCell, wants...)
	fmt.Fprintf(w, "      %s  %s  got\n", pad("", what), pad("expected", want))
	for _, r := range rows {
		line := fmt.Sprintf("%s  %s  %s", pad(plain(r.What), what), pad(plain(r.Want), want), plain(r.Got))
		if r.OK {
			fmt.Fprintf(w, "      %s\n", w.faint(line))
		} else {
			fmt.Fprintf(w, "    %s\n", w.bad("× "+line))
		}
	}
}

func (w *testWriter) verdict(r *testRun) {
	took := ""
	if w.verbose {
		took = fmt.Sprintf(" in %.3fs", r.took.Seconds())
	}
	n := len(r.outcomes)
	if failed := r.failed(); failed > 0 {
		fmt.Fprintf(w, "%s  %s: %d of %s failed%s\n", w.bad("FAIL"), plain(r.model), failed, counted(n, "test"), took)
		return
	}
	fmt.Fprintf(w, "%s    %s: %s%s\n", w.good("ok"), plain(r.model), counted(n, "test"), took)
}

func (w *testWriter) coverage(c *modeltest.Coverage) {
	fmt.Fprintf(w, "\n%s\n", w.bold("coverage"))
	for _, g := range c.Groups {
		if g.Total == 0 {
			fmt.Fprintf(w, "  %s        none\n", pad(g.Name, 19))
			continue
		}
		fmt.Fprintf(w, "  %s  %10s  %5.1f%%\n", pad(g.Name, 19), fmt.Sprintf("%d of %d", g.Covered, g.Total), g.Percent())
	}
	first := true
	for _, g := range c.Groups {
		for _, gap := range g.Missed {
			if first {
				fmt.Fprintf(w, "\n%s\n", w.bold("not exercised"))
				first = false
			}
			fmt.Fprintf(w, "  %s: %s\n", at(gap.Range), plain(gap.What))
		}
	}
}

func (w *testWriter) mutation(m *modeltest.Mutation) {
	if m.Total == 0 {
		fmt.Fprintln(w, "\nmutants  none: there is no precondition and no effect to leave out")
		return
	}
	killed := m.Total - len(m.Survived)
	fmt.Fprintf(w, "\n%s  %d of %d killed  %.1f%%\n", w.bold("mutants"), killed, m.Total, m.Percent())
	if len(m.Survived) > 0 {
		fmt.Fprintf(w, "\n%s\n", w.bold("survived: no test notices"))
	}
	for _, s := range m.Survived {
		fmt.Fprintf(w, "  %s: %s\n", at(s.Range), plain(s.What))
	}
}
