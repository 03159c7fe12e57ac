package llm_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/fettleops/fettle/model/pddl"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/planner/llm/reply"
	"github.com/fettleops/fettle/validator"
)

// dialogue is a language model's plans for one problem, each after a critique
// of the one before, with the verdicts of the classic validator.
type dialogue struct {
	Model, Domain, Problem string
	Attempts               []struct{ Plan, Valid, Step string }
}

// dialogues returns those of the corpus, and the folder of their problems; none
// where it is not there: FETTLE_CORPUS, a path from the repository's root, by
// default ../shared/corpus. FETTLE_CORPUS_ALL asks for it to be there.
func dialogues(t *testing.T) (all []dialogue, folder string) {
	t.Helper()
	dir := cmp.Or(os.Getenv("FETTLE_CORPUS"), filepath.Join("..", "shared", "corpus"))
	if !filepath.IsAbs(dir) {
		dir = filepath.Join("..", "..", dir)
	}
	folder = filepath.Join(dir, "llm")
	f, err := os.Open(filepath.Join(folder, "dialogues.jsonl"))
	if err != nil {
		if os.Getenv("FETTLE_CORPUS_ALL") != "" {
			t.Fatalf("the corpus is not there: %v; FETTLE_CORPUS names its folder", err)
		}
		t.Log("the corpus is not there (FETTLE_CORPUS names its folder): 515 dialogues not run")
		return nil, ""
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var d dialogue
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all, folder
}

// stored proposes what a model once answered, in order.
type stored struct {
	dialogue
	asked int
}

func (s *stored) Name() string { return s.Model }

func (s *stored) Propose(context.Context, planner.Request) (planner.Proposal, error) {
	text := s.Attempts[s.asked].Plan
	s.asked++
	p := reply.Parse(text)
	return planner.Proposal{Steps: p.Steps, Unreadable: p.Unreadable}, nil
}

// solved is how many problems a model solved, by the number of critiques that
// it had received.
var solved = map[string]map[int]int{
	"o1-preview_chat blocksworld_hard":             {0: 26, 1: 33, 2: 18, 3: 9, 4: 13, 5: 4, 6: 5},
	"o1-preview_chat mystery_blocksworld_3":        {0: 82, 1: 13, 2: 2, 3: 1},
	"o1-mini_chat blocksworld_hard":                {0: 1, 1: 3, 2: 5, 3: 2},
	"o1-mini_chat sokoban":                         {0: 6, 1: 1},
	"gpt-4o-mini-2024-07-18_chat blocksworld_hard": {},
	"gpt-4o-mini-2024-07-18_chat sokoban":          {},
}

// unjudged are dialogues that the reference gave no usable answer for, and
// which count as not solved for that: their only plan reaches the goal. By hand,
// for the first: feast a c, succumb a, feast c b, succumb c, attack a and
// overcome a b each find their precondition, and the last adds the goal, craves
// a b.
var unjudged = []string{
	"o1-preview_chat pddl/mystery_blocksworld_3/instance-40.pddl",
	"o1-preview_chat pddl/mystery_blocksworld_3/instance-79.pddl",
}

// overlooked is a dialogue whose first plan has an argument too many in step 2,
// (put-down g table), which the reference let pass; step 3 fails as well.
const overlooked = "o1-mini_chat pddl/blocksworld_hard/instance-40.pddl"

func TestRealDialoguesAreSolvedAfterAsManyCritiquesAsTheyWere(t *testing.T) {
	all, folder := dialogues(t)
	if all == nil {
		return
	}
	got := map[string]map[int]int{}
	for _, d := range all {
		key := d.Model + " " + filepath.Base(filepath.Dir(d.Domain))
		if got[key] == nil {
			got[key] = map[int]int{}
		}
		if n := d.replay(t, folder); n >= 0 {
			got[key][n]++
		}
	}
	if !maps.EqualFunc(got, solved, maps.Equal) {
		t.Errorf("solved, by critiques: %v\nexpected %v", got, solved)
	}
	if len(all) != 515 {
		t.Errorf("%d dialogues, expected 515", len(all))
	}
}

// replay plays a dialogue through a round whose limits are in nobody's way,
// holds each verdict against the stored one, and returns how many critiques
// came before a valid plan; -1 where there is none.
func (d dialogue) replay(t *testing.T, folder string) int {
	t.Helper()
	task, diags, err := pddl.Load(filepath.Join(folder, d.Domain), filepath.Join(folder, d.Problem))
	if err != nil || diags.HasErrors() {
		t.Fatal(err, diags)
	}
	problem := validator.Problem{U: task.U, Start: task.Start, Goal: task.Goal.Cond, GoalName: task.Goal.Name}
	limits := planner.Limits{MaxAttempts: len(d.Attempts)}
	res, err := planner.Round(t.Context(), problem, []planner.Proposer{&stored{dialogue: d}}, limits, planner.Unlimited{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	name := d.Model + " " + d.Problem
	if len(res.Attempts) != len(d.Attempts) {
		t.Errorf("%s: %d attempts of %d", name, len(res.Attempts), len(d.Attempts))
	}
	if slices.Contains(unjudged, name) {
		if res.Status != planner.Valid || d.Attempts[0].Step != "?" {
			t.Errorf("%s: %s, and the reference says %s; expected a valid plan, and ?", name, res.Status, d.Attempts[0].Step)
		}
		return -1
	}
	for i := range res.Attempts {
		a, want := &res.Attempts[i], d.Attempts[i]
		if name == overlooked && i == 0 && a.Kind == validator.WrongArity {
			want.Step = "2"
		}
		// A step of "?": the reference had no usable answer, but for the verdict.
		if got := verdict(a); got != want.Valid || want.Step != "?" && place(a) != want.Step {
			t.Errorf("%s, attempt %d: valid %s, step %s; expected %s, %s\n%s\n%s", name, i+1, got, place(a), want.Valid, want.Step, a.Critique, want.Plan)
		}
	}
	if res.Status != planner.Valid {
		return -1
	}
	return len(res.Attempts) - 1
}

func verdict(a *planner.Attempt) string {
	if a.Outcome == planner.Pass {
		return "yes"
	}
	return "no"
}

// place is an attempt's first failing step as the corpus writes it.
func place(a *planner.Attempt) string {
	switch {
	case a.Outcome == planner.Pass:
		return "-"
	case a.Kind == validator.Goal:
		return "goal"
	}
	return strconv.Itoa(a.Report.Step)
}
