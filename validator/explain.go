package validator

import (
	"cmp"

	"github.com/fettleops/fettle/model"
)

// maxFacts is how many facts a failed conjunct lists.
const maxFacts = 100

// explain fills the report's missing conjuncts from failures on the present
// state.
func (v *validation) explain(failures []model.Failure) {
	a := newAchievers(v)
	v.r.Missing = make([]Missing, 0, len(failures))
	for i := range failures {
		f := &failures[i]
		m := Missing{Condition: f.Text, Truth: f.Truth, Because: []Because{}}
		for k, l := range f.Leaves {
			if k == maxFacts {
				m.More = len(f.Leaves) - k
				break
			}
			m.Because = append(m.Because, v.because(a, f, l))
		}
		v.r.Missing = append(v.r.Missing, m)
	}
	v.cures = a.cures
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
