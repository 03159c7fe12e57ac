package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// BreakerState is where the count of runs without success stands for a goal.
type BreakerState struct {
	Goal  string       `json:"goal"`
	Row   []RunOutcome `json:"row"`            // runs in a row without success, oldest first
	Most  int          `json:"most,omitempty"` // of them; 0: no limit
	Open  bool         `json:"open"`           // no run begins
	Since time.Time    `json:"since,omitzero"` // it is open
	// Until is when one run is let through although it is open; zero: never.
	Until time.Time `json:"until,omitzero"`
	// Trial is the run that was let through and has not ended.
	Trial string `json:"trial,omitempty"`
	// Waits tells that it waits, for a person or for others.
	Waits bool `json:"waits,omitempty"`
	// Success is the last run that reached the goal by what it did, and Lasts
	// until when it has to last: a run that begins before is refused.
	Success *RunOutcome `json:"success,omitempty"`
	Lasts   time.Time   `json:"lasts,omitzero"`
}

// State returns where the count stands.
func (s Shared) State(goal string, runs []RunOutcome, now time.Time) BreakerState {
	b := BreakerState{Goal: goal, Row: row(runs)}
	if o, ok := success(runs); ok {
		b.Success = &o
		if until := o.At.Add(s.Ineffective.Value); now.Before(until) {
			b.Lasts = until
		}
	}
	if s.Breaker.Set {
		s.breaker(&b, runs, now)
	}
	return b
}

// breaker tells whether it is open.
func (s Shared) breaker(b *BreakerState, runs []RunOutcome, now time.Time) {
	b.Most = s.Breaker.Value
	if len(b.Row) < b.Most {
		return
	}
	last := b.Row[len(b.Row)-1].time()
	b.Open, b.Since = true, b.Row[b.Most-1].time()
	if !s.BreakerReset.Set {
		return
	}
	b.Until = last.Add(s.BreakerReset.Value)
	if now.Before(b.Until) {
		return
	}
	b.Open, b.Until = false, time.Time{}
	for _, o := range runs {
		if (o.Status == RunUnderWay || o.Status == runWaiting) && !o.Began.Before(last) {
			b.Open, b.Trial, b.Waits = true, o.Run, o.Status == runWaiting
		}
	}
}

// Begins answers whether a run towards a goal may begin its first round, the
// goal being observed not to hold, and returns the runs as they are to be kept:
// nil where it may. It depends on its arguments alone. A run that has acted
// already is not asked again; one that has begun and done nothing yet is, as if it
// began now: what happened while it waited counts. A success that is found not to
// have lasted is none from then on, and what went before it counts on.
func (s Shared) Begins(goal string, runs []RunOutcome, run string, now time.Time) ([]RunOutcome, *SharedRefusal) {
	acted := slices.ContainsFunc(runs, func(o RunOutcome) bool { return o.Run == run && o.Acted })
	if !acted {
		runs = slices.DeleteFunc(slices.Clone(runs), func(o RunOutcome) bool { return o.Run == run && run != "" })
		facts := &SharedFacts{Now: now, Goal: goal, Run: run, Runs: runs}
		brief := s.ineffective(goal, runs, now)
		if brief != nil {
			runs = shortened(runs)
		}
		if r := both(brief, s.broken(goal, runs, now)); r != nil {
			r.Facts = facts
			return runs, r
		}
	}
	return FollowRuns(runs, RunOutcome{Run: run, Status: RunUnderWay, Began: now}), nil
}

// both tells of a success that did not last first, and of the breaker too.
func both(brief, broken *SharedRefusal) *SharedRefusal {
	if brief == nil || broken == nil {
		return cmp.Or(brief, broken)
	}
	out := *brief
	out.More, out.Reason = 1, brief.Reason+"; "+broken.Reason
	if broken.Until.IsZero() || broken.Until.After(brief.Until) {
		out.Until = broken.Until
	}
	return &out
}

// shortened marks the last success as one that did not last.
func shortened(runs []RunOutcome) []RunOutcome {
	out := slices.Clone(runs)
	for i := range slices.Backward(out) {
		if out[i].worked() {
			out[i].Brief = true
			break
		}
	}
	return out
}

func (s Shared) broken(goal string, runs []RunOutcome, now time.Time) *SharedRefusal {
	b := s.State(goal, runs, now)
	if !b.Open {
		return nil
	}
	r := &SharedRefusal{Limit: "breaker", Word: Broken, Of: goal, Used: len(b.Row), Most: b.Most, Until: b.Until}
	mend := fmt.Sprintf("none begins until `fettle breaker reset %s`", ShellWord(goal))
	switch {
	case b.Trial != "":
		mend = fmt.Sprintf("run %s was let through to try, and is under way", b.Trial)
		if b.Waits {
			mend = fmt.Sprintf("run %s was let through to try, and waits: go on with `fettle resume %[1]s`, or `fettle cancel %[1]s`", b.Trial)
		}
	case !b.Until.IsZero():
		mend += ", or one to try from " + stamp(b.Until)
	}
	r.Reason = fmt.Sprintf("breaker = %d: %s towards %s in a row without success, the last %s; %s", b.Most, runsOf(len(b.Row)), goal, b.Row[len(b.Row)-1], mend)
	return r
}

func (s Shared) ineffective(goal string, runs []RunOutcome, now time.Time) *SharedRefusal {
	b := s.State(goal, runs, now)
	if b.Lasts.IsZero() {
		return nil
	}
	return &SharedRefusal{
		Limit: "ineffective", Word: Ineffective, Of: goal, Until: b.Lasts,
		Reason: fmt.Sprintf("ineffective = %s: run %s reached %s at %s and it does not hold again, so what it did does not last; none begins before %s or `fettle breaker reset %s`",
			spell(s.Ineffective.Value), b.Success.Run, goal, stamp(b.Success.At), stamp(b.Lasts), ShellWord(goal)),
	}
}

func runsOf(n int) string {
	if n == 1 {
		return "1 run"
	}
	return fmt.Sprintf("%d runs", n)
}

// ShellWord quotes a goal with arguments, for a command line to paste.
func ShellWord(goal string) string {
	if strings.ContainsAny(goal, "() '\"") {
		return "'" + strings.ReplaceAll(goal, "'", `'\''`) + "'"
	}
	return goal
}
