package search

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fettleops/fettle/model"
)

// ban is a rule that denies an action: in some state, as some step, or always.
type ban struct {
	action string
	object int32       // the action's first argument; -1: any, or none
	fact   *model.Atom // that has to be as said; nil: in any state
	value  model.Value
	steps  []bool // by number less one; nil: as any
}

func (b *ban) Check(step int, g model.Ground, before *model.State) (string, bool) {
	switch {
	case g.Action.Name != b.action:
	case b.object >= 0 && (len(g.Args) == 0 || g.Args[0] != b.object):
	case b.fact != nil && before.Get(*b.fact) != b.value:
	case b.steps != nil && !b.steps[(step-1)%len(b.steps)]:
	default:
		return "rule ban: not " + b.action, true
	}
	return "", false
}

// scopedBan says what it looks at.
type scopedBan struct{ *ban }

func (b scopedBan) Reads() (step, state bool) { return b.steps != nil, b.fact != nil }

// rules draws some for a problem.
func (g *gen) rules(p Problem) []Rule {
	var rules []Rule
	for range 1 + g.n(3) {
		b := &ban{action: pick(g, g.acts).Name, object: -1}
		if g.chance(40) {
			b.object = pick(g, p.U.Objects(g.thing))
		}
		if g.chance(40) {
			f := pick(g, append(append([]*model.Fluent{}, g.bools...), g.objs...))
			for args := range p.U.Instances(f.Params) {
				if b.fact == nil || g.chance(30) {
					b.fact = &model.Atom{Fluent: f, Args: append([]int32(nil), args...)}
				}
			}
			b.value = model.BoolValue(g.chance(50))
			if f.Derived == nil && f.Kind == model.KindObject {
				b.value = pick(g, valuesOf(p.U, f))
			}
		}
		if g.chance(25) {
			for range 1 + g.n(5) {
				b.steps = append(b.steps, g.chance(50))
			}
		}
		if g.chance(70) {
			rules = append(rules, scopedBan{b})
		} else {
			rules = append(rules, b)
		}
	}
	return rules
}

// TestSearchWithRulesAgreesWithEnumeration: the search proposes nothing that
// rules deny, finds a plan wherever one is left, and says that the rules are in
// the way only where they are.
func TestSearchWithRulesAgreesWithEnumeration(t *testing.T) {
	const deepest = 6
	rapid.Check(t, func(rt *rapid.T) {
		g := &gen{t: rt}
		p := g.problem()
		p.Rules, p.MaxSteps = g.rules(p), deepest
		n := newNaive(p, 3000)
		if newGate(p).byStep {
			n.deepest = deepest
		}
		want := n.run(p.Start)
		free := newNaive(p, 3000)
		free.p.Rules = nil
		fail := failing{rt, p}
		for i := range 3 {
			e := effort{polish: polishWork, window: windowWork}
			if i == 2 {
				e.polish = 1
			}
			got, err := search(t.Context(), p, Options{MaxNodes: 40000, Optimal: i == 0}, e)
			if err != nil {
				fail.Fatalf("%v", err)
			}
			compareWithRules(fail, p, n.deepest > 0, want, free.run(p.Start), got)
		}
	})
}

func compareWithRules(rt fataler, p Problem, bounded bool, want, free naiveResult, got Result) {
	switch {
	case want.solved && got.Status != Solved:
		rt.Fatalf("%s (%s), but enumeration finds a plan of cost %v that no rule denies", got.Status, got.Reason, want.cost)
	case got.Status == Solved:
		total := simulateAllowed(rt, p, got.Plan)
		if want.exhausted && !want.solved && !bounded {
			rt.Fatalf("enumeration finds no plan that no rule denies: %s", planText(p.U, got.Plan))
		}
		if got.Optimal && want.solved && total > want.cost || got.Optimal && want.solved && !bounded && total < want.cost {
			rt.Fatalf("called optimal at %v, but %v is possible", total, want.cost)
		}
	case got.Status == Denied && got.Without == nil:
		rt.Fatalf("denied, but what is denied is not known: %s", got.Reason)
	case got.Status == Denied:
		checkDenied(rt, p, got)
	case (got.Status == Unsolvable || got.Status == Unobservable) && free.solved:
		rt.Fatalf("%s, but without the rules there is a plan of cost %v", got.Status, free.cost)
	case got.Status == Exhausted && want.exhausted && !bounded:
		rt.Fatalf("exhausted (%s), but enumeration decides the problem", got.Reason)
	}
}

