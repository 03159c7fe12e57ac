package planbench_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// follow counts what language models did after a critique.
type follow struct {
	dialogues, first    int // dialogues, and those whose first plan was valid
	answers, repeats    int // answers after a critique, and those that repeat the plan before
	placed, later, same int // of which is known which step fails first: a later one than before, or the same
}

// dialogues writes a table of the stored dialogues in the corpus, in the terms
// of the simulation; "" where the corpus is not there. FETTLE_CORPUS names it,
// by default ../shared/corpus from the repository's root.
func dialogues(tb testing.TB) string {
	tb.Helper()
	dir := cmp.Or(os.Getenv("FETTLE_CORPUS"), filepath.Join("..", "shared", "corpus"))
	if !filepath.IsAbs(dir) {
		dir = filepath.Join("..", "..", "..", dir)
	}
	f, err := os.Open(filepath.Join(dir, "llm", "dialogues.jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	all := map[string]*follow{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var d dialogue
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			tb.Fatal(err)
		}
		key := fmt.Sprintf("%s, %s", d.Model, filepath.Base(filepath.Dir(d.Domain)))
		if all[key] == nil {
			all[key] = &follow{}
		}
		all[key].add(d)
	}
	if err := lines.Err(); err != nil {
		tb.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| stored dialogues | first plan valid | answers after a critique | repeat the plan | fail later, or no more | fail at the same step |\n")
	b.WriteString(strings.Repeat("| --- ", 6) + "|\n")
	for _, key := range slices.Sorted(maps.Keys(all)) {
		c := all[key]
		fmt.Fprintf(&b, "| %s | %d of %d | %d | %s | %s | %s |\n", key, c.first, c.dialogues, c.answers,
			share(c.repeats, c.answers), share(c.later, c.placed), share(c.same, c.placed))
	}
	return b.String()
}

// dialogue is a model's plans for one problem with the verdicts of the classic
// validator: step is the first that fails, "goal", "-" or "?".
type dialogue struct {
	Model, Domain string
	Attempts      []struct{ Plan, Valid, Step string }
}

func (c *follow) add(d dialogue) {
	c.dialogues++
	if d.Attempts[0].Valid == "yes" {
		c.first++
	}
	for i, a := range d.Attempts[1:] {
		before := d.Attempts[i]
		c.answers++
		if a.Plan == before.Plan {
			c.repeats++
		}
		from, ok := place(before.Step)
		to, known := place(a.Step)
		if !ok || !known {
			continue
		}
		c.placed++
		switch {
		case to > from:
			c.later++
		case to == from:
			c.same++
		}
	}
}

// place orders first failing steps; a goal that is not reached comes behind all
// of them, a valid plan last. False where the step is not known.
func place(step string) (int, bool) {
	const goal = 1 << 20
	switch step {
	case "-":
		return goal + 1, true
	case "goal":
		return goal, true
	}
	n, err := strconv.Atoi(step)
	return n, err == nil
}

func share(of, n int) string {
	return fmt.Sprintf("%.0f %% of %d", 100*float64(of)/float64(max(n, 1)), n)
}
