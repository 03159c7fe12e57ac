package main

import (
	"fmt"
	"strings"

	"github.com/fettleops/fettle/executor"
)

// printReplay tells what came of a replay, the important thing first.
func (a *app) printReplay(out executor.Replayed, with string) {
	fmt.Fprintf(a.out, "run %s · goal %s · %s\n\n", out.Run, plain(out.Goal), count(out.Events, "event"))
	for _, d := range out.Differs {
		fmt.Fprintf(a.out, "event %d, %s: %s\n", d.Seq, d.Kind, plain(d.Decision))
		fmt.Fprintf(a.out, "  differs in  %s\n", plain(d.Part))
		fmt.Fprintf(a.out, "  recorded    %s\n", oneLine(d.Recorded))
		fmt.Fprintf(a.out, "  derived     %s\n\n", oneLine(d.Derived))
	}
	fmt.Fprintln(a.out, outcomeOf(out, with))
	for _, kind := range executor.Kinds(out.By) {
		fmt.Fprintf(a.out, "  %4d  %s\n", out.By[kind], kind)
	}
	if len(out.Taken) > 0 {
		fmt.Fprintln(a.out, "taken as recorded")
		for _, what := range executor.Kinds(out.Taken) {
			fmt.Fprintf(a.out, "  %4d  %s\n", out.Taken[what], what)
		}
	}
	if len(out.Unknown) > 0 {
		fmt.Fprintln(a.out, "passed over: events that decide nothing, or of another version")
		for _, kind := range executor.Kinds(out.Unknown) {
			fmt.Fprintf(a.out, "  %4d  %s\n", out.Unknown[kind], plain(kind))
		}
	}
	if !out.Whole && len(out.Differs) == 0 {
		fmt.Fprintln(a.out, "the run has not ended, or its process was killed: these are its decisions so far")
	}
}

// outcomeOf is the one line that answers.
func outcomeOf(out executor.Replayed, with string) string {
	n := count(out.Decisions, "decision")
	switch d := len(out.Differs); {
	case d == 0 && with != "":
		return fmt.Sprintf("%s derived with %s, all as in the run", n, plain(with))
	case d == 0:
		return n + " re-derived, all equal"
	case with != "" && d >= maxDiffering:
		return fmt.Sprintf("%s derived with %s until %d came out otherwise; there may be more", n, plain(with), d)
	case with != "":
		return fmt.Sprintf("%s derived with %s, %d otherwise", n, plain(with), d)
	}
	return fmt.Sprintf("%s re-derived until the first that differs", n)
}

// oneLine shortens a text to a line for a person.
func oneLine(s string) string {
	const most = 400
	s = plain(strings.ReplaceAll(s, "\n", " "))
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return s
}
