package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fettleops/fettle/examples/fleet/accesslog"
)

// deed is one guarded action as both witnesses tell it.
type deed struct {
	what                 string // The request that acted.
	id                   string
	fence, arm, finished int64 // Revisions of etcd.
	raise, observe, act  int64 // Numbers of the balancer's log.
}

func (d deed) String() string {
	return fmt.Sprintf("%-29s acquire %d → raise #%d → observe #%d → arm %d → act #%d → finish %d",
		d.what, d.fence, d.raise, d.observe, d.arm, d.act, d.finished)
}

// join lays the balancer's log beside etcd's history. The two have no clock in
// common, and none is used: within each, order is that of its own numbers;
// across them, a request belongs to the locks created at the revision that it
// carries as its fence, and to the intent of the action id it carries. What no
// request carries is not proved by them: that the intent was put before the
// request left, rather than between it and its outcome.
func join(log []accesslog.Entry, t trace) (deeds []deed, problems []string) {
	log = slices.SortedFunc(slices.Values(log), func(a, b accesslog.Entry) int { return cmp.Compare(a.Seq, b.Seq) })
	acted := map[string]bool{}
	for _, act := range log {
		if act.Kind != accesslog.Act || act.Repeat {
			continue
		}
		d := deed{what: act.Method + " " + act.Path, id: act.ActionID, fence: act.Fence, act: act.Seq}
		if act.ActionID != "" && acted[act.ActionID] {
			problems = append(problems, fmt.Sprintf("%s: action %s acted twice", d.what, d.id))
		}
		acted[act.ActionID] = true
		wrong := slices.Concat(d.joinEtcd(act, t), d.joinLog(log, act))
		for _, w := range wrong {
			problems = append(problems, d.what+": "+w)
		}
		if len(wrong) == 0 {
			deeds = append(deeds, d)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(t.intents)) {
		if !acted[id] && t.intents[id].outcome != "not_applied" { // One that was withdrawn need not have acted.
			problems = append(problems, fmt.Sprintf("action %s was armed and never reached the balancer", id))
		}
	}
	return deeds, append(problems, outOfOrder(log)...)
}

// joinEtcd checks acquire → arm → finish, and that each request carries their
// fence and id.
func (d *deed) joinEtcd(act accesslog.Entry, t trace) (wrong []string) {
	if act.Fence == 0 || act.ActionID == "" {
		return []string{"acted without a fence or an action id"}
	}
	intent := t.intents[act.ActionID]
	if intent == nil {
		return []string{fmt.Sprintf("no intent was armed for action %s", act.ActionID)}
	}
	d.arm, d.finished = intent.armed, intent.settled
	locks := t.takenAt(act.Fence)
	if len(locks) == 0 {
		wrong = append(wrong, fmt.Sprintf("no exclusive lock was taken at revision %d, its fence", act.Fence))
	}
	for _, w := range act.Writes {
		if !covered(w, locks) {
			wrong = append(wrong, fmt.Sprintf("no exclusive lock on %s was taken at revision %d, its fence", w, act.Fence))
		}
	}
	if intent.armed <= act.Fence {
		wrong = append(wrong, fmt.Sprintf("armed at revision %d, not after its locks were taken at %d", intent.armed, act.Fence))
	}
	if act.Armed != intent.armed { // It can only know the revision once that is committed.
		wrong = append(wrong, fmt.Sprintf("acted as armed at revision %d, but was armed at %d", act.Armed, intent.armed))
	}
	if intent.settled == 0 {
		wrong = append(wrong, "its intent was never settled")
	}
	for _, l := range locks {
		switch {
		case l.ended == 0:
			wrong = append(wrong, fmt.Sprintf("its lock on %s was never given up", l.fluent))
		case l.ended <= intent.armed:
			wrong = append(wrong, fmt.Sprintf("its lock on %s ended at revision %d, before it was armed at %d", l.fluent, l.ended, intent.armed))
		case l.ended < intent.settled:
			wrong = append(wrong, fmt.Sprintf("its lock on %s ended at revision %d, before its outcome was recorded at %d", l.fluent, l.ended, intent.settled))
		}
	}
	return wrong
}

// covered tells whether one of the locks is on what is written: on that
// instance, or on the whole fluent.
func covered(write string, locks []*lockTrace) bool {
	fluent, instance, _ := strings.Cut(write, "(")
	instance = strings.TrimSuffix(instance, ")")
	return slices.ContainsFunc(locks, func(l *lockTrace) bool {
		return l.fluent == fluent && (l.instance == "" || l.instance == instance)
	})
}

// joinLog checks raise → observe → act: a raise with the act's id and fence
// that covers what it wrote, and after its end and before the act a whole
// observation by the same run, or by one that does not say.
func (d *deed) joinLog(log []accesslog.Entry, act accesslog.Entry) (wrong []string) {
	var raised []string
	for _, e := range log {
		switch {
		case e.End >= act.Seq || e.Status != 200:
		case e.Kind == accesslog.Raise && e.ActionID == act.ActionID && e.Fence == act.Fence:
			d.raise = max(d.raise, e.End)
			raised = append(raised, e.Resources...)
		}
	}
	if d.raise == 0 {
		return []string{"its fence was not raised before it acted"}
	}
	for _, w := range act.Writes {
		fluent, _, _ := strings.Cut(w, "(")
		if !slices.Contains(raised, w) && !slices.Contains(raised, fluent) {
			wrong = append(wrong, "its fence was not raised for "+w)
		}
	}
	for _, e := range log {
		if e.Kind == accesslog.Observe && e.Status == 200 && e.Seq > d.raise && e.End < act.Seq && (e.Run == "" || e.Run == act.Run) {
			d.observe = e.Seq
		}
	}
	if d.observe == 0 {
		wrong = append(wrong, "nothing was observed between the raise and the act")
	}
	return wrong
}

// outOfOrder finds acts let in with a lower fence than an earlier act on the
// same resource.
func outOfOrder(log []accesslog.Entry) (problems []string) {
	highest := map[string]int64{}
	for _, e := range log {
		if e.Kind != accesslog.Act || e.Repeat || e.Status != 200 {
			continue
		}
		for _, w := range e.Writes {
			if e.Fence < highest[w] {
				problems = append(problems, fmt.Sprintf("%s %s: wrote %s under fence %d after an act under %d", e.Method, e.Path, w, e.Fence, highest[w]))
			}
			highest[w] = max(highest[w], e.Fence)
		}
	}
	return problems
}
