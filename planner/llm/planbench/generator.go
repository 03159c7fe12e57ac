package planbench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/fettleops/fettle/planner/llm"
)

// Model says how a simulated language model behaves. The
// numbers are chances from 0 to 1.
type Model struct {
	// Error is the chance that a step comes out wrong when it is written:
	// dropped, swapped with the next, with another object or action, or twice.
	Error float64
	// Uptake is the chance that a critique is heeded. Then what it names is
	// mended and the rest of the last plan copied; otherwise the whole plan is
	// written afresh, as where there is no critique.
	Uptake float64
	// Insight is the chance that the cause of a failure is found which lies before
	// the step that fails, where the critique does not name it.
	Insight float64
	// Repetition is the chance that the last plan, where it is told, is given
	// again as it is.
	Repetition float64
	// Habit is the chance that a step written afresh is written as the first
	// time: right, or with the same mistake. 0: each time is independent.
	Habit float64
	// Literal is set where advice is followed even if it mends no more than the
	// failing step and leads away from the plan that is meant.
	Literal bool
}

// Generator is a simulated language model during one run: a client that answers
// each question from its text alone. It is used by one run at a time.
type Generator struct {
	model  Model
	meant  []string // a plan that is right: what the model knows of the task
	seed   [2]uint64
	calls  uint64
	habits []slip // how each step was written the first time
}

// NewGenerator returns a generator that has in mind a plan that is right, its
// steps such as drain(api). The same seed gives the same answers to the same
// questions.
func NewGenerator(m Model, meant []string, seed, run uint64) *Generator {
	return &Generator{model: m, meant: slices.Clone(meant), seed: [2]uint64{seed, run}}
}

// Complete answers a question with a plan.
func (g *Generator) Complete(_ context.Context, call llm.Call) (llm.Answer, error) {
	q, err := readQuestion(call.Prompt)
	if err != nil {
		return llm.Answer{}, &llm.CallError{Class: llm.BadRequest, Detail: err.Error(), Err: err}
	}
	text, err := answer(g.plan(&q))
	if err != nil {
		return llm.Answer{}, &llm.CallError{Class: llm.BadRequest, Detail: err.Error(), Err: err}
	}
	return llm.Answer{Text: text, Finish: llm.Stopped, TokensIn: 1, TokensOut: 1}, nil
}

// plan writes the next plan. Every call has random numbers of its own, so that
// what one question leads to does not change the luck of the next.
func (g *Generator) plan(q *question) []string {
	r := rand.New(rand.NewPCG(g.seed[0], g.seed[1]<<8|g.calls))
	g.calls++
	if g.habits == nil {
		g.habits = q.slips(g.meant, g.model.Error, r)
		return write(g.meant, g.habits)
	}
	repeats, heeds := r.Float64() < g.model.Repetition, r.Float64() < g.model.Uptake
	if q.last != nil && repeats {
		return q.last
	}
	if len(q.critique) > 0 && heeds {
		if plan, ok := (hand{q, g.model, g.meant, r}).mend(); ok {
			return plan
		}
	}
	return g.afresh(q, r)
}

// afresh writes the plan that is meant, with the mistakes of the first time as
// far as they are habits.
func (g *Generator) afresh(q *question, r *rand.Rand) []string {
	slips := q.slips(g.meant, g.model.Error, r)
	for i := range slips {
		if r.Float64() < g.model.Habit {
			slips[i] = g.habits[i]
		}
	}
	return write(g.meant, slips)
}

// String writes the model's numbers, but for those that are 0.
func (m Model) String() string {
	s := fmt.Sprintf("error %g", m.Error)
	for _, n := range []struct {
		name   string
		chance float64
	}{{"uptake", m.Uptake}, {"insight", m.Insight}, {"repetition", m.Repetition}, {"habit", m.Habit}} {
		if n.chance > 0 {
			s += fmt.Sprintf(", %s %g", n.name, n.chance)
		}
	}
	if m.Literal {
		s += ", literal"
	}
	return s
}
