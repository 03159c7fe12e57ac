package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/model/graph"
)

// world is what the models of the table share.
const world = `
type "host" {}
type "node" {
  parent  = host
  objects = ["n1", "n2"]
}
type "disk" {
  parent  = host
  objects = ["d1"]
}
fluent "up" { params = { h = host } }
fluent "free" {}
fluent "done" {}
fluent "load" { type = number }
fluent "primary" { type = node }
fluent "mode" { type = enum("on", "off", "slow") }
fluent "quiet" { derive = "none(node, up(#))" }
fluent "weight" {
  type   = number
  params = { n = node }
}
invariant "few_up" {
  condition = "2 * count(node, up(#)) <= 2"
  message   = "only one node may be up"
}
fluent "calm" { derive = "quiet && free" }
`

func TestAnActionBearsOnAnotherThroughWhatItsPreconditionReads(t *testing.T) {
	for _, c := range []struct {
		promise string
		actions []action
		want    []string
	}{
		{
			"a fact added enables who needs it and threatens who forbids it",
			[]action{
				{name: "a", effect: `add = ["free"]`},
				{name: "b", needs: `"free"`},
				{name: "c", needs: `"!free"`},
			},
			[]string{"a enables b: free", "a threatens c: !free"},
		},
		{
			"a fact deleted the other way round",
			[]action{
				{name: "a", effect: `del = ["free"]`},
				{name: "b", needs: `"free"`},
				{name: "c", needs: `"!free"`},
			},
			[]string{"a threatens b: free", "a enables c: !free"},
		},
		{
			"objects that cannot be the same do not meet",
			[]action{
				{name: "a", effect: `add = ["up(n1)"]`},
				{name: "b", needs: `"up(n2)"`},
				{name: "c", params: `k = disk`, needs: `"up(k)"`},
				{name: "d", params: `h = host`, needs: `"up(h)"`},
			},
			[]string{"a enables d: up"},
		},
		{
			"types without a common object do not meet",
			[]action{
				{name: "a", params: `n = node`, effect: `add = ["up(n)"]`},
				{name: "b", params: `k = disk`, needs: `"up(k)"`},
			},
			[]string{},
		},
		{
			"a derived fluent is looked through, and called by its own name",
			[]action{
				{name: "a", params: `n = node`, effect: `add = ["up(n)"]`},
				{name: "b", needs: `"calm"`},
			},
			[]string{"a threatens b: calm"},
		},
		{
			"several fluents of a pair are one edge, in the order of the precondition",
			[]action{
				{name: "a", effect: `add = ["free", "up(n1)"]`},
				{name: "b", needs: `"up(n1)", "free", "any(node, up(#))"`},
			},
			[]string{"a enables b: up, free"},
		},
		{
			"an action that uses up what it needs is not joined to itself",
			[]action{
				{name: "a", params: `n = node`, needs: `"up(n)"`, effect: `del = ["up(n)"]`},
			},
			[]string{},
		},
		{
			"but is where it bears on itself for another object",
			[]action{
				{name: "a", params: `n = node`, needs: `"free"`, effect: `del = ["free"]`},
			},
			[]string{"a threatens a: free"},
		},
		{
			"an effect that the precondition has come true already is none",
			[]action{
				{name: "a", needs: `"free"`, effect: `add = ["free"]`},
				{name: "b", needs: `"free"`},
			},
			[]string{},
		},
		{
			"a number that grows enables a lower bound and threatens an upper one",
			[]action{
				{name: "a", effect: `increase = { load = "2" }`},
				{name: "b", needs: `"load >= 3"`},
				{name: "c", needs: `"4 > load"`},
				{name: "d", needs: `"load == 3"`},
				{name: "e", needs: `"10 - load > 2"`},
			},
			[]string{"a enables b: load", "a threatens c: load", "a enables d: load", "a threatens d: load", "a threatens e: load"},
		},
		{
			"an increase by less than nothing is a decrease",
			[]action{
				{name: "a", effect: `increase = { load = "-2" }`},
				{name: "b", needs: `"load >= 3"`},
			},
			[]string{"a threatens b: load"},
		},
		{
			"a number that is set is held against the bound",
			[]action{
				{name: "a", effect: `set = { load = "3" }`},
				{name: "b", needs: `"load >= 3"`},
				{name: "c", needs: `"3 > load"`},
				{name: "d", needs: `"load != 3"`},
				{name: "e", needs: `"load in [2, 3]"`},
			},
			[]string{"a enables b: load", "a threatens c: load", "a threatens d: load", "a enables e: load"},
		},
		{
			"an object that is set is held against the others",
			[]action{
				{name: "a", params: `n = node`, effect: `set = { primary = "n" }`},
				{name: "b", needs: `"primary == n1"`},
				{name: "c", effect: `set = { primary = "n2" }`},
				{name: "d", needs: `"up(primary)"`},
			},
			[]string{"a enables b: primary", "a threatens b: primary", "a enables d: primary", "a threatens d: primary", "c threatens b: primary", "c enables d: primary", "c threatens d: primary"},
		},
		{
			"a word that is set is held against the words",
			[]action{
				{name: "a", effect: `set = { mode = "'off'" }`},
				{name: "b", needs: `"mode == 'off'"`},
				{name: "c", needs: `"mode in ['on', 'slow']"`},
			},
			[]string{"a enables b: mode", "a threatens c: mode"},
		},
		{
			"a count grows and shrinks with what it counts",
			[]action{
				{name: "a", effect: `add = ["up(n1)"]`},
				{name: "b", needs: `"count(node, !up(#)) <= 1"`},
				{name: "c", needs: `"count(node, up(#)) <= 1"`},
				{name: "d", needs: `"one(node, up(#))"`},
			},
			[]string{"a enables b: up", "a threatens c: !up", "a enables d: up", "a threatens d: up"},
		},
		{
			"a product with an amount goes the way of its other factor, one below nothing the contrary",
			[]action{
				{name: "a", effect: `add = ["up(n1)"]`},
				{name: "b", needs: `"2 * count(node, up(#)) >= 3"`},
				{name: "c", needs: `"count(node, up(#)) * -2 >= -3"`},
				{name: "d", needs: `"10 - count(node, up(#)) / 2 >= 3"`},
			},
			[]string{"a enables b: up", "a threatens c: !up", "a threatens d: !up"},
		},
		{
			"a choice goes the way of its greater branch",
			[]action{
				{name: "a", effect: `add = ["up(n1)"]`},
				{name: "b", needs: `"sum(node, up(#) ? weight(#) : 0) >= 3"`},
				{name: "c", needs: `"sum(node, up(#) ? 1 : 2) >= 3"`},
				{name: "d", needs: `"sum(node, up(#) ? load : 2) >= 3"`},
				{name: "e", effect: `increase = { load = "1" }`},
			},
			[]string{"a enables b: up", "a threatens c: !up", "a enables d: up", "a threatens d: up", "e enables d: load"},
		},
		{
			"what relieves an invariant goes before what makes it worse",
			[]action{
				{name: "a", effect: `del = ["up(n1)"]`},
				{name: "b", params: `n = node`, effect: `add = ["up(n)"]`},
				{name: "c", params: `k = disk`, effect: `add = ["up(k)"]`},
			},
			[]string{"a relieves b: few_up"},
		},
	} {
		t.Run(c.promise, func(t *testing.T) {
			got, want := edges(graph.Actions(write(t, world+text(c.actions...)))), strings.Join(c.want, "\n")
			if got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// action is an action of a test's model. Without an effect it does what nobody reads.
type action struct{ name, params, needs, effect string }

func text(actions ...action) string {
	var b strings.Builder
	for _, a := range actions {
		if a.effect == "" {
			a.effect = `add = ["done"]`
		}
		fmt.Fprintf(&b, "action %q {\n  params = { %s }\n  precondition = [%s]\n  effect {\n    %s\n  }\n}\n", a.name, a.params, a.needs, a.effect)
	}
	return b.String()
}

func TestFluentsAreDrawnWithWhoChangesAndWhoNeedsThem(t *testing.T) {
	got := edges(graph.Fluents(write(t, world+`
action "a" {
  precondition = ["calm", "!up(n1)", "load < 3"]
  effect {
    add = ["up(n1)"]
    del = ["free"]
    set = { primary = "n2" }
  }
}`)))
	want := strings.Join([]string{
		"a adds up", "a deletes free", "a changes primary",
		"calm needs a", "up forbids a", "load needs a",
		"up derives quiet", "quiet derives calm", "free derives calm",
	}, "\n")
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// A definition that names the one before it twice has 2^60 paths.
func TestManyPathsToAFluentAreFollowedOnce(t *testing.T) {
	m := model.New()
	node := m.AddType("node", nil)
	node.AddObject("n1")
	params := []model.Param{{Name: "n", Type: node}}
	slot := &model.Expr{Op: model.OpSlot, Kind: model.KindObject, Type: node}
	read := func(f *model.Fluent) *model.Expr {
		return &model.Expr{Op: model.OpFluent, Kind: model.KindBool, Fluent: f, Args: []*model.Expr{slot}}
	}
	base := &model.Fluent{Name: "base", Params: params, Kind: model.KindBool}
	m.AddFluent(base)
	last := base
	for i := range 60 {
		some := &model.Expr{Op: model.OpAny, Kind: model.KindBool, Over: node, Slot: 1, Args: []*model.Expr{
			{Op: model.OpFluent, Kind: model.KindBool, Fluent: last, Args: []*model.Expr{{Op: model.OpSlot, Kind: model.KindObject, Type: node, Slot: 1}}},
		}}
		f := &model.Fluent{Name: fmt.Sprint("d", i), Params: params, Kind: model.KindBool, Slots: 2, Derived: model.And(read(last), some)}
		m.AddFluent(f)
		last = f
	}
	m.AddAction(&model.Action{Name: "a", Params: params, Slots: 1, Effects: []model.Effect{{Op: model.Add, Fluent: base, Args: []*model.Expr{slot}}}})
	m.AddAction(&model.Action{Name: "b", Params: params, Slots: 1, Precondition: model.NewCond(1, read(last))})
	m.Link()
	if got, want := edges(graph.Actions(m)), "a enables b: d59"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
