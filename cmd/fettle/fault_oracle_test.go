package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

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

// keys reads etcd itself, beside every controller.
type keys struct {
	*clientv3.Client
	t *testing.T
}

func openKeys(t *testing.T, e *etcdServer) *keys {
	t.Helper()
	cli, err := clientv3.New(clientv3.Config{Endpoints: []string{e.endpoint}, DialTimeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cli.Close() })
	return &keys{cli, t}
}

// key is one key of etcd, by what it means.
type key struct {
	name  string // As it is in etcd.
	kind  string // lock, mark, ticket, intent, owner, event or "".
	about string // The resource, the action or the run.
	value string
	lease int64
	puts  int64 // How often it was put.
}

// all reads every key.
func (k *keys) all() ([]key, int64) {
	k.t.Helper()
	ctx, cancel := within(k.t)
	defer cancel()
	resp, err := k.Get(ctx, "\x00", clientv3.WithFromKey())
	if err != nil {
		k.t.Fatal(err)
	}
	out := make([]key, 0, len(resp.Kvs))
	for _, kv := range resp.Kvs {
		one := key{name: string(kv.Key), value: string(kv.Value), lease: kv.Lease, puts: kv.Version}
		one.kind, one.about = meaning(one.name)
		out = append(out, one)
	}
	return out, resp.Header.Revision
}

// meaning tells what a key of the protocol is for.
func meaning(name string) (kind, about string) {
	seg := strings.Split(name, "/")
	for i := range seg {
		if plain, err := url.PathUnescape(seg[i]); err == nil {
			seg[i] = plain
		}
	}
	n := len(seg)
	at := func(i int) string {
		if n+i < 0 {
			return ""
		}
		return seg[n+i]
	}
	switch {
	case at(-5) == "k" && at(-3) == "x" && at(-1) == "d":
		return "mark", at(-4) + "(" + at(-2) + ")"
	case at(-5) == "k":
		return "lock", at(-4) + "(" + at(-2) + ")"
	case at(-3) == "q":
		return "ticket", at(-2)
	case at(-2) == "intent":
		return "intent", at(-1)
	case at(-3) == "run" && at(-1) == "owner":
		return "owner", at(-2)
	case at(-4) == "run" && at(-2) == "e":
		return "event", at(-3)
	}
	return "", ""
}

// of returns the keys of a kind.
func (k *keys) of(kind string) (out []key) {
	k.t.Helper()
	all, _ := k.all()
	for _, one := range all {
		if one.kind == kind {
			out = append(out, one)
		}
	}
	return out
}

// unresolved returns the actions whose outcome is not known.
func (k *keys) unresolved() (out []string) {
	k.t.Helper()
	for _, one := range k.of("intent") {
		var in struct{ State string }
		if err := json.Unmarshal([]byte(one.value), &in); err != nil {
			k.t.Fatal(err)
		}
		if in.State != "done" {
			out = append(out, one.about)
		}
	}
	return out
}

// left is what a finished repair must not have left behind.
func (k *keys) left() (out []string) {
	k.t.Helper()
	for _, id := range k.unresolved() {
		out = append(out, "unresolved: "+id)
	}
	all, _ := k.all()
	for _, one := range all {
		switch one.kind {
		case "lock", "mark", "ticket", "owner":
			out = append(out, "left behind: "+one.name)
		case "event":
			if one.puts != 1 {
				out = append(out, fmt.Sprintf("%s was written %d times", one.name, one.puts))
			}
		}
	}
	return out
}

// awaitGone waits until no key is there of which f is true.
func (k *keys) awaitGone(f func(key) bool) {
	k.t.Helper()
	k.awaitKeys("keys did not go", func(all []key) bool { return !slices.ContainsFunc(all, f) })
}

// awaitKeys waits until f is true of all keys.
func (k *keys) awaitKeys(otherwise string, f func([]key) bool) {
	k.t.Helper()
	ctx, cancel := within(k.t)
	defer cancel()
	all, revision := k.all()
	changes := k.Watch(ctx, "\x00", clientv3.WithFromKey(), clientv3.WithRev(revision+1))
	for !f(all) {
		if _, ok := <-changes; !ok {
			k.t.Fatalf("%s: %+v", otherwise, all)
		}
		all, _ = k.all()
	}
}

// leased tells whether a key goes with its holder.
func leased(k key) bool { return k.lease != 0 }

// owns tells whether a key is the right to drive the run.
func owns(run string) func(key) bool {
	return func(k key) bool { return k.kind == "owner" && k.about == run }
}
