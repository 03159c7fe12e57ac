package planbench_test

import (
	"fmt"
	"os"
	"runtime/debug"
	"testing"

	"github.com/fettleops/fettle/planner/llm/planbench"
)

const folder = "../../../examples"

// models are the simulated language models of the table. Of 15 % of GPT-4's
// answers after a critique it is known that they repeat a plan.
func models() []planbench.Model {
	const insight, repetition = 0.5, 0.15
	var out []planbench.Model
	for _, e := range []float64{0.1, 0.3} {
		for _, u := range []float64{0.3, 0.7} {
			for _, r := range []float64{0, repetition} {
				out = append(out, planbench.Model{Error: e, Uptake: u, Insight: insight, Repetition: r})
			}
		}
	}
	base := out[len(out)-1]
	blind, keen, literal, stubborn, better := base, base, base, base, out[3]
	blind.Insight, keen.Insight, literal.Literal = 0, 1, true
	stubborn.Habit, better.Habit = 0.8, 0.8
	return append(out, blind, keen, literal, stubborn, better)
}

// BenchmarkFeedback prints the table of docs/benchmarks/planner.md, and what is
// known of real dialogues where the corpus is there.
func BenchmarkFeedback(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // Questions are much short-lived text.
	const runs, calls = 1000, 6
	var res planbench.Result
	for b.Loop() {
		var err error
		res, err = planbench.Bench{Folder: folder, Models: models(), Runs: runs, Calls: calls, Seed: 1}.Run(b.Context())
		if err != nil {
			b.Fatal(err)
		}
	}
	fmt.Fprintf(os.Stdout, "\n%s\n%s", res.Table(), dialogues(b))
}
