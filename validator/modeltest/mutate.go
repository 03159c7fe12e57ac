package modeltest

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Mutation tells which parts of a model could be left out without any test
// noticing.
type Mutation struct {
	Total    int
	Survived []Gap // in the order of the files
}

// Percent is the part of the mutants that a test killed, 100 where there were
// none.
func (m *Mutation) Percent() float64 { return percent(m.Total-len(m.Survived), m.Total) }

// maxWorkers bounds how many mutants are tried at once.
const maxWorkers = 8

// Mutate leaves out each conjunct of a precondition, each single effect and
// each effect's when in turn and runs the tests, which must pass on the model as
// it is. A mutant of which any test fails is killed; so is one for which the
// search comes to no end within its limits. Each worker changes a model of its
// own in memory, which it gets from loading the suite again.
func Mutate(ctx context.Context, again func() (*Suite, error), search Search) (*Mutation, error) {
	first, err := again()
	if err != nil {
		return nil, err
	}
	all := mutants(first)
	alive := make([]bool, len(all))
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for w := range min(runtime.GOMAXPROCS(0), maxWorkers, max(1, len(all))) {
		g.Go(func() error {
			own, list := first, all
			if w > 0 {
				var err error
				if own, err = again(); err != nil {
					return err
				}
				if list = mutants(own); len(list) != len(all) {
					return fmt.Errorf("the model was changed while its tests ran")
				}
			}
			own.quickestFirst()
			for i := next.Add(1) - 1; int(i) < len(list); i = next.Add(1) - 1 {
				var err error
				if alive[i], err = own.survives(ctx, list[i], search); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	m := &Mutation{Total: len(all)}
	for i, mu := range all {
		if alive[i] {
			m.Survived = append(m.Survived, mu.Gap)
		}
	}
	return m, nil
}

// quickestFirst puts the tests that need no search in front.
func (s *Suite) quickestFirst() {
	slices.SortStableFunc(s.Tests, func(a, b *Test) int { return cost(a) - cost(b) })
}

func cost(t *Test) int {
	if t.plan == nil {
		return 1
	}
	return 0
}

// survives runs the tests on the mutant until one fails.
func (s *Suite) survives(ctx context.Context, m mutant, search Search) (bool, error) {
	undo := m.apply()
	defer undo()
	for _, t := range s.Tests {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		res, err := t.Run(ctx, search)
		if err != nil {
			return false, err
		}
		if !res.Passed() {
			return false, nil
		}
	}
	return true, nil
}
