package graph_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/model/graph"
)

// link is an edge without its fluents.
type link struct {
	from, to string
	kind     graph.Kind
}

func links(m *model.Model) map[link]bool {
	g := graph.Actions(m)
	out := map[link]bool{}
	for _, e := range g.Edges {
		out[link{g.Nodes[e.From].Name, g.Nodes[e.To].Name, e.Kind}] = true
	}
	return out
}

// busy is a model of everything that conditions and effects can be made of.
const busy = world + `
fluent "linked" {
  params = {
    h = host
    n = node
  }
}
action "switch_on" {
  params       = { h = host }
  precondition = ["!up(h)", "load <= 3"]
  effect { add = ["up(h)"] }
}
action "switch_off" {
  params       = { n = node }
  precondition = ["up(n)", "primary != n"]
  effect { del = ["up(n)"] }
  effect {
    when = "free"
    increase = { load = "1" }
  }
}
action "promote" {
  params       = { n = node }
  precondition = ["up(n)", "mode != 'off'"]
  effect { set = { primary = "n" } }
}
action "slow_down" {
  precondition = ["mode == 'on' || quiet"]
  effect {
    set = { mode = "'slow'", load = "load - 1" }
  }
}
action "stop" {
  precondition = ["all(node, !up(#))", "calm"]
  effect {
    set = { mode = "'off'" }
    del = ["free"]
  }
}
action "start" {
  precondition = ["mode in ['off', 'slow']", "primary == n1"]
  effect {
    add = ["free"]
    set = { mode = "'on'", load = "2" }
  }
}
action "cable" {
  params = {
    h = host
    n = node
  }
  precondition = ["!linked(h, n)", "up(primary)", "count(node, up(#)) >= 1"]
  effect {
    add      = ["linked(h, n)"]
    increase = { "weight(n)" = "load" }
  }
}
action "uncable" {
  params       = { h = host }
  precondition = ["any(node, linked(h, #))", "sum(node, weight(#)) > load - 2", "max(map(node, weight(#))) < 4"]
  effect {
    forall = { m = node }
    del    = ["linked(h, m)"]
  }
  effect { decrease = { load = "1" } }
}
fluent "size" {
  type   = number
  params = { n = node }
}
fluent "room" { derive = "2 * sum(node, up(#) ? size(#) : 0) >= load" }
invariant "room_left" {
  condition = "room"
  message   = "there must be room"
}
action "pack" {
  precondition = ["room", "load * -1 <= count(node, up(#)) * load", "abs(load - 2) > 1"]
  effect { increase = { load = "1" } }
}
action "swap" {
  precondition = ["primary == n1 ? linked(d1, n1) : !linked(d1, n2)", "one(node, linked(#, #))"]
  effect {
    set = { primary = "primary == n1 ? n2 : n1" }
  }
}
`

// The twin applies ground actions in random states and looks which conjuncts of
// whose preconditions that made true and false.
func TestNoInfluenceThatAStateShowsIsMissing(t *testing.T) {
	m := write(t, busy)
	have := links(m)
	seen := influences(m, 800)
	for l, how := range seen {
		if !have[l] {
			t.Errorf("%s %s %s is missing: %s", l.from, l.kind, l.to, how)
		}
	}
	if len(seen) < 40 {
		t.Errorf("the random states showed only %d influences", len(seen))
	}
}

func TestEachEdgeOfTheExamplesIsShownByAState(t *testing.T) {
	for _, name := range examples {
		m := loadModel(t, "../../examples/"+name)
		seen := influences(m, 800)
		for l := range links(m) {
			if _, ok := seen[l]; !ok {
				t.Errorf("%s: no state shows that %s %s %s", name, l.from, l.kind, l.to)
			}
		}
	}
}

// influences tries every pair of ground actions in random states of known facts.
func influences(m *model.Model, states int) map[link]string {
	u := model.NewUniverse(m)
	var all []model.Ground
	for _, a := range m.Actions {
		for args := range u.Instances(a.Params) {
			all = append(all, model.Ground{Action: a, Args: slices.Clone(args)})
		}
	}
	seen := map[link]string{}
	relieved, worsened := map[string]map[string]bool{}, map[string]map[string]bool{}
	rng := rand.New(rand.NewPCG(1, 2))
	var delta model.Delta
	for range states {
		before := randomState(rng, u)
		for _, a := range all {
			if a.Effects(before, &delta) != nil {
				continue
			}
			after := before.Clone()
			delta.Commit(after)
			for _, inv := range m.Invariants {
				was, is := inv.Cond.Eval(before, nil), inv.Cond.Eval(after, nil)
				if was == model.False && is == model.True {
					put(relieved, inv.Name, a.Action.Name)
				}
				if was == model.True && is == model.False {
					put(worsened, inv.Name, a.Action.Name)
				}
			}
			if a.Applicable(before, nil) != model.True {
				continue
			}
			for _, b := range all {
				if u.StepText(a) != u.StepText(b) {
					note(seen, u, a, b, before, after)
				}
			}
		}
	}
	for inv, from := range relieved {
		for a := range from {
			for b := range worsened[inv] {
				if a != b {
					seen[link{a, b, graph.Relieves}] = inv
				}
			}
		}
	}
	return seen
}

func put(set map[string]map[string]bool, key, value string) {
	if set[key] == nil {
		set[key] = map[string]bool{}
	}
	set[key][value] = true
}

func note(seen map[link]string, u *model.Universe, a, b model.Ground, before, after *model.State) {
	if b.Action.Precondition == nil {
		return
	}
	for _, c := range b.Action.Precondition.Conjuncts {
		one := &model.Cond{Conjuncts: []*model.Expr{c}, Slots: b.Action.Precondition.Slots}
		was, is := one.Eval(before, b.Args) == model.True, one.Eval(after, b.Args) == model.True
		if was == is {
			continue
		}
		kind := graph.Enables
		if was {
			kind = graph.Threatens
		}
		seen[link{a.Action.Name, b.Action.Name, kind}] = u.StepText(a) + " for " + u.StepText(b) + ": " + c.Text(u, b.Args)
	}
}

// randomState gives every base fluent a value.
func randomState(rng *rand.Rand, u *model.Universe) *model.State {
	s := u.NewState(true)
	for _, f := range u.Fluents {
		if f.Derived != nil {
			continue
		}
		for atom := range u.Atoms(f) {
			switch f.Kind {
			case model.KindBool:
				s.Set(atom, model.BoolValue(rng.IntN(2) == 0))
			case model.KindNumber:
				low := -1
				if f.Name == "size" { // an amount: no action changes it
					low = 0
				}
				s.Set(atom, model.NumberValue(float64(rng.IntN(6)+low)))
			case model.KindObject:
				members := u.Objects(f.Type)
				s.Set(atom, model.ObjectValue(members[rng.IntN(len(members))]))
			}
		}
	}
	return s
}
