package modeltest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fettleops/fettle/model"
)

// mutant is a model of which one part is left out. Apply changes the model in
// place and returns what changes it back.
type mutant struct {
	Gap
	apply func() (undo func())
}

// mutants lists them in the order of the files.
func mutants(s *Suite) []mutant {
	m := mutating{u: model.NewUniverse(s.Loaded.Model)}
	places := s.Loaded.Places()
	for _, a := range s.Loaded.Model.Actions {
		for i, c := range places.Preconditions[a] {
			m.add(Gap{c.Range, "action " + a.Name + " without its precondition " + c.Expr.Text(m.u, nil)}, func() func() {
				whole := a.Precondition
				a.Precondition = without(whole, i)
				return func() { a.Precondition = whole }
			})
		}
		last := -1
		for i, place := range places.Effects[a] {
			if a.Effects[i].When != nil && place.Block != last {
				last = place.Block
				m.add(Gap{place.When, "action " + a.Name + " with its effect whether or not " + a.Effects[i].When.Text(m.u, nil)}, func() func() {
					whole := a.Effects
					a.Effects = unconditional(whole, a.Effects[i].When)
					return func() { a.Effects = whole }
				})
			}
			m.add(Gap{place.Range, "action " + a.Name + " without its effect " + m.text(&a.Effects[i])}, func() func() {
				whole := a.Effects
				a.Effects = slices.Delete(slices.Clone(whole), i, i+1)
				return func() { a.Effects = whole }
			})
		}
	}
	slices.SortStableFunc(m.all, func(a, b mutant) int {
		return cmp.Or(strings.Compare(a.Range.Filename, b.Range.Filename), a.Range.Start.Byte-b.Range.Start.Byte)
	})
	return m.all
}

// mutating gathers mutants.
type mutating struct {
	u   *model.Universe
	all []mutant
}

func (m *mutating) add(g Gap, apply func() func()) { m.all = append(m.all, mutant{g, apply}) }

var effectWords = map[model.EffectOp]string{
	model.Add: "add", model.Del: "del", model.Set: "set", model.Increase: "increase", model.Decrease: "decrease",
}

// text writes an effect: set replicas(s) = replicas(s) + 1.
func (m *mutating) text(e *model.Effect) string {
	head := model.Expr{Op: model.OpFluent, Kind: e.Fluent.Kind, Type: e.Fluent.Type, Fluent: e.Fluent, Args: e.Args}
	s := effectWords[e.Op] + " " + head.Text(m.u, nil)
	switch e.Op {
	case model.Set:
		s += " = " + e.Value.Text(m.u, nil)
	case model.Increase, model.Decrease:
		s += " by " + e.Value.Text(m.u, nil)
	}
	return s
}

// unconditional returns the effects with this condition taken away.
func unconditional(effects []model.Effect, when *model.Expr) []model.Effect {
	out := slices.Clone(effects)
	for i := range out {
		if out[i].When == when {
			out[i].When = nil
		}
	}
	return out
}

// without returns the condition without its n-th conjunct, counted as
// [load.Conjuncts] does.
func without(c *model.Cond, n int) *model.Cond {
	out := &model.Cond{Slots: c.Slots}
	for _, e := range c.Conjuncts {
		if rest := drop(e, &n); rest != nil {
			out.Conjuncts = append(out.Conjuncts, rest)
		}
	}
	return out
}

// drop returns the expression without its n-th conjunct, nil where that is all
// of it, and counts n down by the conjuncts it meets.
func drop(e *model.Expr, n *int) *model.Expr {
	switch e.Op {
	case model.OpAnd:
		var rest []*model.Expr
		for _, a := range e.Args {
			if a = drop(a, n); a != nil {
				rest = append(rest, a)
			}
		}
		if len(rest) == 0 {
			return nil
		}
		return model.And(rest...)
	case model.OpAll:
		c := *e
		body := drop(e.Args[0], n)
		if body == nil {
			return nil
		}
		c.Args = []*model.Expr{body}
		return &c
	}
	*n--
	if *n == -1 {
		return nil
	}
	return e
}
