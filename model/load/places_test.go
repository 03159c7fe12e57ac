package load

import (
	"slices"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model"
)

// placed is a model with every form in which conjuncts can stand; what the
// places must say is in the tables below.
const placed = `
type "service" { objects = ["api", "db"] }
type "node" { objects = ["n1"] }
fluent "name" { type = string }
fluent "p" {}
fluent "q" {}
fluent "r" {}
fluent "up" { params = { s = service } }
fluent "on" { params = { s = service, n = node } }
fluent "load" {
  params = { s = service }
  type   = number
}
action "forms" {
  params = { s = service }
  precondition = [
    "p && (q and !r)", "!(p || not q)",
    "!!p", "p || q", "load(s) + 1 <= 3 && up(s)",
    "let x = p && q; x && !r",
    "up(s) ? p : q", "name == 'é' && p",
  ]
  effect {
    add = ["r"]
    del = ["up(s)"]
  }
}
action "quantified" {
  params       = { s = service }
  precondition = ["all(service, up(#) && load(#) < 3)", "none(service, up(#) || on(#, n1))",
    "!any(service, up(#))", "any(service, up(#) && load(#) < 3)", "!all(service, up(#))",
    "all(service, let x = #; up(x) && all(node, on(x, #) && p))"]
  effect {
    add      = ["p", "on(s, n1)"]
    del      = ["q"]
    set      = { "load(s)" = "2 + 1" }
    when     = "up(s) && r"
  }
  effect {
    forall   = { o = service }
    increase = { "load(o)" = 1 }
  }
}
action "text" {
  precondition = <<-EOT
      p &&
        !q
  EOT
  effect { decrease = { "load(api)" = 2, "load(db)" = 3 } }
}
action "bare" {
  effect { add = ["p"] }
}
invariant "i" { condition = "p && all(service, up(#))" }
goal "g" { condition = ["p", "q && r"] }
`

// written is what the files say at a place.
func written(l *Loaded, r hcl.Range) string {
	return string(l.Files[r.Filename].Bytes[r.Start.Byte:r.End.Byte])
}

func TestConjunctsAreFoundInTheText(t *testing.T) {
	l := loadText(t, placed, Options{})
	p := l.Places()
	for _, tt := range []struct {
		what string
		got  []Conjunct
		want []string
	}{
		{"action forms", p.Preconditions[l.Model.Action("forms")], []string{
			"p", "q", "!r", "p", "not q", "!!p", "p || q", "load(s) + 1 <= 3", "up(s)", "p", "q", "!r",
			"up(s) ? p : q", "name == 'é'", "p",
		}},
		{"action quantified", p.Preconditions[l.Model.Action("quantified")], []string{
			"up(#)", "load(#) < 3", "up(#)", "on(#, n1)", "up(#)", "any(service, up(#) && load(#) < 3)", "!all(service, up(#))",
			"up(x)", "on(x, #)", "p",
		}},
		{"action text", p.Preconditions[l.Model.Action("text")], []string{"p", "!q"}},
		{"action bare", p.Preconditions[l.Model.Action("bare")], nil},
		{"invariant i", p.Invariants[l.Model.Invariants[0]], []string{"p", "up(#)"}},
		{"goal g", p.Goals[l.Model.Goal("g")], []string{"p", "q", "r"}},
	} {
		var got []string
		for _, c := range tt.got {
			got = append(got, written(l, c.Range))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", tt.what, got, tt.want)
		}
	}
}

func TestEffectsAreFoundInTheText(t *testing.T) {
	l := loadText(t, placed, Options{})
	p := l.Places()
	type place struct {
		text, when string
		block      int
	}
	for _, tt := range []struct {
		action string
		want   []place
	}{
		{"quantified", []place{
			{`"p"`, `"up(s) && r"`, 0},
			{`"on(s, n1)"`, `"up(s) && r"`, 0},
			{`"q"`, `"up(s) && r"`, 0},
			{`"load(s)" = "2 + 1"`, `"up(s) && r"`, 0},
			{`"load(o)" = 1`, "", 1},
		}},
		{"text", []place{{`"load(api)" = 2`, "", 0}, {`"load(db)" = 3`, "", 0}}},
		{"bare", []place{{`"p"`, "", 0}}},
		{"forms", []place{{`"r"`, "", 0}, {`"up(s)"`, "", 0}}},
	} {
		var got []place
		for _, e := range p.Effects[l.Model.Action(tt.action)] {
			when := ""
			if e.When.Filename != "" {
				when = written(l, e.When)
			}
			got = append(got, place{written(l, e.Range), when, e.Block})
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s:\ngot  %v\nwant %v", tt.action, got, tt.want)
		}
	}
}

// TestConjunctsAreThoseOfExplanations promises that what is found in the text
// is, in number and order, what a critique can name.
func TestConjunctsAreThoseOfExplanations(t *testing.T) {
	l := loadText(t, placed, Options{})
	u := model.NewUniverse(l.Model)
	for a, found := range l.Places().Preconditions {
		named := map[*model.Expr]bool{}
		args := make([]int32, len(a.Params))
		for _, s := range []*model.State{u.NewState(true), u.NewState(false)} {
			for _, f := range a.Precondition.Explain(s, args) {
				named[f.Expr] = true
			}
		}
		for e := range named {
			if !slices.ContainsFunc(found, func(c Conjunct) bool { return c.Expr == e }) {
				t.Errorf("%s: a critique names %s, which no place is known of", a.Name, e.Text(u, nil))
			}
		}
		if len(a.Params) > 0 && len(named) == 0 {
			t.Errorf("%s: nothing failed", a.Name)
		}
	}
}
