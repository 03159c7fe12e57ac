package pddl_test

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fettleops/fettle/model/pddl"
	"github.com/fettleops/fettle/validator"
)

// corpus returns the folder of real tasks and plans with the verdicts of the
// classic validator, or "" where it is not there: FETTLE_CORPUS, a path from the
// repository's root, by default ../shared/corpus. FETTLE_CORPUS_ALL asks for all
// of it, and then it has to be there.
func corpus(t *testing.T, cases string) string {
	t.Helper()
	dir := cmp.Or(os.Getenv("FETTLE_CORPUS"), filepath.Join("..", "shared", "corpus"))
	if !filepath.IsAbs(dir) {
		dir = filepath.Join("..", "..", dir)
	}
	if _, err := os.Stat(filepath.Join(dir, "README.md")); err != nil {
		if os.Getenv("FETTLE_CORPUS_ALL") != "" {
			t.Fatalf("the corpus is not there: %v; FETTLE_CORPUS names its folder", err)
		}
		t.Logf("the corpus is not there (FETTLE_CORPUS names its folder): %s not run", cases)
		return ""
	}
	return dir
}

// table reads a file of tab-separated values with a header.
func table(t *testing.T, file string) []map[string]string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma, r.LazyQuotes = '\t', true
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, row := range rows[1:] {
		m := map[string]string{}
		for i, name := range rows[0] {
			m[name] = row[i]
		}
		out = append(out, m)
	}
	return out
}

// readTask reads a task that has to be right.
func readTask(t *testing.T, domain, problem string) *pddl.Task {
	t.Helper()
	task, diags, err := pddl.Load(domain, problem)
	if err != nil {
		t.Fatal(err)
	}
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return task
}

func validate(task *pddl.Task, plan string) validator.Report {
	p := validator.Problem{U: task.U, Start: task.Start, Goal: task.Goal.Cond, GoalName: task.Goal.Name}
	return validator.Validate(p, validator.ReadPlan(strings.NewReader(plan)))
}

// place is a report's first failing step as the corpus writes it.
func place(r validator.Report) string {
	switch {
	case r.Valid:
		return "-"
	case r.Kind == validator.Goal:
		return "goal"
	}
	return strconv.Itoa(r.Step)
}

func yes(valid bool) string {
	if valid {
		return "yes"
	}
	return "no"
}

// kinds that a mutation may lead to, where the reference says no more than "bad
// plan", or crashes.
var kinds = map[string]validator.Kind{
	"unknown-action": validator.UnknownAction, "wrong-type": validator.WrongType, "unknown-object": validator.UnknownObject,
	"arity-few": validator.WrongArity, "arity-many": validator.WrongArity,
}

func TestEveryCaseHasTheVerdictAndTheStepOfTheReference(t *testing.T) {
	dir := corpus(t, "233 cases")
	if dir == "" {
		return
	}
	cases := filepath.Join(dir, "pddl", "cases")
	rows := table(t, filepath.Join(dir, "pddl", "cases.tsv"))
	for _, row := range rows {
		t.Run(row["case"], func(t *testing.T) {
			t.Parallel()
			task := readTask(t, filepath.Join(cases, row["domain"]), filepath.Join(cases, row["problem"]))
			plan, err := os.ReadFile(filepath.Join(cases, row["plan"]))
			if err != nil {
				t.Fatal(err)
			}
			r := validate(task, string(plan))
			if got := yes(r.Valid); got != row["valid"] || place(r) != row["step"] {
				t.Errorf("valid %s, step %s; expected %s, %s (%s)\n%s", got, place(r), row["valid"], row["step"], row["reference_reason"], r.Critique)
			}
			if want := kinds[row["mutation"]]; want != "" && r.Kind != want {
				t.Errorf("kind %q, expected %q: %s", r.Kind, want, r.Critique)
			}
		})
	}
	if len(rows) != 233 {
		t.Errorf("%d cases, expected 233", len(rows))
	}
}

// written is a plan that a language model wrote.
type written struct {
	ID, Domain, Problem, Plan, Valid, Step, Reference string
	Reason                                            string `json:"reference_reason"`
}

func TestPlansOfLanguageModelsHaveTheVerdictAndTheStepOfTheReference(t *testing.T) {
	dir := corpus(t, "5215 plans")
	if dir == "" {
		return
	}
	every := 10
	if os.Getenv("FETTLE_CORPUS_ALL") != "" {
		every = 1
	}
	f, err := os.Open(filepath.Join(dir, "llm", "plans.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	n := 0
	for ; lines.Scan(); n++ {
		if n%every != 0 {
			continue
		}
		var w written
		if err := json.Unmarshal(lines.Bytes(), &w); err != nil {
			t.Fatal(err)
		}
		w.check(t, filepath.Join(dir, "llm"))
	}
	if err := lines.Err(); err != nil || n != 5215 {
		t.Errorf("%d plans, %v; expected 5215", n, err)
	}
	t.Logf("%d plans of %d run; FETTLE_CORPUS_ALL=1 runs all", (n+every-1)/every, n)
}

// right are plans that the corpus calls wrong because the reference crashed on
// them: it does so on a problem whose name begins with a digit. The naive
// interpreter finds nothing wrong with them.
var right = []string{"2dab48000383", "c3850ed73ad2", "d726c1adaf0e", "3cd46b44fb63", "289a4f1db870"}

// check compares with the reference, and with the naive interpreter where the
// reference has no step, or took a code fence such as ```pddl for prose and with
// that the whole plan for an empty one.
func (w *written) check(t *testing.T, dir string) {
	t.Helper()
	domain, problem := filepath.Join(dir, w.Domain), filepath.Join(dir, w.Problem)
	r := validate(readTask(t, domain, problem), w.Plan)
	valid, step := w.Valid, w.Step
	if fenced := regexp.MustCompile("^```[A-Za-z]").MatchString(w.Plan); fenced || step == "?" {
		step = newNaive(read(t, domain), read(t, problem)).run(w.Plan)
		if fenced || slices.Contains(right, w.ID) {
			valid = yes(step == "-")
		}
	}
	if yes(r.Valid) != valid || place(r) != step {
		t.Errorf("%s: valid %s, step %s; expected %s, %s (%s)\n%s\n%s", w.ID, yes(r.Valid), place(r), valid, step, w.Reason, r.Critique, w.Plan)
	}
	if wrong := w.wrongArity(r); wrong != "" {
		t.Errorf("%s: %s (%s)\n%s\n%s", w.ID, wrong, w.Reason, r.Critique, w.Plan)
	}
}

// wrongArity says what is wrong with the kind where the reference crashed: that
// is for a number of arguments, or an action before it fails.
func (w *written) wrongArity(r validator.Report) string {
	if w.Reference == "crash" && !r.Valid && r.Kind != validator.WrongArity && r.Kind != validator.Precondition && r.Kind != validator.Goal {
		return "kind " + string(r.Kind)
	}
	return ""
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
