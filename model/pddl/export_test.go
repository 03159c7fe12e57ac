package pddl_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/model/load"
	"github.com/fettleops/fettle/model/pddl"
	"github.com/fettleops/fettle/validator"
)

// imported loads what a task was exported as.
func imported(t *testing.T, x pddl.Export) validator.Problem {
	t.Helper()
	file := filepath.Join(t.TempDir(), "model.fettle.hcl")
	if err := os.WriteFile(file, x.Text, 0o600); err != nil {
		t.Fatal(err)
	}
	l, diags := load.Model(file, load.Options{})
	if diags.HasErrors() {
		t.Fatalf("%v\n%s", diags, x.Text)
	}
	u := model.NewUniverse(l.Model)
	return validator.Problem{U: u, Start: u.Named(l.Model.States[0]), Goal: l.Model.Goals[0].Cond}
}

// renamed writes a plan with the names of the exported model.
func renamed(x pddl.Export, plan string) string {
	var b strings.Builder
	for _, line := range strings.Split(strings.ToLower(plan), "\n") {
		line, _, _ = strings.Cut(line, ";")
		open, end := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
		if open < 0 || end < open {
			continue
		}
		words := strings.Fields(line[open+1 : end])
		for i, w := range words {
			of := x.Objects
			if i == 0 {
				of = x.Actions
			}
			if name, ok := of[w]; ok {
				words[i] = name
			}
		}
		b.WriteString("(" + strings.Join(words, " ") + ")\n")
	}
	return b.String()
}

func TestAnImportedModelGivesTheVerdictsOfTheTask(t *testing.T) {
	dir := corpus(t, "the 233 cases as imported models")
	if dir == "" {
		return
	}
	cases := filepath.Join(dir, "pddl", "cases")
	for i, row := range table(t, filepath.Join(dir, "pddl", "cases.tsv")) {
		if i%2 == 1 && os.Getenv("FETTLE_CORPUS_ALL") == "" {
			continue // half of them will do
		}
		t.Run(row["case"], func(t *testing.T) {
			t.Parallel()
			task := readTask(t, filepath.Join(cases, row["domain"]), filepath.Join(cases, row["problem"]))
			x, plan := task.Export(), read(t, filepath.Join(cases, row["plan"]))
			r := validator.Validate(imported(t, x), validator.ReadPlan(strings.NewReader(renamed(x, plan))))
			if cost := validate(task, plan).Cost; r.Cost != cost {
				t.Errorf("cost %g, the task's is %g", r.Cost, cost)
			}
			if got := yes(r.Valid); got != row["valid"] || place(r) != row["step"] {
				t.Errorf("valid %s, step %s; expected %s, %s\n%s", got, place(r), row["valid"], row["step"], r.Critique)
			}
		})
	}
}
