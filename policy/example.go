package policy

import (
	"fmt"
	"strings"
)

// notes say in the example what each limit bounds.
var notes = map[string]string{
	"max_rounds":           "plannings, each followed by its execution",
	"max_attempts":         "proposals within a round",
	"max_actions":          "executions over the whole run",
	"deadline":             "for the whole run; asked before each action, one in flight ends within its own timeout",
	"max_repeats":          "how often one plan may be tried from one state",
	"same_failure_retries": "equal failures in a row",
	"no_evidence_rounds":   "rounds in which nothing was learned",
	"max_errors":           "infrastructure errors that a run survives",
}

// Example returns a policy block to paste into a model that has none.
func Example() string {
	var b strings.Builder
	b.WriteString("policy {\n")
	fmt.Fprintf(&b, "  %-20s = %-9s # suggest: never act; approve: ask; auto: by the rules\n", "mode", `"approve"`)
	for _, name := range order {
		fmt.Fprintf(&b, "  %-20s = %-9s # %s\n", name, usual[name], notes[name])
	}
	b.WriteString("}\n")
	return b.String()
}

// missing names the required limits that a policy does not set, and how to.
func missing(names []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Nothing else bounds a run, so a policy must set %s. For example:\n", list(names))
	width := 0
	for _, name := range names {
		width = max(width, len(name))
	}
	for _, name := range names {
		fmt.Fprintf(&b, "\n  %-*s = %s", width, name, usual[name])
	}
	return b.String()
}

// list joins names as a sentence does: a, b and c.
func list(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