// simulateAllowed carries a plan out against the model and the rules.
func simulateAllowed(rt fataler, p Problem, plan []model.Ground) float64 {
	s, total := p.Start, 0.0
	for i, g := range plan {
		for _, r := range p.Rules {
			if reason, denied := r.Check(i+1, g, s); denied {
				rt.Fatalf("step %d, %s, is denied by %s", i+1, p.U.StepText(g), reason)
			}
		}
		next, c, _ := apply(s, g)
		if next == nil {
			rt.Fatalf("step %d, %s, may not be done", i+1, p.U.StepText(g))
		}
		s, total = next, total+c
	}
	if p.Goal.Eval(s, nil) != model.True {
		rt.Fatalf("the plan does not reach the goal: %s", planText(p.U, plan))
	}
	return total
}

// checkDenied: the plan that there would be is one, and what is said to be
// denied of it is.
func checkDenied(rt fataler, p Problem, got Result) {
	free := p
	free.Rules = nil
	simulateAllowed(rt, free, got.Without)
	if len(got.Denials) == 0 && len(got.Without) <= p.MaxSteps {
		rt.Fatalf("nothing of the plan is denied: %s", planText(p.U, got.Without))
	}
	for _, d := range got.Denials {
		if want := got.Without[d.Step-1]; p.U.StepText(d.Ground) != p.U.StepText(want) {
			rt.Fatalf("step %d is %s, told %s", d.Step, p.U.StepText(want), p.U.StepText(d.Ground))
		}
	}
	if !strings.Contains(got.Reason, "the rules leave no plan") {
		rt.Fatalf("the reason is %q", got.Reason)
	}
}

// corridor is a problem of n rooms in a row, each of which can be swept.
func corridor(n int) (Problem, []*model.Action) {
	k := newKit()
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint("room", i)
	}
	room := k.typ("room", names...)
	at, next, swept := k.pred("at", room), k.pred("next", room, room), k.pred("swept", room)
	a, b := slot(0, room), slot(1, room)
	move := k.action("move", types(room, room), exprs(read(at, a), read(next, a, b)), del(at, a), add(at, b))
	sweep := k.action("sweep", types(room), exprs(read(at, a)), add(swept, a))
	u := k.universe()
	s := u.NewState(true)
	objects := u.Objects(room)
	for i, o := range objects {
		if i > 0 {
			s.Set(model.Atom{Fluent: next, Args: []int32{objects[i-1], o}}, model.BoolValue(true))
			s.Set(model.Atom{Fluent: next, Args: []int32{o, objects[i-1]}}, model.BoolValue(true))
		}
	}
	s.Set(model.Atom{Fluent: at, Args: objects[:1]}, model.BoolValue(true))
	last := obj(room, names[n-1])
	return Problem{U: u, Start: s, Goal: goal(read(at, last), read(swept, last))}, []*model.Action{move, sweep}
}

// stepRule denies by the number of the step.
type stepRule func(step int, action string) bool

func (r stepRule) Check(step int, g model.Ground, _ *model.State) (string, bool) {
	return "rule steps: not now", r(step, g.Action.Name)
}

