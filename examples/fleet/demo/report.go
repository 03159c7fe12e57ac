package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fettleops/fettle/examples/fleet/accesslog"
)

// report prints each check as one line and counts those that did not hold.
type report struct {
	checks, failed int
}

// check prints what holds, or what does not and why.
func (r *report) check(what string, wrong []string) {
	r.checks++
	if len(wrong) == 0 {
		fmt.Printf("  ✓ %s\n", what)
		return
	}
	r.failed++
	fmt.Printf("  ✗ %s\n", what)
	for _, w := range wrong {
		fmt.Printf("      %s\n", w)
	}
}

func (r *report) verdict(seed uint64, took time.Duration) error {
	fmt.Println()
	if r.failed > 0 {
		return fmt.Errorf("%w: %d of %d checks failed after %.1f s; the same surprise again: --seed %d", errChecks, r.failed, r.checks, took.Seconds(), seed)
	}
	fmt.Printf("All %d checks hold, after %.1f s. Another surprise: run it again. This one: --seed %d\n", r.checks, took.Seconds(), seed)
	return nil
}

func (st *stage) tellOpening(seed uint64) {
	fmt.Printf("A fleet of four services behind one balancer, %s (seed %d)\n", st.fleet.base, seed)
	fmt.Printf("  %s leaks memory and %s runs a bad deploy. fettle is to mend both, never two out at once.\n", leaks, misruns)
	if st.prom != nil {
		fmt.Printf("  fettle sees the fleet only through the Prometheus at %s, which scrapes it every second.\n", st.prom.base)
	}
	fmt.Printf("  At a moment nobody has told it, a third service will fail.\n\n")
}

// judge asks every witness.
func (r *report) judge(ctx context.Context, st *stage, run performance, probe probeResult) error {
	fmt.Printf("\nWhat the others saw\n\n")
	r.check("fettle says it succeeded (exit 0)", wrongExit(run))
	r.check(surpriseLine(run), wrongSurprise(run))
	r.check("the fleet says: all in the balancer, healthy, on the right version, deploy lock free", wrongFleet(ctx, st))
	r.check(poolLine(probe), wrongPool(probe))
	log, err := st.entries()
	if err != nil {
		return err
	}
	r.check(clientsLine(probe), unexplained(probe.Failures, run, repairedAt(log, run)))
	history, err := readHistory(ctx, st.stateDir(), st.dir)
	if err != nil {
		r.check("etcd's own history can be read", []string{err.Error()})
		return nil
	}
	t := readTrace(history)
	deeds, problems := join(log, t)
	if len(deeds) == 0 && len(problems) == 0 {
		problems = []string{"no action reached the balancer"}
	}
	r.check(fmt.Sprintf("%d actions, each in order: acquire → observe → arm → act → finish, each once (%d requests to the balancer, %d changes in etcd)",
		len(deeds), len(log), len(history)), problems)
	for _, d := range deeds {
		fmt.Printf("      %s\n", d)
	}
	r.check("nothing is left in doubt or locked", leftovers(t))
	return nil
}

func wrongExit(run performance) []string {
	switch {
	case run.exitErr != nil:
		return []string{run.exitErr.Error()}
	case run.exit != 0:
		return []string{fmt.Sprintf("exit %d", run.exit)}
	}
	return nil
}

func surpriseLine(run performance) string {
	if run.struck.IsZero() {
		return "a third service fails in mid-run: " + run.String()
	}
	return fmt.Sprintf("a third service failed in mid-run: %s, %.1f s before fettle ended", run.surprise, run.ended.Sub(run.struck).Seconds())
}

func wrongSurprise(run performance) []string {
	if run.struck.IsZero() {
		return []string{run.missed}
	}
	return nil
}

func wrongFleet(ctx context.Context, st *stage) (wrong []string) {
	if err := st.notePIDs(ctx); err != nil {
		return []string{err.Error()}
	}
	services, err := st.fleet.services(ctx)
	if err != nil {
		return []string{err.Error()}
	}
	for _, s := range services {
		wrong = append(wrong, s.amiss()...)
	}
	holder, err := st.fleet.lockHolder(ctx)
	switch {
	case err != nil:
		wrong = append(wrong, err.Error())
	case holder != "":
		wrong = append(wrong, "the deploy lock is held for "+holder)
	}
	return wrong
}

func poolLine(probe probeResult) string {
	return fmt.Sprintf("never more than one service out of the balancer (%d samples)", probe.Samples)
}

func wrongPool(probe probeResult) (wrong []string) {
	if len(probe.MostOut) > 1 {
		wrong = append(wrong, "out at one time: "+strings.Join(probe.MostOut, ", "))
	}
	if len(probe.MostOut) == 0 {
		wrong = append(wrong, "none was ever seen out, so the prober saw no repair")
	}
	if probe.SampleErr != nil {
		wrong = append(wrong, "a sample could not be taken: "+probe.SampleErr.Error())
	}
	return wrong
}

func clientsLine(probe probeResult) string {
	if len(probe.Failures) == 0 {
		return fmt.Sprintf("%d client requests served, none failed", probe.Served)
	}
	return fmt.Sprintf("%d client requests served; %d failed, all at the third service while it was broken", probe.Served, len(probe.Failures))
}

// repairedAt is when the third service was taken out of the balancer after it
// had failed; zero: it never was.
func repairedAt(log []accesslog.Entry, run performance) time.Time {
	for _, e := range log {
		if e.Path == "/services/"+run.service+"/drain" && e.Status == 200 && e.Finished.After(run.struck) {
			return e.Finished
		}
	}
	return time.Time{}
}

// unexplained lists, by kind, the failed client requests that the third
// failure does not account for.
func unexplained(failures []failure, run performance, repaired time.Time) []string {
	count := map[string]int{}
	for _, f := range failures {
		during := !run.struck.IsZero() && f.Ended.After(run.struck) && (repaired.IsZero() || f.Began.Before(repaired))
		if f.Service != run.service || !during {
			count[fmt.Sprintf("%s at %s", f.Why, cmp.Or(f.Service, "the balancer"))]++
		}
	}
	var out []string
	for _, why := range slices.Sorted(maps.Keys(count)) {
		out = append(out, fmt.Sprintf("%d × %s", count[why], why))
	}
	return out
}

func leftovers(t trace) (wrong []string) {
	for _, key := range slices.Sorted(maps.Keys(t.doubts)) {
		wrong = append(wrong, "in doubt: "+key)
	}
	for _, l := range t.locks {
		if l.ended == 0 {
			wrong = append(wrong, fmt.Sprintf("locked: %s %s since revision %d", l.fluent, l.instance, l.created))
		}
	}
	return wrong
}
