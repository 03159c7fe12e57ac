package main

import (
	"context"
	"fmt"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"github.com/fettleops/fettle/planner/search"
	"github.com/fettleops/fettle/validator"
	"github.com/fettleops/fettle/validator/modeltest"
)

// testFlags are the flags of test.
type testFlags struct {
	run, format            string
	cover, mutate, verbose bool
	nodes                  int
	timeout                time.Duration
}

// maxTestMemory bounds the memory of each search, in bytes.
const maxTestMemory = 256 << 20

func newTestCommand(a *app) *cobra.Command {
	var f testFlags
	cmd := &cobra.Command{
		Use:   "test [flags] [MODEL]",
		Short: "Run the tests of a model",
		Long: `Run the test blocks of the model's *.fettletest.hcl files: each takes a state and a plan,
or lets the search plan, and says what must come of it. Nothing outside is read or changed.

With --cover: which actions, conditional effects and single conditions no test exercises. With
--mutate: which preconditions and effects could be left out without any test noticing.

Exit status 0: every test passes. 2: one fails, or the model or a test is faulty. 1: they could
not be run, or there is none: a check of nothing is no success.`,
		Example: `  $ fettle test examples/classic
  ok    examples/classic: 16 tests

  $ fettle test --run drain --cover --mutate examples/classic
  $ fettle test -o junit examples/classic > report.xml`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.test(cmd.Context(), modelPath(args), f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.run, "run", "", "run only the tests whose name matches this regular expression")
	fl.StringVarP(&f.format, "output", "o", "text", "text, json or junit")
	fl.BoolVar(&f.cover, "cover", false, "tell what of the model no test exercises")
	fl.BoolVar(&f.mutate, "mutate", false, "leave out each precondition and effect in turn and tell which no test misses")
	fl.BoolVar(&f.verbose, "verbose", false, "show the tests that pass too, and how long each takes")
	fl.IntVar(&f.nodes, "max-nodes", 1_000_000, "states that the search of a test looks at")
	fl.DurationVar(&f.timeout, "timeout", 10*time.Second, "time of the search of a test")
	return cmd
}

// testRun is one call of test.
type testRun struct {
	model    string
	suite    *modeltest.Suite
	outcomes []outcome
	took     time.Duration
	coverage *modeltest.Coverage // nil where not asked for
	mutation *modeltest.Mutation // likewise, and where tests fail
}

// outcome is a test's result and how long it took.
type outcome struct {
	modeltest.Result
	took time.Duration
}

func (r *testRun) failed() int {
	n := 0
	for i := range r.outcomes {
		if !r.outcomes[i].Passed() {
			n++
		}
	}
	return n
}

func (a *app) test(ctx context.Context, path string, f testFlags) error {
	if err := oneOf("-o", f.format, "text", "json", "junit"); err != nil {
		return err
	}
	only, err := f.filter()
	if err != nil {
		return err
	}
	suite, err := a.suite(path, only)
	if err != nil {
		return err
	}
	r := &testRun{model: path, suite: suite}
	if err := r.run(ctx, f.search()); err != nil {
		return err
	}
	if f.cover {
		r.coverage = suite.Cover(r.results())
	}
	if f.mutate && r.failed() == 0 {
		again := func() (*modeltest.Suite, error) { return a.suite(path, only) }
		if r.mutation, err = modeltest.Mutate(ctx, again, f.search()); err != nil {
			return err
		}
	}
	if err := a.printTests(r, f); err != nil {
		return err
	}
	if r.failed() > 0 {
		return answer(exitNo)
	}
	return nil
}

// filter compiles --run, and checks the limits.
func (f *testFlags) filter() (*regexp.Regexp, error) {
	switch {
	case f.nodes < 1:
		return nil, fmt.Errorf("--max-nodes is at least 1, not %d", f.nodes)
	case f.timeout <= 0:
		return nil, fmt.Errorf("--timeout must be more than no time, not %s", f.timeout)
	}
	only, err := regexp.Compile(f.run)
	if err != nil {
		return nil, fmt.Errorf("--run: %w", err)
	}
	return only, nil
}

// suite loads the model with those of its tests whose names match. There being
// none is an error.
func (a *app) suite(path string, only *regexp.Regexp) (*modeltest.Suite, error) {
	l, err := a.load(path)
	if err != nil {
		return nil, err
	}
	defer l.world.Close()
	s, diags := modeltest.New(l.Loaded)
	if diags.HasErrors() {
		a.printDiagnostics(l.Loaded, diags)
		return nil, answer(exitNo)
	}
	all := len(s.Tests)
	if all == 0 {
		return nil, noTests(path, l.Folder)
	}
	s.Select(only.MatchString)
	if len(s.Tests) == 0 {
		return nil, fmt.Errorf("none of the %s of %s has a name that matches --run %s", counted(all, "test"), path, only)
	}
	return s, nil
}

func noTests(path, folder string) error {
	if path != folder {
		return fmt.Errorf("%s is one file of a model, and tests stand in files of their own: name the folder, %s", path, folder)
	}
	return fmt.Errorf("%s has no tests: write test blocks in a file beside the model that ends in .fettletest.hcl", path)
}

func (r *testRun) run(ctx context.Context, search modeltest.Search) error {
	begin := time.Now()
	for _, t := range r.suite.Tests {
		start := time.Now()
		res, err := t.Run(ctx, search)
		if err != nil {
			return err
		}
		r.outcomes = append(r.outcomes, outcome{res, time.Since(start)})
	}
	r.took = time.Since(begin)
	return nil
}

func (r *testRun) results() []modeltest.Result {
	var out []modeltest.Result
	for _, o := range r.outcomes {
		out = append(out, o.Result)
	}
	return out
}

// search plans for a test within the flags' limits.
func (f *testFlags) search() modeltest.Search {
	o := search.Options{MaxNodes: f.nodes, MaxMemory: maxTestMemory, Timeout: f.timeout}
	return func(ctx context.Context, p validator.Problem) (modeltest.Answer, error) {
		res, err := search.Search(ctx, search.Problem{U: p.U, Start: p.Start, Goal: p.Goal, GoalArgs: p.GoalArgs, Allowed: p.Allowed}, o)
		if err != nil {
			return modeltest.Answer{}, err
		}
		out := modeltest.Answer{Reason: res.Reason}
		switch res.Status {
		case search.Solved:
			out.Verdict = modeltest.Found
			for _, g := range res.Plan {
				out.Steps = append(out.Steps, p.U.Step(g))
			}
		case search.Unsolvable:
			out.Verdict = modeltest.Unsolvable
		case search.Unobservable:
			out.Verdict = modeltest.Unobservable
		default:
			out.Verdict = modeltest.Undecided
		}
		return out, nil
	}
}
