package validator_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/validator"
)

// history is what a naive twin saw of a plan: the state that a report explains
// and, by the text of an atom, the step that last changed it.
type history struct {
	*twin
	since map[string]int
}

// remember carries the plan out up to the violation; a step that breaks an
// invariant is explained on the state behind it, and so is carried out too.
func remember(p validator.Problem, gs []model.Ground, r *validator.Report) history {
	h := history{newTwin(p.U, p.Start), map[string]int{}}
	last := len(gs)
	switch {
	case r.Kind == validator.Invariant:
		last = r.Step
	case r.Step > 0:
		last = r.Step - 1
	}
	for i, g := range gs[:last] {
		n, _ := h.apply(g.Action, h.env(g))
		for text, v := range n.state {
			if v != h.state[text] {
				h.since[text] = i + 1
			}
		}
		h.twin = n
	}
	return h
}

func (history) env(g model.Ground) env {
	e := env{}
	for k, o := range g.Args {
		e[k] = o
	}
	return e
}

// restores tells whether the action makes the fact other than it is.
func (h history) restores(g model.Ground, b *validator.Because) bool {
	n, ok := h.apply(g.Action, h.env(g))
	if !ok {
		return false
	}
	return n.state[b.Fluent] != h.state[b.Fluent]
}

func TestCausesAndCuresAreThoseOfANaiveTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := &drawn{T: t, builder: newBuilder()}
		p := d.problem()
		steps := d.plan(p.U)
		r := validator.Validate(p, grounds(p.U, steps))
		if r.Kind == validator.EffectConflict || r.Valid {
			return
		}
		h := remember(p, steps, &r)
		for _, m := range r.Missing {
			for i := range m.Because {
				b := &m.Because[i]
				h.check(t, p, b)
				if b.Complete && len(b.Achievers) < 8 && (m.Condition == b.Fluent || m.Condition == "!"+b.Fluent) {
					h.complete(t, p, b, model.BoolValue(m.Condition == b.Fluent))
				}
			}
		}
	})
}

// check holds one fact of a report to the history.
func (h history) check(t *rapid.T, p validator.Problem, b *validator.Because) {
	since := 0
	if b.Since != nil {
		since = b.Since.Step
	}
	if want := h.since[b.Fluent]; since != want {
		t.Fatalf("%s is said to be so since step %d; it is since %d", b.Fluent, since, want)
	}
	if v := h.state[b.Fluent]; p.U.Plain(b.Atom.Fluent, v) != b.Value {
		t.Fatalf("%s is said to be %v", b.Fluent, b.Value)
	}
	for i, g := range written(b.Achievers).grounds(t, p.U) {
		if !h.restores(g, b) {
			t.Fatalf("%s is said to mend %s = %v", b.Achievers[i], b.Fluent, b.Value)
		}
		if now := h.after(p.U, g) != nil; now != (i < b.Applicable) {
			t.Fatalf("%s: applicable is %v, said %v", b.Achievers[i], now, i < b.Applicable)
		}
	}
}

// complete holds the list of achievers to be exactly the actions that make the
// fact as wanted.
func (h history) complete(t *rapid.T, p validator.Problem, b *validator.Because, wanted model.Value) {
	named := map[string]bool{}
	for _, a := range b.Achievers {
		named[a] = true
	}
	for _, a := range p.U.Actions {
		for args := range p.U.Instances(a.Params) {
			g := model.Ground{Action: a, Args: args}
			n, ok := h.apply(a, h.env(g))
			if text := p.U.StepText(g); named[text] != (ok && n.state[b.Fluent] == wanted) {
				t.Fatalf("%s makes %s %v: named is %v, which is wrong", text, b.Fluent, wanted, named[text])
			}
		}
	}
}
