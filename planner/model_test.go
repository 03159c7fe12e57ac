package planner

import (
	"context"
	"iter"
	"strings"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/validator"
)

// lamp is a small problem: a lamp that is on, has a bulb, and stands in the
// dark; all are facts of one object. Reaching "lit" takes fit, then on.
type lamp struct {
	m                      *model.Model
	u                      *model.Universe
	bulb, power, lit, dark *model.Fluent
	goal                   *model.Goal
}

func newLamp() *lamp {
	l := &lamp{m: model.New()}
	fluent := func(name string) *model.Fluent {
		f := &model.Fluent{Name: name, Kind: model.KindBool}
		l.m.AddFluent(f)
		return f
	}
	l.bulb, l.power, l.lit, l.dark = fluent("bulb"), fluent("power"), fluent("lit"), fluent("dark")
	action := func(name string, pre *model.Expr, effects ...model.Effect) {
		l.m.AddAction(&model.Action{Name: name, Precondition: model.NewCond(0, pre), Effects: effects})
	}
	action("fit", model.TrueExpr, add(l.bulb))
	action("on", read(l.bulb), add(l.lit))
	action("off", read(l.lit), del(l.lit))
	action("dim", read(l.power), del(l.dark))
	l.goal = &model.Goal{Name: "light", Doc: "The lamp is lit.", Cond: model.NewCond(0, read(l.lit))}
	l.m.Goals = append(l.m.Goals, l.goal)
	l.m.Link()
	l.u = model.NewUniverse(l.m)
	return l
}

func (l *lamp) problem() validator.Problem {
	return validator.Problem{U: l.u, Start: l.u.NewState(true), Goal: l.goal.Cond, GoalName: "light"}
}

func read(f *model.Fluent) *model.Expr {
	return &model.Expr{Op: model.OpFluent, Kind: f.Kind, Fluent: f}
}

func add(f *model.Fluent) model.Effect { return model.Effect{Op: model.Add, Fluent: f} }
func del(f *model.Fluent) model.Effect { return model.Effect{Op: model.Del, Fluent: f} }

// plan reads "fit on" as two steps.
func plan(text string) []model.Step {
	var steps []model.Step
	for _, name := range strings.Fields(text) {
		steps = append(steps, model.Step{Action: name})
	}
	return steps
}

func planText(steps []model.Step) string {
	var names []string
	for _, st := range steps {
		names = append(names, st.String())
	}
	return strings.Join(names, " ")
}

func proposal(text string) Proposal { return Proposal{Steps: plan(text)} }

// script answers with its proposals in turn, the last one for ever, and keeps
// what it was asked.
type script struct {
	name    string
	answers []Proposal
	err     error
	asked   []Request
	hook    func(context.Context, Request) error
}

func (s *script) Name() string { return s.name }

func (s *script) Propose(ctx context.Context, r Request) (Proposal, error) {
	n := min(len(s.asked), len(s.answers)-1)
	s.asked = append(s.asked, r)
	if s.hook != nil {
		if err := s.hook(ctx, r); err != nil {
			return Proposal{}, err
		}
	}
	if s.err != nil {
		return Proposal{}, s.err
	}
	return s.answers[n], nil
}

func says(name string, answers ...Proposal) *script { return &script{name: name, answers: answers} }

func stepsOf(steps ...model.Step) iter.Seq2[model.Step, error] {
	return sequence(steps, nil)
}
