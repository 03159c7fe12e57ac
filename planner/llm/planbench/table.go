package planbench

import (
	"fmt"
	"math"
	"strings"
)

// Wilson returns the 95 % confidence interval of a share, by Wilson's score
// (1927).
func Wilson(of, n int) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	const z = 1.959964
	p, m := float64(of)/float64(n), float64(n)
	mid := p + z*z/(2*m)
	half := z * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return max(0, (mid-half)/(1+z*z/m)), min(1, (mid+half)/(1+z*z/m))
}

// Table writes the tallies in Markdown: all examples together, then each.
func (r Result) Table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "All %d examples, %d runs a cell, at most %d calls a run: solved in %% (95 %% interval); mean calls of the solved\n\n", len(examples), r.Runs*len(examples), r.Calls)
	r.rows(&b, "")
	for _, e := range examples {
		s := r.Steps[e.name]
		fmt.Fprintf(&b, "\n%s: %d starts, plans of %d to %d steps, %d runs a cell\n\n", e.name, r.Search[e.name].Runs, s[0], s[1], r.Runs)
		r.rows(&b, e.name)
	}
	return b.String()
}

// rows writes a row for each model; of all examples where none is named.
func (r Result) rows(b *strings.Builder, example string) {
	b.WriteString("| simulated model |")
	for _, arm := range r.Arms {
		fmt.Fprintf(b, " %s |", arm)
	}
	b.WriteString(" search alone |\n" + strings.Repeat("| --- ", 2+len(r.Arms)) + "|\n")
	for _, m := range r.Models {
		fmt.Fprintf(b, "| %s |", m)
		for _, arm := range r.Arms {
			fmt.Fprintf(b, " %s |", sum(example, func(name string) Tally { return r.Cells[Cell{m.within(arm), arm, name}] }))
		}
		alone := sum(example, func(name string) Tally { return r.Search[name] })
		fmt.Fprintf(b, " %d of %d; 0 |\n", alone.Solved, alone.Runs)
	}
}

// sum adds the tallies of an example, of all where none is named.
func sum(example string, of func(string) Tally) Tally {
	var t Tally
	for _, e := range examples {
		if example == "" || e.name == example {
			t = t.Add(of(e.name))
		}
	}
	return t
}

// String writes the share solved, its interval, and the mean number of calls.
func (t Tally) String() string {
	low, high := Wilson(t.Solved, t.Runs)
	s := fmt.Sprintf("%.1f (%.1f–%.1f)", percent(t.Solved, t.Runs), 100*low, 100*high)
	if t.Solved > 0 {
		s += fmt.Sprintf("; %.2f", float64(t.Calls)/float64(t.Solved))
	}
	return s
}

func percent(of, n int) float64 { return 100 * float64(of) / float64(max(n, 1)) }
