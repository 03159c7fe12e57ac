package reply_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/planner/llm/reply"
	"github.com/fettleops/fettle/validator"
)

// corpus returns the folder of real replies, or "" where it is not there:
// FETTLE_CORPUS, a path from the repository's root, by default
// ../shared/corpus. FETTLE_CORPUS_ALL asks for it to be there.
func corpus(t *testing.T, cases string) string {
	t.Helper()
	dir := cmp.Or(os.Getenv("FETTLE_CORPUS"), filepath.Join("..", "shared", "corpus"))
	if !filepath.IsAbs(dir) {
		dir = filepath.Join("..", "..", "..", dir)
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

// raw is a reply of a language model, and what a study's extractor took from it.
type raw struct{ ID, Reply, Extracted string }

func replies(t *testing.T, dir string) []raw {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "llm", "replies.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	var out []raw
	for lines.Scan() {
		var r raw
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// text writes steps as PDDL does, in lower case.
func text(steps []model.Step) string {
	var lines []string
	for _, st := range steps {
		lines = append(lines, strings.ToLower("("+strings.Join(append([]string{st.Action}, st.Args...), " ")+")"))
	}
	return strings.Join(lines, "\n")
}

// expected reads what the extractor took: the plan, and whether something in it
// cannot be read.
func expected(t *testing.T, extracted string) (plan string, broken bool) {
	t.Helper()
	var steps []model.Step
	for st, err := range validator.ReadPlan(strings.NewReader(extracted)) {
		if err != nil {
			return text(steps), true
		}
		st.Args = append([]string(nil), st.Args...)
		steps = append(steps, st)
	}
	return text(steps), false
}

// twice are replies that write their plan twice, as a list and once more as
// PDDL, or with an explanation of each step. The extractor took one plan of
// twice the length, which is not what the model means.
var twice = []string{
	"844a65eb8c4f", "6c535b7a4e1c", "94907a28647f", "54b31618e58d", "74edc3464060", "d832bc65ad00", "5003951af008", "08f86ddf3e97",
	"24e8bcecba3e", "3023df7f923e", "4cafa42c89aa", "985d32ff85d6", "60e6133e705c", "6c23f34094ca", "ec41b2b5e6f1", "60e606d2b303",
}

// invented are replies with actions that their domain does not have, by name.
// The extractor knew the domain and left them out, so that a plan was judged
// that the model did not write; here they are steps, and the validator says that
// there is no such action. A reader that does not know the domain cannot tell
// (plan_end) from them.
var invented = map[string]string{
	"e4124b78948f": "standup", "b0066e45dda4": "pickup", "3c287ae89dc4": "no-op", "ec5ab2e549c8": "plan_end",
	"e4b0a425eca1": "kip9uw7814n006", "b89606f8911f": "kip9uw7814n006", "dc36c182cd99": "kip9uw7814n006", "241954d7db69": "kip9uw7814n006",
}

// unreadable are replies with something between steps, by its line: a step in
// square brackets, which the extractor passed over; and a sentence between the
// plan and a list of facts, which look like steps to who does not know the
// domain. The steps before are the same.
var unreadable = map[string]int{"6833f59de966": 9, "8ce60294f193": 10}

func TestFromEveryRealReplyTheSamePlanIsTakenAsTheStudyTook(t *testing.T) {
	dir := corpus(t, "975 replies")
	if dir == "" {
		return
	}
	all := replies(t, dir)
	for _, r := range all {
		want, broken := expected(t, r.Extracted)
		p := reply.Parse(r.Reply)
		got := text(p.Steps)
		same := got == want && (p.Unreadable != nil) == broken
		switch line := unreadable[r.ID]; {
		case slices.Contains(twice, r.ID):
			same = got+"\n"+got == want && p.Unreadable == nil
		case invented[r.ID] != "":
			same = got != want && without(p.Steps, invented[r.ID]) == want && p.Unreadable == nil
		case line > 0:
			same = strings.HasPrefix(want, got) && p.Unreadable != nil && p.Unreadable.Line == line
		case want == "": // No plan was taken: so it is here, for whatever reason.
			same = got == ""
		}
		if !same {
			t.Errorf("%s: unreadable: %v\n%s\n--- expected\n%s\n--- reply\n%s", r.ID, p.Unreadable, got, want, r.Reply)
		}
	}
	if len(all) != 975 {
		t.Errorf("%d replies, expected 975", len(all))
	}
}

// without writes the steps but for those of an action.
func without(steps []model.Step, action string) string {
	return text(slices.DeleteFunc(slices.Clone(steps), func(st model.Step) bool { return strings.EqualFold(st.Action, action) }))
}

// saysNone are replies whose first words are that there is no plan; emptyPlan
// are those that say (): a plan without steps. Every other reply without a plan
// is unreadable, one that comes to that conclusion in its last words among them.
var (
	saysNone  = []string{"c8310e93073c", "703f03caa450", "7c108de38e1b", "c82d6a4d8e06"}
	emptyPlan = []string{"ec0a8b4d719b", "24194e360506", "ecd536ca1cd9", "4898ee1a277f"}
)

func TestRealRepliesWithoutAPlanAreToldApart(t *testing.T) {
	dir := corpus(t, "22 replies without a plan")
	if dir == "" {
		return
	}
	n := 0
	for _, r := range replies(t, dir) {
		if r.Extracted != "" || invented[r.ID] != "" {
			continue
		}
		n++
		p := reply.Parse(r.Reply)
		none, empty := slices.Contains(saysNone, r.ID), slices.Contains(emptyPlan, r.ID)
		if p.NoPlan != none || (p.Unreadable == nil) != (none || empty) {
			t.Errorf("%s: no plan %v (%s), unreadable %v\n%s", r.ID, p.NoPlan, p.Reason, p.Unreadable, r.Reply)
		}
	}
	if n != 22 {
		t.Errorf("%d replies, expected 22", n)
	}
}
