package validator_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/validator"
)

// switches is a model in which n hosts are turned on and off, with a counter,
// and the text of a plan of so many steps.
func switches(tb testing.TB, n, steps int, invariant bool) (validator.Problem, []byte) {
	tb.Helper()
	b := newBuilder()
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("h%d", i))
	}
	host := b.typ("host", names...)
	h := slot(host, 0)
	a, other, count := on(b.bool("a", host), h), on(b.bool("b", host), h), on(b.number("n", host), h)
	one := []*model.Type{host}
	b.action("on", one, []*model.Expr{not(a), model.Or(other, not(other)), op(model.OpGe, model.KindBool, count, num(0))},
		add(a), set(count, op(model.OpAdd, model.KindNumber, count, num(1))))
	b.action("off", one, []*model.Expr{a, op(model.OpGt, model.KindBool, count, num(0))}, del(a))
	if invariant {
		b.AddInvariant(&model.Invariant{Name: "counted", Cond: cond(over(model.OpAll, host, 0, model.Or(not(a), op(model.OpGt, model.KindBool, count, num(0)))))})
		b.AddInvariant(&model.Invariant{Name: "one", Cond: cond(op(model.OpLe, model.KindBool, over(model.OpCount, host, 0, a), num(1)))})
	}
	b.Link()
	u := model.NewUniverse(b.Model)
	s := u.NewState(true)
	for at := range u.Atoms(count.Fluent) {
		s.Set(at, model.NumberValue(0))
	}
	var text bytes.Buffer
	for i := range steps / 2 {
		fmt.Fprintf(&text, "on(h%d)\noff(h%d)\n", i%n, i%n)
	}
	goal := cond(not(on(a.Fluent, object(host, "h0"))))
	return validator.Problem{U: u, Start: s, Goal: goal, GoalName: "off"}, text.Bytes()
}

func BenchmarkValidate(b *testing.B) {
	for _, invariant := range []bool{false, true} {
		for _, n := range []int{10, 10_000} {
			name := fmt.Sprintf("%d_objects", n)
			if invariant {
				name += "_invariants"
			}
			b.Run(name, func(b *testing.B) {
				const steps = 200_000
				p, text := switches(b, n, steps, invariant)
				b.ReportAllocs()
				b.ResetTimer()
				for range b.N {
					if r := validator.Validate(p, validator.ReadPlan(bytes.NewReader(text))); !r.Valid {
						b.Fatal(r.Critique)
					}
				}
				b.ReportMetric(float64(steps)*float64(b.N)/b.Elapsed().Seconds(), "steps/s")
			})
		}
	}
}
