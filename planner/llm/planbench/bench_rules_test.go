package planbench_test

import (
	"math"
	"testing"

	"github.com/fettleops/fettle/planner/llm/planbench"
	"github.com/fettleops/fettle/planner/llm/prompt"
)

func run(t *testing.T, b planbench.Bench) planbench.Result {
	t.Helper()
	b.Folder, b.Calls = folder, 6
	res, err := b.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// total is what came of an arm over all examples.
func total(r planbench.Result, m planbench.Model, arm prompt.Feedback) planbench.Tally {
	var sum planbench.Tally
	for c, t := range r.Cells {
		if c.Arm == arm && c.Model == m {
			sum = sum.Add(t)
		}
	}
	return sum
}

// TestACritiqueThatIsHeededHelps: where mistakes are frequent, the first
// violation solves more runs than asking again does, and the more the more often
// it is heeded.
func TestACritiqueThatIsHeededHelps(t *testing.T) {
	for _, e := range []float64{0.2, 0.3} {
		ms := []planbench.Model{{Error: e, Uptake: 0.3, Insight: 0.5}, {Error: e, Uptake: 0.9, Insight: 0.5}}
		res := run(t, planbench.Bench{Models: ms, Arms: []prompt.Feedback{prompt.None, prompt.First}, Runs: 40, Seed: 1})
		before := total(res, planbench.Model{Error: e}, prompt.None)
		for _, m := range ms {
			got := total(res, m, prompt.First)
			if got.Runs != 200 || before.Runs != 200 || got.Solved <= before.Solved {
				t.Errorf("%s: %d of %d, with less feedback or uptake %d of %d", m, got.Solved, got.Runs, before.Solved, before.Runs)
			}
			before = got
		}
	}
}

// TestACritiqueThatIsNotHeededIsNoCritique: without uptake all arms are alike,
// for the same seed gives the same plans.
func TestACritiqueThatIsNotHeededIsNoCritique(t *testing.T) {
	m := planbench.Model{Error: 0.2, Insight: 1, Habit: 0.5}
	res := run(t, planbench.Bench{Models: []planbench.Model{m}, Runs: 8, Seed: 3})
	want := total(res, planbench.Model{Error: 0.2, Habit: 0.5}, prompt.None)
	for _, arm := range []prompt.Feedback{prompt.First, prompt.Explained, prompt.All} {
		if got := total(res, m, arm); got != want || want.Runs != 40 {
			t.Errorf("%s: %+v, want %+v", arm, got, want)
		}
	}
}

func TestTheSameSeedGivesTheSameTable(t *testing.T) {
	b := planbench.Bench{Models: []planbench.Model{{Error: 0.3, Uptake: 0.7, Insight: 0.5, Repetition: 0.15, Habit: 0.5}}, Runs: 4, Seed: 7}
	first, second := run(t, b).Table(), run(t, b).Table()
	if first != second {
		t.Errorf("got\n%s\nthen\n%s", first, second)
	}
	if b.Seed++; run(t, b).Table() == first {
		t.Error("another seed gives the same table")
	}
}

// TestWhoMakesNoMistakesNeedsOneCall whatever the feedback.
func TestWhoMakesNoMistakesNeedsOneCall(t *testing.T) {
	res := run(t, planbench.Bench{Models: []planbench.Model{{}}, Runs: 4, Seed: 1})
	for c, got := range res.Cells {
		if got != (planbench.Tally{Runs: 4, Solved: 4, Calls: 4}) {
			t.Errorf("%s, %s: %+v", c.Example, c.Arm, got)
		}
	}
	if n := len(res.Cells); n != 5*5 {
		t.Errorf("%d cells", n)
	}
}

// TestIntervals holds Wilson's intervals against those that Newcombe (1998)
// prints.
func TestIntervals(t *testing.T) {
	for _, tt := range []struct {
		of, n     int
		low, high float64
	}{{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718}} {
		low, high := planbench.Wilson(tt.of, tt.n)
		if math.Abs(low-tt.low) > 5e-5 || math.Abs(high-tt.high) > 5e-5 {
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", tt.of, tt.n, low, high, tt.low, tt.high)
		}
	}
}
