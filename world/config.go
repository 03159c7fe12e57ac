package world

import (
	"cmp"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/world/redaction"
)

// defaultTimeout bounds an action for which the model gives no time-out.
const defaultTimeout = time.Minute

// Config is what a [World] is compiled from.
type Config struct {
	Folder  string           // the model's folder: relative programs and directories start here
	Eval    *hcl.EvalContext // var.*, local.* and functions; nil: none
	Observe map[*model.Fluent]Block
	Run     map[*model.Action]Block
	// Providers are the connection settings by kind.
	Providers map[string]Block
	Discover  map[*model.Type]Block
	Timeout   map[*model.Action]time.Duration // one minute where not given
	// Secrets are the texts of sensitive variables. "(sensitive)" stands in
	// their place in whatever a [Reading], an [Outcome], an error of
	// [World.Raise] and a diagnostic of [Compile] says, also where they are
	// written as in JSON or in a URL. The values of fluents are not touched, and
	// a secret of fewer than 4 characters stays.
	Secrets []string
	// Redact are the model's own patterns of what is secret; "(redacted)" stands
	// in the place of what they, or the built-in ones, find in the same texts and
	// in the output of actions.
	Redact redaction.Patterns
}

// World discovers objects, observes fluents and carries out actions. It is safe
// for concurrent use and must be closed.
type World struct {
	folder      string
	eval        *hcl.EvalContext
	model       *model.Model
	timeout     map[*model.Action]time.Duration
	observers   map[*model.Fluent]*observer
	actions     map[*model.Action]*action
	discoverers []*discoverer // in the order of their types
	asking      *http.Client  // observes and raises fences
	sensitive   *sensitive    // nil: there are no secrets
	acting      *http.Client  // acts: every request on a connection of its own
	provider    *promServer   // nil: the model names no Prometheus
	servers     []*promServer
	leases      Leases // nil: none can be asked for
}

// action is a compiled run block.
type action struct {
	act   actuator
	fence *fence // nil: there is no fence block
	own   bool   // the actuator keeps a fence all the same
	kind  string
	at    places
}

// Compile checks every observe, run and discover body and makes them ready for use. The
// diagnostics name every mistake at once; the world is never nil, and blocks
// with mistakes are left out of it. A kind that this version does not serve is
// a warning: the model can still be checked, validated and planned offline.
func Compile(m *model.Model, c Config) (*World, hcl.Diagnostics) {
	w := &World{
		folder: c.Folder, eval: withFunctions(c.Eval), model: m, timeout: c.Timeout, sensitive: newSensitive(c.Secrets, c.Redact),
		observers: map[*model.Fluent]*observer{}, actions: map[*model.Action]*action{},
	}
	if abs, err := filepath.Abs(c.Folder); err == nil {
		w.folder = abs
	}
	w.asking, w.acting = newClients()
	if b, ok := c.Providers["prometheus"]; ok {
		w.useProvider(b)
	}
	var diags hcl.Diagnostics
	for _, f := range m.Fluents {
		if b, ok := c.Observe[f]; ok && f.Derived == nil {
			o, d := w.compileObserve(f, b)
			diags = append(diags, d...)
			if o != nil {
				w.observers[f] = o
				diags = append(diags, w.untold(m, o, b.Range)...)
			}
		}
	}
	for _, a := range m.Actions {
		if b, ok := c.Run[a]; ok {
			r, d := w.compileRun(a, b)
			diags = append(diags, d...)
			if r != nil {
				w.actions[a] = r
			}
		}
	}
	for _, t := range m.Types {
		if b, ok := c.Discover[t]; ok {
			found, d := w.compileDiscover(t, b)
			diags = append(diags, d...)
			if found != nil {
				w.discoverers = append(w.discoverers, found)
			}
		}
	}
	sortByPlace(diags)
	for _, d := range diags {
		d.Detail = w.sensitive.text(d.Detail)
	}
	return w, diags
}

// sortByPlace puts diagnostics in the order of the text: HCL gives those of one
// body in any order.
func sortByPlace(diags hcl.Diagnostics) {
	slices.SortStableFunc(diags, func(a, b *hcl.Diagnostic) int {
		return comparePlaces(place(a), place(b))
	})
}

func comparePlaces(p, q hcl.Range) int {
	return cmp.Or(cmp.Compare(p.Filename, q.Filename), cmp.Compare(p.Start.Byte, q.Start.Byte))
}

func place(d *hcl.Diagnostic) hcl.Range {
	if d.Subject == nil {
		return hcl.Range{}
	}
	return *d.Subject
}

func (w *World) compileObserve(f *model.Fluent, b Block) (*observer, hcl.Diagnostics) {
	k, diags := findKind("observe", b)
	if k == nil {
		return nil, diags
	}
	d := w.newDecoder(fmt.Sprintf("observe %q of fluent %q", b.Kind, f.Name), f.Params)
	d.open(b, k.attributes, nil)
	if k.observe == nil {
		k.checkObserve(d, f)
		d.readings(f, *k)
		d.notServed("observe", b)
		return nil, d.diags
	}
	o := decodeObserver(d, f, *k)
	if d.diags.HasErrors() {
		return nil, d.diags
	}
	return o, d.diags
}

func (w *World) compileRun(a *model.Action, b Block) (*action, hcl.Diagnostics) {
	k, diags := findKind("run", b)
	if k == nil {
		return nil, diags
	}
	d := w.newDecoder(fmt.Sprintf("run %q of action %q", b.Kind, a.Name), a.Params)
	if k.run == nil {
		d.open(b, k.runAttributes, nil)
		k.checkRun(d)
		d.notServed("run", b)
		return nil, d.diags
	}
	d.locks = a.Locks
	var blocks []hcl.BlockHeaderSchema
	if k.fence != nil {
		blocks = append(blocks, hcl.BlockHeaderSchema{Type: "fence"})
	}
	d.open(b, k.runAttributes, blocks)
	r := &action{act: k.run(d), own: k.fenced, kind: b.Kind, at: d.places()}
	r.fence = decodeFence(d, *k)
	if d.diags.HasErrors() {
		return nil, d.diags
	}
	return r, d.diags
}

// Observes tells whether the world can be asked for the fluent's values.
func (w *World) Observes(f *model.Fluent) bool { return w.observers[f] != nil }

// Acts tells whether the world can carry the action out: it has a run block of
// a kind that is served.
func (w *World) Acts(a *model.Action) bool { return w.actions[a] != nil }

// Fenced tells whether the action's actuator keeps a fence. An action that the
// world cannot carry out is not fenced.
func (w *World) Fenced(a *model.Action) bool {
	r := w.actions[a]
	return r != nil && (r.fence != nil || r.own)
}

// Timeout is the longest that [World.Act] lets the action run.
func (w *World) Timeout(a *model.Action) time.Duration {
	if t := w.timeout[a]; t > 0 {
		return t
	}
	return defaultTimeout
}

// Close ends idle connections. Calls under way end with their contexts.
func (w *World) Close() error {
	w.asking.CloseIdleConnections()
	w.acting.CloseIdleConnections()
	for _, s := range w.servers {
		s.close()
	}
	return nil
}
