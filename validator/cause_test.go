package validator_test

import (
	"strings"
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
					h.complete(t, p, &r, b, model.BoolValue(m.Condition == b.Fluent))
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
// fact as wanted, but for those that cannot mend it.
func (h history) complete(t *rapid.T, p validator.Problem, r *validator.Report, b *validator.Because, wanted model.Value) {
	nothing := newTwin(p.U, p.U.NewState(false))
	asked := b.Fluent
	if wanted == model.BoolValue(false) {
		asked = "!" + asked
	}
	named := map[string]bool{}
	for _, a := range b.Achievers {
		named[a] = true
	}
	for _, a := range p.U.Actions {
		for args := range p.U.Instances(a.Params) {
			g := model.Ground{Action: a, Args: args}
			n, ok := h.apply(a, h.env(g))
			text := p.U.StepText(g)
			makes := ok && n.state[b.Fluent] == wanted && text != r.Action
			never := false // whatever the facts are
			for _, c := range conjuncts(a) {
				makes = makes && c.Text(p.U, args) != asked
				never = never || nothing.truth(c, h.env(g)) == 0
			}
			if named[text] != makes && (named[text] || !never) {
				t.Fatalf("%s makes %s %v: named is %v, which is wrong", text, b.Fluent, wanted, named[text])
			}
		}
	}
}

func conjuncts(a *model.Action) []*model.Expr {
	if a.Precondition == nil {
		return nil
	}
	return a.Precondition.Conjuncts
}

// TestWhatIsFalseWhateverTheFactsAreIsSaidSo, and each conjunct once.
func TestWhatIsFalseWhateverTheFactsAreIsSaidSo(t *testing.T) {
	b := newBuilder()
	p := on(b.bool("p"))
	b.action("wait", nil, []*model.Expr{p, op(model.OpNe, model.KindBool, num(3), num(3)), p, model.And(p, p)})
	b.Link()
	u := model.NewUniverse(b.Model)
	r := validator.Validate(validator.Problem{U: u, Start: closed(t, u)}, plan("wait"))
	const want = `step 1: wait not applicable; missing p, 3 != 3

  p = false from the start
  no single action would mend that
  3 != 3
    never true: it reads no fact
`
	var text strings.Builder
	if err := r.WriteText(&text); err != nil || text.String() != want {
		t.Errorf("got\n%s\nwant\n%s", text.String(), want)
	}
}

// TestAStepThatMeansNothingHasItsLine, in the text where it is not its number.
func TestAStepThatMeansNothingHasItsLine(t *testing.T) {
	for _, tt := range []struct {
		text, want string
		line       int
	}{
		{"drain(api)\nreboot(api)\n", "step 2: there is no action reboot; did you mean restart(service)?", 2},
		{"# one\ndrain(api)\n\nrestart(api, db)\n", "step 2 (line 4): restart takes 1 argument (s service), got 2: restart(api, db)", 4},
		{"\nrestart(mail)\n", `step 1 (line 2): restart(mail): there is no service "mail"; restart takes 1 argument (s service)`, 2},
		{"(drain api) (evict node-1 api)\n", "step 2 (line 1): evict(node-1, api): node-1 is a node, evict takes a service; evict takes 2 arguments (s service, n node)", 1},
		{"\n\nThen evict.\n", `line 3: "Then evict." is not an action; write name(arg, …)`, 3},
		{"\n\ndrain(api)\ndrain(db)\n", "step 2: drain(db) breaks one_out: only one service may be out of the balancer at a time (out: api, db)", 0},
	} {
		r := validator.Validate(fleet(t), plan(tt.text))
		var b strings.Builder
		err := r.WriteText(&b)
		if got, _, _ := strings.Cut(b.String(), "\n"); err != nil || got != tt.want || r.Line != tt.line {
			t.Errorf("got  %s, line %d, %v\nwant %s, line %d", got, r.Line, err, tt.want, tt.line)
		}
	}
}
