package validator_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

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

// BenchmarkValidate tells what a step costs with few and with many objects, its
// parsing included. Both are measured in turn within one run, so that their
// ratio does not depend on what else the machine does at the time.
func BenchmarkValidate(b *testing.B) {
	for _, invariants := range []bool{false, true} {
		name := "plain"
		if invariants {
			name = "invariants"
		}
		b.Run(name, func(b *testing.B) {
			const steps = 200_000
			few, many := newMeasured(b, 10, steps, invariants), newMeasured(b, 10_000, steps, invariants)
			b.ResetTimer()
			for range b.N {
				few.validate(b)
				many.validate(b)
			}
			b.ReportMetric(few.speed(), "Msteps/s_10")
			b.ReportMetric(many.speed(), "Msteps/s_10000")
			b.ReportMetric(few.speed()/many.speed(), "ratio")
		})
	}
}

// measured is a plan's validation and how long it took so far.
type measured struct {
	problem validator.Problem
	text    []byte
	steps   int
	took    time.Duration
}

func newMeasured(tb testing.TB, objects, steps int, invariants bool) *measured {
	m := &measured{}
	m.problem, m.text = switches(tb, objects, steps, invariants)
	return m
}

func (m *measured) validate(tb testing.TB) {
	began := time.Now()
	r := validator.Validate(m.problem, validator.ReadPlan(bytes.NewReader(m.text)))
	m.took += time.Since(began)
	m.steps += r.Steps
	if !r.Valid {
		tb.Fatal(r.Critique)
	}
}

// speed is in millions of steps a second.
func (m *measured) speed() float64 { return float64(m.steps) / 1e6 / m.took.Seconds() }
