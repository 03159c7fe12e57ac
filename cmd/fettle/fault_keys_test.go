package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
)

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
