package pddl_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/model/pddl"
	"github.com/fettleops/fettle/planner/search"
	"github.com/fettleops/fettle/validator"
)

// whole returns the corpus where all of it is asked for, and says otherwise
// what is not run.
func whole(t *testing.T, cases string) string {
	t.Helper()
	dir := corpus(t, cases)
	if dir != "" && os.Getenv("FETTLE_CORPUS_ALL") == "" {
		t.Logf("%s not run; FETTLE_CORPUS_ALL=1 runs them", cases)
		return ""
	}
	return dir
}

func find(t *testing.T, task *pddl.Task, o search.Options) search.Result {
	t.Helper()
	r, err := search.Search(context.Background(), search.Problem{U: task.U, Start: task.Start, Goal: task.Goal.Cond}, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestThePlannersProblemsAreSolvedAndTheKnownOptimaAreMet(t *testing.T) {
	dir := whole(t, "23 planning problems")
	if dir == "" {
		return
	}
	for _, row := range table(t, filepath.Join(dir, "pddl", "planning.tsv")) {
		t.Run(row["instance"], func(t *testing.T) {
			task := readTask(t, filepath.Join(dir, "pddl", row["domain"]), filepath.Join(dir, "pddl", row["problem"]))
			cost := solve(t, task, search.Options{})
			best, err := strconv.ParseFloat(row["optimal_cost"], 64)
			if err != nil {
				return // the reference found none
			}
			if cost < best {
				t.Errorf("cost %g is less than the least, %g", cost, best)
			}
			if cost = solve(t, task, search.Options{Optimal: true}); cost != best {
				t.Errorf("cost %g, the least is %g", cost, best)
			}
		})
	}
}

// solve finds a plan, holds it to the validator, and returns its cost.
func solve(t *testing.T, task *pddl.Task, o search.Options) float64 {
	t.Helper()
	r := find(t, task, o)
	if r.Status != search.Solved {
		t.Fatalf("%s: %s", r.Status, r.Reason)
	}
	steps := func(yield func(model.Step, error) bool) {
		for _, g := range r.Plan {
			if !yield(task.U.Step(g), nil) {
				return
			}
		}
	}
	report := validator.Validate(validator.Problem{U: task.U, Start: task.Start, Goal: task.Goal.Cond}, steps)
	if !report.Valid || report.Cost != r.Cost {
		t.Fatalf("cost %g, the validator says %g: %s", r.Cost, report.Cost, report.Critique)
	}
	return r.Cost
}

func TestProblemsWithoutAPlanAreProvedToHaveNone(t *testing.T) {
	dir := whole(t, "40 unsolvable problems")
	if dir == "" {
		return
	}
	folder := filepath.Join(dir, "pddl", "unsolvable")
	domain := filepath.Join(folder, "domain.pddl")
	problems, err := filepath.Glob(filepath.Join(folder, "*.pddl"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, problem := range problems {
		if problem == domain {
			continue
		}
		n++
		if r := find(t, readTask(t, domain, problem), search.Options{}); r.Status != search.Unsolvable {
			t.Errorf("%s: %s: %s", filepath.Base(problem), r.Status, r.Reason)
		}
	}
	if n != 40 {
		t.Errorf("%d problems, expected 40", n)
	}
}
