package executor

import (
	"context"
	"fmt"
	"time"

	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/world"
)

// view is what the run knows of the world: the state, and where each of its
// values came from.
type view struct {
	u       *model.Universe
	state   *model.State
	last    map[string]world.Reading // by text of the atom
	told    map[string]model.Value   // what the journal knows, by text of the atom
	pending map[string]any           // what it does not know yet
	beliefs map[string]Belief        // that were stored when they were last read, by text of the atom
}

func newView(u *model.Universe) view {
	return view{
		u: u, state: u.NewState(false), last: map[string]world.Reading{}, told: map[string]model.Value{}, pending: map[string]any{},
	}
}

// merge takes readings into the state.
func (v *view) merge(readings []world.Reading) {
	for _, rd := range readings {
		v.last[v.u.Text(rd.Atom)] = rd
		v.learn(rd.Atom, rd.Value)
	}
}

// learn takes a value into the state. One that is new to the journal waits for
// the next event that carries values.
func (v *view) learn(a model.Atom, val model.Value) {
	v.state.Set(a, val)
	text := v.u.Text(a)
	if old, ok := v.told[text]; !ok || old != val {
		v.told[text] = val
		v.pending[text] = v.u.Plain(a.Fluent, val)
	}
}

// values are what the journal does not know yet, for the event that tells it.
func (v *view) values() (Values, []journal.Blob) { return values(v.pending) }

// journalled notes that an event with those values is in the journal.
func (v *view) journalled() { v.pending = map[string]any{} }

// fact tells what is known of an atom, and from where.
func (v *view) fact(a model.Atom, now time.Time) Fact {
	text := v.u.Text(a)
	f := Fact{Fluent: text, Value: v.u.Plain(a.Fluent, v.state.Get(a))}
	rd, ok := v.last[text]
	if !ok {
		if isBelief(a.Fluent) {
			f.Source, f.Note = "belief", v.beliefs[text].origin()
		}
		return f
	}
	f.Source, f.Note, f.Error = rd.Source.Query, rd.Note, rd.Err
	if !rd.Sampled.IsZero() {
		at := rd.Sampled
		f.Sampled, f.AgeS = &at, now.Sub(at).Seconds()
	}
	return f
}

// missing describes the conjuncts that do not hold.
func (v *view) missing(failures []model.Failure, now time.Time) []Missing {
	var out []Missing
	for _, f := range failures {
		m := Missing{Condition: f.Text, Unknown: f.Truth == model.Unknown}
		if len(f.Leaves) == 0 {
			m.Note = absent(v.u, f.Expr)
		}
		for _, l := range f.Leaves[:min(len(f.Leaves), maxCited)] {
			m.Because = append(m.Because, v.fact(l.Atom, now))
		}
		out = append(out, m)
	}
	return out
}

// look observes everything at the start of a round and finds out whether the
// goal definitely holds.
func (r *run) look(ctx context.Context) (*Ended, error) {
	if end := r.halted(ctx); end != nil {
		return end, nil
	}
	began := r.Now()
	octx, cancel := r.bounded(ctx)
	defer cancel()
	if err := r.discover(ctx, octx); err != nil {
		return nil, err
	}
	if err := r.recall(octx); err != nil {
		return r.cut(ctx, "the beliefs were read"), err
	}
	readings := r.looking(octx, r.sources(), began)
	if end := r.halted(ctx); end != nil { // What was cut tells nothing.
		return end, nil
	}
	r.merge(readings)
	failures := r.Goal.Cond.Explain(r.state, r.GoalArgs)
	o, blobs := r.observation(readings, failures, began)
	r.news = len(r.progress.Observed(r.truths()))
	if r.objects.moved {
		r.news++
	}
	if err := r.emit(ctx, Observed, o, blobs...); err != nil {
		return nil, err
	}
	r.found(o)
	r.journalled()
	r.holds = len(failures) == 0
	return nil, nil
}

// found keeps what the first look found of the goal.
func (r *run) found(o Observation) {
	if r.first == nil {
		r.first = &Observation{Missing: o.Missing, More: o.More}
	}
}

// observation describes what was observed, for the journal.
func (r *run) observation(readings []world.Reading, failures []model.Failure, began time.Time) (Observation, []journal.Blob) {
	now := r.Now()
	vals, blobs := r.values()
	o := Observation{Values: vals, Round: r.round, Facts: len(readings), Objects: map[string]int{}, MS: ms(now.Sub(began)), InDoubt: r.doubts()}
	o.Missing = r.missing(failures[:min(len(failures), maxListed)], now)
	o.More = len(failures) - len(o.Missing)
	for _, t := range r.u.Types {
		if !t.Enum {
			o.Objects[t.Name] = len(r.u.Objects(t))
		}
		if r.u.Open(t) {
			o.Open = append(o.Open, t.Name)
		}
	}
	for _, rd := range readings {
		if !rd.Value.Known() {
			if o.Unknown++; o.Unknown <= maxListed {
				o.Errors = append(o.Errors, r.fact(rd.Atom, now))
			}
		}
	}
	o.fit()
	return o, blobs
}

// maxListed bounds the conditions and errors listed in one event.
const maxListed = 200

// sources returns what is observed at the start of a round: every base fluent
// that is no belief.
func (r *run) sources() []model.Ref {
	var refs []model.Ref
	for _, f := range r.u.Fluents {
		if f.Derived == nil && !isBelief(f) {
			refs = append(refs, model.Ref{Fluent: f})
		}
	}
	return refs
}

// truths are the truth values of everything that counts as evidence when it
// changes: conjuncts of the goal, of preconditions and of invariants. A
// condition with parameters is taken for each of its instances.
func (r *run) truths() map[string]model.Tri {
	out := map[string]model.Tri{}
	add := func(c *model.Cond, args []int32) {
		for _, p := range c.Parts(r.u, args) {
			if _, ok := out[p.Text]; !ok {
				out[p.Text] = p.Eval(r.state)
			}
		}
	}
	add(r.Goal.Cond, r.GoalArgs)
	for _, inv := range r.u.Invariants {
		add(inv.Cond, nil)
	}
	for _, a := range r.u.Actions {
		for args := range r.u.Instances(a.Params) {
			if len(out) > maxTruths {
				return out
			}
			add(a.Precondition, args)
		}
	}
	return out
}

// maxTruths bounds how many conditions are followed as evidence.
const maxTruths = 20000

// evidence cites for each conjunct of the goal what shows that it holds.
func (r *run) evidence() []Evidence {
	now := r.Now()
	var out []Evidence
	for _, p := range r.Goal.Cond.Parts(r.u, r.GoalArgs) {
		refs, derived := p.Reads(r.u)
		e := Evidence{Condition: p.Text, Verified: "observed"}
		if derived {
			e.Verified = "derived"
		}
		for _, a := range r.atoms(refs) {
			if isBelief(a.Fluent) {
				e.Verified = "assumed"
			}
			if len(e.Facts) < maxCited {
				e.Facts = append(e.Facts, r.fact(a, now))
			}
		}
		out = append(out, e)
	}
	return out
}

// maxCited bounds the facts cited for one condition.
const maxCited = 64

// atoms expands references to whole fluents.
func (v *view) atoms(refs []model.Ref) []model.Atom {
	var out []model.Atom
	for _, ref := range refs {
		if !ref.Whole() {
			out = append(out, model.Atom(ref))
			continue
		}
		for a := range v.u.Atoms(ref.Fluent) {
			out = append(out, a)
		}
	}
	return out
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// seconds shows a duration to a person.
func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
