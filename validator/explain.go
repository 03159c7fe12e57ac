package validator

import (
	"cmp"
	"math"

	"github.com/fettleops/fettle/model"
)

// maxFacts is how many facts a failed conjunct lists.
const maxFacts = 100

// explain fills the report's missing conjuncts from failures on the present
// state, each once however often the model has it.
func (v *validation) explain(failures []model.Failure) {
	a := newAchievers(v)
	v.r.Missing = make([]Missing, 0, len(failures))
	seen := make(map[string]bool, len(failures))
	for i := range failures {
		f := &failures[i]
		if seen[f.Text] {
			continue
		}
		seen[f.Text] = true
		v.failing = append(v.failing, f.Expr)
		m := Missing{Condition: f.Text, Truth: f.Truth, Because: []Because{}}
		if len(v.r.Missing) < maxNamed {
			m.but = v.but(f)
		}
		for k, l := range f.Leaves {
			if k == maxFacts {
				m.More = len(f.Leaves) - k
				break
			}
			m.Because = append(m.Because, v.because(a, f, l))
		}
		v.r.Missing = append(v.r.Missing, m)
	}
	v.cures, v.others = a.cures, a.other
}

func (v *validation) because(a *achievers, f *model.Failure, l model.Leaf) Because {
	b := Because{
		Fluent: v.U.Text(l.Atom), Value: v.U.Plain(l.Atom.Fluent, l.Value), Since: v.changed.since(l.Atom),
		Text: model.Clip(v.U.ValueText(l.Atom.Fluent, l.Value)), Atom: l.Atom, start: cmp.Or(v.StartedAs, "from the start"),
	}
	if !l.Value.Known() && v.Why != nil && b.Since == nil {
		b.Why = v.Why(l.Atom)
	}
	b.Achievers, b.Applicable, b.Complete = a.of(f, l)
	return b
}

var converse = map[model.Op]string{
	model.OpLt: ">=", model.OpLe: ">", model.OpGt: "<=", model.OpGe: "<", model.OpEq: "!=", model.OpNe: "==",
}

// but says what a comparison of computed numbers comes to: "it is 7", or "5 < 8"
// where both sides vary. Of plain facts it says nothing: they are listed.
func (v *validation) but(f *model.Failure) string {
	not := converse[f.Expr.Op]
	if not == "" || f.Expr.Args[0].Kind != model.KindNumber {
		return ""
	}
	var worth [2]string
	varied, computed := 0, false
	for i, side := range f.Expr.Args {
		lo, hi := side.Number(v.s, append([]int32(nil), f.Env...))
		worth[i] = interval(lo, hi)
		if side.Op != model.OpConst {
			varied++
			computed = computed || side.Op != model.OpFluent || side.Fluent.Derived != nil
		}
	}
	switch {
	case !computed || worth[0] == "" || worth[1] == "":
		return ""
	case varied == 2 && f.Truth == model.Unknown:
		return worth[0] + " against " + worth[1]
	case varied == 2:
		return worth[0] + " " + not + " " + worth[1]
	}
	is := "it is "
	if f.Truth == model.Unknown {
		is = "it may be "
	}
	if f.Expr.Args[0].Op == model.OpConst {
		return is + worth[1]
	}
	return is + worth[0]
}

// interval writes what is known of a number, "" where that is nothing.
func interval(lo, hi float64) string {
	switch low, high := !math.IsInf(lo, 0), !math.IsInf(hi, 0); {
	case lo == hi && low:
		return model.FormatNumber(lo)
	case low && high:
		return model.FormatNumber(lo) + " to " + model.FormatNumber(hi)
	case low:
		return "at least " + model.FormatNumber(lo)
	case high:
		return "at most " + model.FormatNumber(hi)
	}
	return ""
}
