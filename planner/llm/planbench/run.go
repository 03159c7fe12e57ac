package planbench

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/planner/llm"
	"github.com/fettleops/fettle/planner/llm/prompt"
)

// Arms are all the degrees of feedback.
var Arms = []prompt.Feedback{prompt.None, prompt.Binary, prompt.First, prompt.Explained, prompt.All}

// Bench says what is measured.
type Bench struct {
	Folder string            // of the examples
	Models []Model           // simulated language models, a row of the table each
	Arms   []prompt.Feedback // a column each; nil: [Arms]
	Runs   int               // of each model, arm and example
	Calls  int               // that one run may make
	Seed   uint64
}

// Tally is what came of the runs of one cell.
type Tally struct {
	Runs, Solved int
	Calls        int // made by the runs that were solved
}

// Add returns the tally of both.
func (t Tally) Add(o Tally) Tally {
	return Tally{t.Runs + o.Runs, t.Solved + o.Solved, t.Calls + o.Calls}
}

// Cell names a tally.
type Cell struct {
	Model   Model
	Arm     prompt.Feedback
	Example string
}

// Result is the tallies of a bench, and the search's for its tasks.
type Result struct {
	Bench
	Cells  map[Cell]Tally
	Search map[string]Tally  // by example, one run for each start; it makes no calls
	Steps  map[string][2]int // by example: steps of the shortest and the longest plan that is meant
}

// Run runs the bench on all processors. Runs of the same number meet the same
// first plan whatever the arm.
func (b Bench) Run(ctx context.Context) (Result, error) {
	if b.Arms == nil {
		b.Arms = Arms
	}
	res := Result{Bench: b, Cells: map[Cell]Tally{}, Search: map[string]Tally{}, Steps: map[string][2]int{}}
	tasks, err := Tasks(ctx, b.Folder)
	if err != nil {
		return res, err
	}
	for _, t := range tasks {
		res.task(t)
	}
	cells := b.cells()
	tallies, err := b.tallies(ctx, cells)
	for i, c := range cells {
		res.Cells[c] = tallies[i]
	}
	return res, err
}

// task notes what is known of a task without a language model.
func (r *Result) task(t Task) {
	r.Search[t.Example] = r.Search[t.Example].Add(Tally{Runs: 1, Solved: 1}) // There is no task without its plan.
	n, s := len(t.Meant), r.Steps[t.Example]
	if s[0] == 0 {
		s[0] = n
	}
	r.Steps[t.Example] = [2]int{min(s[0], n), max(s[1], n)}
}

// tallies makes the runs of all cells, each processor those of the next cell.
func (b Bench) tallies(ctx context.Context, cells []Cell) ([]Tally, error) {
	out := make([]Tally, len(cells))
	var next atomic.Int64
	work, ctx := errgroup.WithContext(ctx)
	for range runtime.GOMAXPROCS(0) {
		work.Go(func() error {
			tasks, err := Tasks(ctx, b.Folder)
			if err != nil {
				return err
			}
			for i := next.Add(1) - 1; i < int64(len(cells)); i = next.Add(1) - 1 {
				c := cells[i]
				if out[i], err = b.cell(ctx, c, tasks); err != nil {
					return fmt.Errorf("%s, feedback %s, %s: %w", c.Example, c.Arm, c.Model, err)
				}
			}
			return nil
		})
	}
	return out, work.Wait()
}

// cells lists the cells, each once: what an arm has no use for makes no other
// cell of it.
func (b Bench) cells() []Cell {
	var out []Cell
	known := map[Cell]bool{}
	for _, m := range b.Models {
		for _, arm := range b.Arms {
			for _, e := range examples {
				c := Cell{m.within(arm), arm, e.name}
				if !known[c] {
					known[c] = true
					out = append(out, c)
				}
			}
		}
	}
	return out
}

// within is the model without what cannot matter in an arm: a question without a
// critique has nothing to be heeded, one without the last plan nothing to be
// repeated.
func (m Model) within(arm prompt.Feedback) Model {
	switch arm {
	case prompt.None:
		return Model{Error: m.Error, Habit: m.Habit}
	case prompt.Binary:
		return Model{Error: m.Error, Repetition: m.Repetition, Habit: m.Habit}
	case prompt.Explained:
		return m
	}
	m.Literal = false // No advice is given.
	return m
}

// cell makes the runs of a cell, from the example's starts in turn.
func (b Bench) cell(ctx context.Context, c Cell, tasks []Task) (Tally, error) {
	var of []Task
	for _, t := range tasks {
		if t.Example == c.Example {
			of = append(of, t)
		}
	}
	var sum Tally
	for n := range b.Runs {
		t := of[n%len(of)]
		calls, err := b.run(ctx, t, c.Arm, NewGenerator(c.Model, t.Meant, b.Seed, uint64(n)))
		if err != nil {
			return sum, err
		}
		sum.Runs++
		if calls > 0 {
			sum.Solved++
			sum.Calls += calls
		}
	}
	return sum, nil
}

// run plays one round through the real planner, and returns how many calls it
// took to a valid plan; 0 where there was none.
func (b Bench) run(ctx context.Context, t Task, arm prompt.Feedback, c llm.Client) (int, error) {
	const maxSteps = 60
	s := llm.Settings{Kind: "simulated", Name: "simulated", Model: "simulated", Timeout: time.Minute, Feedback: arm}
	p := llm.New(llm.NewCaller(c, s), s, llm.Options{})
	res, err := planner.Round(ctx, t.Problem, []planner.Proposer{p}, planner.Limits{MaxAttempts: b.Calls, MaxPlanSteps: maxSteps}, planner.Unlimited{}, nil, nil)
	if err != nil {
		return 0, err
	}
	if res.Usage.Calls != len(res.Attempts) {
		return 0, fmt.Errorf("%d calls for %d attempts", res.Usage.Calls, len(res.Attempts))
	}
	if res.Status != planner.Valid {
		return 0, nil
	}
	return res.Usage.Calls, nil
}
