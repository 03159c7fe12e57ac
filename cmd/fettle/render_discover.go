package main

import (
	"fmt"
	"time"

	"github.com/fettleops/fettle/executor"
)

// discovered tells which objects are new, which are gone, and what could not be
// found out.
func (r *renderer) discovered(e executor.Discovery, _ time.Time) {
	if e.Rest { // The event before told how many there are.
		return
	}
	r.gap()
	line := fmt.Sprintf("Discovered %d of type %s", e.Objects, e.Type)
	if e.Source != "" {
		line += "  " + r.p.faint(plain(e.Source))
	}
	r.line("%s", line)
	if len(e.New) > 0 {
		r.line("  new      %s", named(e.New, len(e.New)))
	}
	if n := len(e.Gone) + e.More; n > 0 {
		r.line("  %s     %s: not found now, so nothing is known of %s", r.p.warn("gone"), named(e.Gone, n), pronoun(n))
	}
	if e.Error != "" {
		r.line("  %s   %s; there may be more than are known", r.p.warn("failed"), plain(e.Error))
	} else if e.Note != "" {
		r.line("  note     %s", plain(e.Note))
	}
	r.underway("observing")
}

func pronoun(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}
