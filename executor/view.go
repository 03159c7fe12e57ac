package executor

import (
	"context"
	"fmt"
	"time"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/world"
)

// view is what the run knows of the world: the state, and where each of its
// values came from.
type view struct {
	u     *model.Universe
	state *model.State
	last  map[string]world.Reading // by text of the atom
}

func newView(u *model.Universe) view {
	return view{u: u, state: u.NewState(false), last: map[string]world.Reading{}}
}

// merge takes readings into the state and returns what changed, nil for unknown.
func (v *view) merge(readings []world.Reading) map[string]any {
	changed := map[string]any{}
	for _, rd := range readings {
		text := v.u.Text(rd.Atom)
		old, known := v.last[text]
		if !known || old.Value != rd.Value {
			changed[text] = v.json(rd.Atom.Fluent, rd.Value)
		}
		v.last[text] = rd
		v.state.Set(rd.Atom, rd.Value)
	}
	return changed
}

// json returns a value as JSON shows it: a bool, a number, a string or nil.
func (v *view) json(f *model.Fluent, val model.Value) any {
	switch val.Kind() {
	case model.KindBool:
		return val.Tri() == model.True
	case model.KindNumber:
		n, _ := val.Number()
		return n
	case model.KindString:
		s, _ := val.Text()
		return s
	case model.KindObject:
		return v.u.Name(f.Type, val.Object())
	}
	return nil
}

// fact tells what is known of an atom, and from where.
func (v *view) fact(a model.Atom, now time.Time) Fact {
	text := v.u.Text(a)
	f := Fact{Fluent: text, Value: v.json(a.Fluent, v.state.Get(a))}
	rd, ok := v.last[text]
	if !ok {
		if a.Fluent.Initial != nil {
			f.Source = "belief"
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
		for _, l := range f.Leaves {
			m.Because = append(m.Because, v.fact(l.Atom, now))
		}
		out = append(out, m)
	}
	return out
}

// look observes everything at the start of a round and tells whether the goal
// definitely holds.
func (r *run) look(ctx context.Context) (holds bool, end *Ended, err error) {
	if r.stopped(ctx) {
		return false, &Ended{Status: Cancelled, Message: "stopped before the next step, as asked"}, nil
	}
	began := r.Now()
	ctx, cancel := context.WithDeadline(ctx, r.deadline())
	defer cancel()
	if err := r.recall(ctx); err != nil {
		return false, nil, err
	}
	readings := r.Observer.Observe(ctx, r.u, r.sources(), latest(r.lastActed, began))
	changed := r.merge(readings)
	now := r.Now()
	failures := r.Goal.Cond.Explain(r.state, r.GoalArgs)
	vals, blobs := values(changed)
	o := Observation{Values: vals, Round: r.round, Facts: len(readings), Objects: map[string]int{}, MS: ms(now.Sub(began))}
	o.Missing = r.missing(failures[:min(len(failures), maxListed)], now)
	o.More = len(failures) - len(o.Missing)
	for _, t := range r.u.Types {
		if !t.Enum {
			o.Objects[t.Name] = len(r.u.Objects(t))
		}
	}
	for _, rd := range readings {
		if !rd.Value.Known() {
			if o.Unknown++; o.Unknown <= maxListed {
				o.Errors = append(o.Errors, r.fact(rd.Atom, now))
			}
		}
	}
	r.progress.Observed(r.truths())
	return len(failures) == 0, nil, r.emit(ctx, Observed, o, blobs...)
}

// maxListed bounds the conditions and errors listed in one event.
const maxListed = 200

// sources returns what is observed at the start of a round: every base fluent
// that is no belief.
func (r *run) sources() []model.Ref {
	var refs []model.Ref
	for _, f := range r.u.Fluents {
		if f.Derived == nil && f.Initial == nil {
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
			if a.Fluent.Initial != nil {
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
