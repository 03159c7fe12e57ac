package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/lease/etcd"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/model/load"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/planner/search"
	"github.com/fettleops/fettle/policy"
	"github.com/fettleops/fettle/world"
)

// store is the etcd that all tests share, each in a scope of its own.
var store *etcd.Store

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) (code int) {
	dir, err := os.MkdirTemp("", "executor")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	store, err = etcd.Open(context.Background(), etcd.Config{StateDir: dir, OpenTimeout: 20 * time.Second})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code = m.Run()
	if err := errors.Join(store.Close(), goleak.Find()); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// fleetModel is the model of a yard: a service is mended while it is down, and
// at most one is down at a time.
const fleetModel = `
type "service" { objects = ["api", "db"] }

fluent "up" {
  params = { s = service }
  observe "http" {
    url    = "{{yard}}/state"
    items  = "body.services"
    object = "name"
    value  = "up"
  }
}
fluent "ok" {
  params = { s = service }
  observe "http" {
    url    = "{{yard}}/state"
    items  = "body.services"
    object = "name"
    value  = "ok"
  }
}
invariant "one_down" {
  condition = "count(service, !up(#)) <= 1"
  message   = "at most one service may be down at a time"
}
action "stop" {
  params       = { s = service }
  precondition = ["up(s)"]
  effect { del = ["up(s)"] }
  {{run stop}}
}
action "mend" {
  params       = { s = service }
  precondition = ["!up(s)"]
  effect { add = ["ok(s)"] }
  {{run mend}}
}
action "start" {
  params       = { s = service }
  precondition = ["!up(s)", "ok(s)"]
  effect { add = ["up(s)"] }
  {{run start}}
}
goal "healthy" {
  doc       = "every service is up and ok"
  condition = ["all(service, up(#) && ok(#))"]
}
`

// overHTTP is how an action of the yard is carried out.
const overHTTP = `timeout = "20s"
  settle {
    timeout  = "{{settle}}"
    interval = "5ms"
  }
  run "http" {
    url = "{{yard}}/NAME/${s}"
    fence {
      url    = "{{yard}}/fence"
      reject = [409]
    }
  }`

// limits of a policy, by attribute; a test changes what it is about.
func limits(changes ...string) string {
	of := map[string]string{
		"mode": `"auto"`, "max_rounds": "6", "max_attempts": "3", "max_actions": "20", "deadline": `"1m"`, "max_wait": `"20s"`,
		"max_repeats": "3", "same_failure_retries": "3", "no_evidence_rounds": "3", "max_errors": "3",
	}
	for i := 0; i < len(changes); i += 2 {
		of[changes[i]] = changes[i+1]
	}
	var b strings.Builder
	b.WriteString("policy {\n")
	for _, name := range slices.Sorted(maps.Keys(of)) { // In one order: the model's hash is of its text.
		fmt.Fprintf(&b, "  %s = %s\n", name, of[name])
	}
	b.WriteString("}\n")
	return b.String()
}

// rig is a model with its world and its store, ready to be run.
type rig struct {
	testing.TB
	yard   *yard
	config Config
	keys   lease.Keys
	cli    *clientv3.Client
	events []journal.Event
	ago    time.Duration
	text   string       // of the model
	writer *journal.Run // of the run under way
	// see is told of every event, in the run's goroutine: what it does comes
	// between that event and whatever the run does next.
	see func(kind string, e journal.Event)
}

// setup is what a test changes about its rig.
type setup struct {
	model   string            // "": fleetModel
	policy  []string          // of limits
	run     map[string]string // how an action is carried out; else over HTTP
	settle  string            // "" is 10s: only an effect that never comes takes it
	cli     *clientv3.Client
	lease   lease.Options
	beside  *rig          // share its yard and its scope
	timeout string        // of the actions of newShelf
	futile  string        // an act that is answered well and has no effect
	ago     time.Duration // how long ago the journal says that it was
}

var scopes atomic.Int64

func newRig(t testing.TB, s setup) *rig {
	t.Helper()
	r := &rig{TB: t, cli: s.cli, ago: s.ago}
	if r.cli == nil {
		r.cli = store.Client()
	}
	if s.beside != nil {
		r.yard, r.keys = s.beside.yard, s.beside.keys
	} else {
		r.yard = newYard(t)
		if s.futile != "" {
			r.yard.on = func(what string, _ *http.Request) (int, bool) { return http.StatusOK, what != s.futile }
		}
		r.keys = lease.Keys(store.Scope(fmt.Sprintf("%s-%d", t.Name(), scopes.Add(1))))
	}
	l := r.load(s)
	r.wire(l, s)
	return r
}

func (r *rig) load(s setup) *load.Loaded {
	r.Helper()
	text := s.model
	if text == "" {
		text = fleetModel
	}
	for _, name := range []string{"stop", "mend", "start"} {
		how := strings.ReplaceAll(overHTTP, "NAME", name)
		if own, ok := s.run[name]; ok {
			how = own
		}
		text = strings.ReplaceAll(text, "{{run "+name+"}}", how)
	}
	r.text = text
	if s.settle == "" {
		s.settle = "10s"
	}
	text = strings.NewReplacer("{{yard}}", r.yard.URL, "{{settle}}", s.settle).Replace(text) + limits(s.policy...)
	file := filepath.Join(r.TempDir(), "yard.fettle.hcl")
	must(r, os.WriteFile(file, []byte(text), 0o600))
	l, diags := load.Model(file, load.Options{})
	if diags.HasErrors() {
		r.Fatal(diags)
	}
	return l
}

// wire joins the model with the real world, etcd, journal and search.
func (r *rig) wire(l *load.Loaded, s setup) {
	r.Helper()
	c := world.Config{
		Folder: l.Folder, Eval: l.Eval, Observe: map[*model.Fluent]world.Block{}, Run: map[*model.Action]world.Block{},
		Timeout: map[*model.Action]time.Duration{}, Discover: map[*model.Type]world.Block{},
	}
	for t, b := range l.Discover {
		c.Discover[t] = world.Block{Kind: b.Kind, Body: b.Body, Range: b.Range}
	}
	settings := map[*model.Action]Settings{}
	for f, at := range l.Fluents {
		if b := at.Observe; b != nil {
			c.Observe[f] = world.Block{Kind: b.Kind, Body: b.Body, Range: b.Range}
		}
	}
	for a, at := range l.Actions {
		c.Run[a] = world.Block{Kind: at.Run.Kind, Body: at.Run.Body, Range: at.Run.Range}
		c.Timeout[a] = at.Timeout
		settings[a] = Settings{Timeout: at.Timeout, Settle: at.Settle.Timeout, Interval: at.Settle.Interval, Undo: at.Undo, Irreversible: !at.Reversible}
	}
	w, diags := world.Compile(l.Model, c)
	if diags.HasErrors() {
		r.Fatal(diags)
	}
	r.Cleanup(func() { must(r, w.Close()) })
	p, diags := policy.Decode(l.Policy.Body, l.Eval, l.Policy.Range)
	if diags.HasErrors() {
		r.Fatal(diags)
	}
	locker := lease.New(r.cli, string(r.keys), s.lease)
	r.Cleanup(func() { must(r, locker.Close()) })
	r.config = Config{
		Universe: model.NewUniverse(l.Model), Goal: l.Model.Goals[0], GoalName: l.Model.Goals[0].Name, Scope: "yard", ModelHash: l.Hash,
		Policy: p, Proposers: []planner.Proposer{planner.NewSearch("search", search.Options{Optimal: true})}, Settings: settings,
		Observer: w, Actuator: w, Locker: locker, Beliefs: Beliefs{Client: r.cli, Keys: r.keys},
	}
	if w.Discovers() {
		r.config.Discoverer = w
	}
}

// plan makes the run carry out one written plan, in place of searching.
func (r *rig) plan(steps ...string) {
	r.config.Proposers = []planner.Proposer{planner.NewFile("file", stepSeq(parsed(r, steps...)))}
}

func parsed(t testing.TB, steps ...string) []model.Step {
	t.Helper()
	var out []model.Step
	for _, text := range steps {
		name, args, err := model.ParseAtom(text)
		must(t, err)
		out = append(out, model.Step{Action: name, Args: args})
	}
	return out
}

// run runs to the end, which must be in the journal as it was told.
func (r *rig) run() Ended {
	r.Helper()
	end, err := r.try(testCtx(r))
	must(r, err)
	r.recorded(end)
	return end
}

func (r *rig) try(ctx context.Context) (Ended, error) {
	r.Helper()
	run, err := r.journal().Start(testCtx(r), NewHead(r.config.GoalName, r.config.Scope, "host", 1))
	must(r, err)
	r.events, r.writer = nil, run
	c := r.config
	c.Journal = run
	c.OnEvent = func(e journal.Event) {
		r.events = append(r.events, e)
		if r.see != nil {
			r.see(e.Kind, e)
		}
	}
	return Run(ctx, c)
}

func (r *rig) journal() *journal.Journal {
	j := journal.Open(r.cli, string(r.keys))
	j.Now = func() time.Time { return time.Now().Add(-r.ago) }
	return j
}

// recorded checks that the journal has what was told, in that order, and that
// its last event and its head are the end.
func (r *rig) recorded(end Ended) {
	r.Helper()
	var kinds []string
	for e, err := range r.journal().Events(testCtx(r), r.events[0].Run) {
		must(r, err)
		kinds = append(kinds, e.Kind)
	}
	if told := r.kinds(); !slices.Equal(kinds, told) {
		r.Errorf("the journal has %v, told was %v", kinds, told)
	}
	r.replays()
	last := one[Ended](r, RunEnded)
	if last.Status != end.Status || last.Reason != end.Reason {
		r.Errorf("the journal ends with %s %s, the run with %s %s", last.Status, last.Reason, end.Status, end.Reason)
	}
	head, err := r.journal().Head(testCtx(r), r.events[0].Run)
	must(r, err)
	var h Head
	must(r, json.Unmarshal(head.Data, &h))
	if h.Status != end.Status || h.Reason != end.Reason || h.Rounds != end.Rounds || h.Actions != end.Actions || h.Ended == nil {
		r.Errorf("the head is %+v, the end %+v", h, end)
	}
}

func (r *rig) kinds() []string {
	var out []string
	for _, e := range r.events {
		out = append(out, e.Kind)
	}
	return out
}

// all decodes the events of one kind.
func all[T any](r *rig, kind string) []T {
	r.Helper()
	var out []T
	for _, e := range r.events {
		if e.Kind == kind {
			out = append(out, decoded[T](r, e))
		}
	}
	return out
}

func decoded[T any](t testing.TB, e journal.Event) T {
	t.Helper()
	var v T
	must(t, json.Unmarshal(e.Data, &v))
	return v
}

// one decodes the only event of a kind.
func one[T any](r *rig, kind string) T {
	r.Helper()
	got := all[T](r, kind)
	if len(got) != 1 {
		r.Fatalf("%d events %s, want one; the run: %v", len(got), kind, r.kinds())
	}
	return got[0]
}

// ends checks how a run ended.
func (r *rig) ends(end Ended, status, reason string) {
	r.Helper()
	if end.Status != status || end.Reason != reason {
		r.Fatalf("the run ended %s %q (%s), want %s %q; it did %v: %v",
			end.Status, end.Reason, end.Message, status, reason, r.yard.acts(), r.kinds())
	}
}

// did checks what reached the actuators, and that no action came twice.
func (r *rig) did(want ...string) {
	r.Helper()
	if got := r.yard.acts(); !slices.Equal(got, want) {
		r.Errorf("acted %q, want %q", got, want)
	}
	seen := map[string]bool{}
	for _, d := range r.yard.deeds("act", "late", "cut") {
		if seen[d.id] {
			r.Errorf("action %s of %s came twice", d.id, d.what)
		}
		seen[d.id] = true
	}
}

// clean checks that nothing is left of the run in the store: no lock, no
// ticket, no mark, and no action in doubt.
func (r *rig) clean() {
	r.Helper()
	for _, below := range []string{"k/", "q/"} {
		if left := r.keysBelow(below); len(left) > 0 {
			r.Errorf("left in etcd: %v", left)
		}
	}
	if in := r.intents(); len(in) > 0 {
		r.Errorf("left in doubt: %v", in)
	}
}

func (r *rig) keysBelow(below string) []string {
	r.Helper()
	resp, err := store.Client().Get(testCtx(r), string(r.keys)+below, clientv3.WithPrefix(), clientv3.WithKeysOnly())
	must(r, err)
	var out []string
	for _, kv := range resp.Kvs {
		out = append(out, strings.TrimPrefix(string(kv.Key), string(r.keys)))
	}
	return out
}

func (r *rig) intents() []lease.Intent {
	r.Helper()
	l := lease.New(store.Client(), string(r.keys), lease.Options{})
	defer l.Close()
	in, err := l.Intents(testCtx(r))
	must(r, err)
	return in
}

// revoke ends the leases of all locks behind their holders' backs, as the TTL does.
func (r *rig) revoke() {
	resp, err := store.Client().Get(testCtx(r), string(r.keys)+"k/", clientv3.WithPrefix())
	must(r, err)
	gone := map[int64]bool{}
	for _, kv := range resp.Kvs {
		if kv.Lease != 0 && !gone[kv.Lease] {
			gone[kv.Lease] = true
			_, err := store.Client().Revoke(testCtx(r), clientv3.LeaseID(kv.Lease))
			must(r, err)
		}
	}
}

// other is somebody else who takes leases in the rig's scope.
func (r *rig) other() *lease.Locker {
	l := lease.New(store.Client(), string(r.keys), lease.Options{})
	r.Cleanup(func() { must(r, l.Close()) })
	return l
}

// connect opens a connection of its own to an etcd.
func connect(t testing.TB, s *etcd.Store) *clientv3.Client {
	t.Helper()
	cli, err := clientv3.New(clientv3.Config{Endpoints: s.Endpoints(), Logger: zap.NewNop()})
	must(t, err)
	t.Cleanup(func() { _ = cli.Close() })
	return cli
}

func testCtx(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