// TestWhatDeniedSays: the reason names the steps and the rules, and is a proof
// only as far as it says.
func TestWhatDeniedSays(t *testing.T) {
	p, acts := corridor(3)
	never := func(a *model.Action, last bool) Rule {
		b := &ban{action: a.Name, object: -1}
		if last {
			objects := p.U.Objects(a.Params[0].Type)
			b.object = objects[len(objects)-1]
		}
		return scopedBan{b}
	}
	tests := []struct {
		name    string
		rules   []Rule
		options Options
		steps   int
		change  func(*Problem)
		want    string
	}{
		{name: "no way around", rules: []Rule{never(acts[1], true)}, want: "denied: the rules leave no plan: of the 3 steps that would reach the goal, step 3: sweep(room2) denied by rule ban: not sweep"},
		{name: "several rules", rules: []Rule{never(acts[1], true), never(acts[0], false)}, want: "denied: the rules leave no plan: of the 3 steps that would reach the goal, step 1: move(room0, room1) denied by rule ban: not move; step 2: move(room1, room2) denied by rule ban: not move; step 3: sweep(room2) denied by rule ban: not sweep"},
		{name: "a rule that takes nothing from the plan", rules: []Rule{scopedBan{&ban{action: "sweep", object: p.U.Objects(acts[1].Params[0].Type)[0]}}}, want: "solved: move(room0, room1) move(room1, room2) sweep(room2)"},
		{name: "the world is in the way, whatever the rules", rules: []Rule{never(acts[1], false)}, change: func(p *Problem) { p.Allowed = acts[1:] }, want: "unsolvable: no sequence of actions reaches the goal"},
		{name: "a step's number", rules: []Rule{stepRule(func(n int, a string) bool { return a == "sweep" && n < 6 })}, want: "solved: 7 steps"},
		{name: "a step's number that never comes", rules: []Rule{stepRule(func(n int, a string) bool { return a == "sweep" && n < 6 })}, steps: 5, want: "denied: the rules leave no plan of at most 5 steps: of the 3 steps that would reach the goal, step 3: sweep(room2) denied by rule steps: not now"},
		{name: "a limit is no proof", rules: []Rule{stepRule(func(n int, a string) bool { return a == "sweep" })}, options: Options{MaxNodes: 20}, want: "exhausted: max_nodes: 20 states were looked at"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := p
			p.Rules, p.MaxSteps = tt.rules, tt.steps
			if tt.change != nil {
				tt.change(&p)
			}
			res, err := Search(t.Context(), p, tt.options)
			if err != nil {
				t.Fatal(err)
			}
			got := string(res.Status) + ": " + res.Reason
			switch {
			case res.Status == Solved && strings.HasSuffix(tt.want, "steps"):
				got = fmt.Sprintf("solved: %d steps", len(res.Plan))
				if simulateAllowed(t, p, res.Plan); res.Optimal {
					t.Error("called optimal, with states left out that are reached by fewer steps")
				}
			case res.Status == Solved:
				got = "solved: " + planText(p.U, res.Plan)
			}
			if got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// TestRulesKeepTheLeastCost: with rules in the way, the plan called optimal is
// the cheapest of those that are left.
func TestRulesKeepTheLeastCost(t *testing.T) {
	p, acts := corridor(6)
	acts[0].Cost = num(2)
	objects := p.U.Objects(acts[0].Params[0].Type)
	p.Rules = []Rule{&ban{action: "move", object: objects[0], fact: &model.Atom{Fluent: p.U.Fluents[2], Args: objects[:1]}, value: model.BoolValue(false)}}
	res, err := Search(t.Context(), p, Options{Optimal: true})
	if err != nil {
		t.Fatal(err)
	}
	if want := "sweep(room0) move(room0, room1) move(room1, room2) move(room2, room3) move(room3, room4) move(room4, room5) sweep(room5)"; planText(p.U, res.Plan) != want {
		t.Errorf("got %s, want %s", planText(p.U, res.Plan), want)
	}
	p.Rules = []Rule{scoped{p.Rules[0], false, true}}
	if res, err = Search(t.Context(), p, Options{Optimal: true}); err != nil || !res.Optimal || res.Cost != 12 {
		t.Errorf("%v, optimal %v at %v; want it proved at 12", err, res.Optimal, res.Cost)
	}
}

// scoped says what a rule reads.
type scoped struct {
	Rule
	step, state bool
}

func (s scoped) Reads() (step, state bool) { return s.step, s.state }
