package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/fettleops/fettle/examples/fleet/accesslog"
)

// entries returns the fleet's whole log, in the order in which requests began.
func (f *fleet) entries() []accesslog.Entry {
	f.t.Helper()
	file, err := os.Open(f.log)
	if err != nil {
		f.t.Fatal(err)
	}
	defer file.Close()
	all, err := accesslog.Read(file)
	if err != nil {
		f.t.Fatal(err)
	}
	return slices.SortedFunc(slices.Values(all), func(a, b accesslog.Entry) int { return cmp.Compare(a.Seq, b.Seq) })
}

// didAct tells whether the entry is an act that was carried out.
func didAct(e accesslog.Entry) bool {
	return e.Kind == accesslog.Act && e.Status == http.StatusOK && !e.Repeat
}

// pathOf is the method and path of an entry.
func pathOf(e accesslog.Entry) string { return e.Method + " " + e.Path }

// poolMove tells which service an act takes out of the balancer or puts back.
func poolMove(e accesslog.Entry) (service string, out, ok bool) {
	name, found := strings.CutPrefix(e.Path, "/services/")
	if !found || !didAct(e) {
		return "", false, false
	}
	service, verb, _ := strings.Cut(name, "/")
	return service, verb == "drain", verb == "drain" || verb == "add"
}

// wrongs is what the fleet's own log tells against the protocol.
func wrongs(log []accesslog.Entry) []string {
	return slices.Concat(sentTwice(log), lateActs(log), outTogether(log))
}

// unfencedActs finds acts of controllers that carried no fence.
func unfencedActs(log []accesslog.Entry) (out []string) {
	for _, e := range log {
		if e.Kind == accesslog.Act && e.ActionID != "" && e.Fence == 0 {
			out = append(out, fmt.Sprintf("#%d %s carried no fence", e.Seq, pathOf(e)))
		}
	}
	return out
}

// sentTwice finds action ids that reached the fleet more than once.
func sentTwice(log []accesslog.Entry) (out []string) {
	seen := map[string]int{}
	for _, e := range log {
		if e.Kind == accesslog.Act && e.ActionID != "" {
			seen[e.ActionID]++
		}
	}
	for _, id := range slices.Sorted(maps.Keys(seen)) {
		if seen[id] > 1 {
			out = append(out, fmt.Sprintf("action %s reached the fleet %d times", id, seen[id]))
		}
	}
	return out
}

// lateActs finds acts that were carried out under a lower fence
// than was raised, or acted under, before they came.
func lateActs(log []accesslog.Entry) (out []string) {
	highest := map[string]int64{}
	for _, e := range log {
		switch {
		case didAct(e) && e.Fence != 0:
			for _, w := range writesOf(e) {
				for _, r := range []string{w, fluentOf(w)} {
					if e.Fence < highest[r] {
						out = append(out, fmt.Sprintf("#%d %s by %s under fence %d, after %d on %s", e.Seq, pathOf(e), e.ActionID, e.Fence, highest[r], r))
					}
				}
			}
			for _, w := range writesOf(e) {
				highest[w] = max(highest[w], e.Fence)
			}
		case e.Kind == accesslog.Raise && e.Status == http.StatusOK:
			for _, r := range e.Resources {
				highest[r] = max(highest[r], e.Fence)
			}
		}
	}
	return out
}

// writesOf is what an act may write: what it says, or what its path means.
func writesOf(e accesslog.Entry) []string {
	if service, _, ok := poolMove(e); ok && len(e.Writes) == 0 {
		return []string{"in_lb(" + service + ")"}
	}
	return e.Writes
}

func fluentOf(atom string) string {
	fluent, _, _ := strings.Cut(atom, "(")
	return fluent
}

// outTogether finds services that were out of the balancer at the same time.
func outTogether(log []accesslog.Entry) (problems []string) {
	out := map[string]bool{}
	for _, e := range slices.SortedFunc(slices.Values(log), func(a, b accesslog.Entry) int { return cmp.Compare(a.End, b.End) }) {
		service, drained, ok := poolMove(e)
		if !ok {
			continue
		}
		if out[service] = drained; !drained {
			delete(out, service)
		}
		if len(out) > 1 {
			problems = append(problems, fmt.Sprintf("#%d %s: out together: %v", e.Seq, pathOf(e), slices.Sorted(maps.Keys(out))))
		}
	}
	return problems
}

// doneTwice finds what was carried out more than once.
func doneTwice(log []accesslog.Entry) (out []string) {
	did := map[string]int{}
	for _, e := range log {
		if didAct(e) {
			did[pathOf(e)]++
		}
	}
	for _, path := range slices.Sorted(maps.Keys(did)) {
		if did[path] > 1 {
			out = append(out, fmt.Sprintf("%s was done %d times", path, did[path]))
		}
	}
	return out
}

// unhealthy tells what is not as it should be with the fleet.
func (f *fleet) unhealthy() (out []string) {
	f.t.Helper()
	var doc struct {
		Services []struct {
			Name, Version, Memory string
			InLB                  bool `json:"in_lb"`
			Healthy               bool
			Wanted                string `json:"wanted_version"`
		}
	}
	if err := json.Unmarshal(f.get("/services"), &doc); err != nil {
		f.t.Fatal(err)
	}
	for _, s := range doc.Services {
		if !s.InLB || !s.Healthy || s.Memory != "ok" || s.Version != s.Wanted {
			out = append(out, fmt.Sprintf("not mended: %+v", s))
		}
	}
	return out
}

// judged holds a test to what its oracle found: nothing, or, where a protection
// was taken away, something.
func judged(t *testing.T, without string, problems []string) {
	t.Helper()
	if without == "" {
		for _, p := range problems {
			t.Error(p)
		}
		return
	}
	if len(problems) == 0 {
		t.Errorf("the oracle finds nothing wrong with %s", without)
	}
	for _, p := range problems {
		t.Log("as it should, the oracle finds: " + p)
	}
}
