package main

import (
	"fmt"

	"github.com/fettleops/fettle/planner"
)

// refusePlan says what is wrong with the plan that somebody gave; it is not kept.
func (a *app) refusePlan(tried planner.Attempt, format string) error {
	switch rep := tried.Report; {
	case format == "json":
		doc, err := rep.MarshalJSON()
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(a.out, "%s\n", doc); err != nil {
			return err
		}
	case rep.Critique == tried.Critique:
		if err := rep.WriteText(a.out); err != nil {
			return err
		}
	default:
		fmt.Fprintln(a.out, plain(tried.Critique))
	}
	fmt.Fprintln(a.err, "the plan is not approved: it is not valid from what was observed last")
	return answer(exitNo)
}

// withoutSecrets keeps the values of sensitive variables, and what looks like a
// secret, out of what a person wrote.
func (l *loaded) withoutSecrets(text string) string {
	return l.redact(text)
}
