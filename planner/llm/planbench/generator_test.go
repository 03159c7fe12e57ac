package planbench

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/planner/llm"
	"github.com/fettleops/fettle/planner/llm/prompt"
	"github.com/fettleops/fettle/planner/llm/reply"
)

const folder = "../../../examples"

func tasks(t *testing.T) []Task {
	t.Helper()
	ts, err := Tasks(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	return ts
}

// exchange is a question and its answer.
type exchange struct{ prompt, answer string }

// listener keeps what is said.
type listener struct {
	llm.Client
	said []exchange
}

func (l *listener) Complete(ctx context.Context, c llm.Call) (llm.Answer, error) {
	a, err := l.Client.Complete(ctx, c)
	l.said = append(l.said, exchange{c.Prompt, a.Text})
	return a, err
}

// listen plays one run and returns what was said.
func listen(t *testing.T, task Task, arm prompt.Feedback, m Model, run uint64) []exchange {
	t.Helper()
	l := &listener{Client: NewGenerator(m, task.Meant, 1, run)}
	if _, err := (Bench{Calls: 6}).run(t.Context(), task, arm, l); err != nil {
		t.Fatal(err)
	}
	return l.said
}

func answers(es []exchange) (out []string) {
	for _, e := range es {
		out = append(out, e.answer)
	}
	return out
}

// TestTheGeneratorReadsBackWhatItSaid from the question, for every task and
// degree of feedback, and what the validator says of it.
func TestTheGeneratorReadsBackWhatItSaid(t *testing.T) {
	asked := 0
	for _, task := range tasks(t) {
		for _, arm := range Arms {
			said := listen(t, task, arm, Model{Error: 0.4, Uptake: 0.5, Insight: 0.5}, 1)
			for i := 1; i < len(said); i++ {
				q, err := readQuestion(said[i].prompt)
				if err != nil {
					t.Fatal(err)
				}
				var want []string
				for _, st := range reply.Parse(said[i-1].answer).Steps {
					want = append(want, st.String())
				}
				if arm == prompt.None {
					want = nil
				}
				if !slices.Equal(q.last, want) {
					t.Errorf("%s, %s: read %q, said %q", task.Example, arm, q.last, want)
				}
				if told := len(q.critique) > 0; told != (arm != prompt.None && arm != prompt.Binary) {
					t.Errorf("%s, %s: critique %q", task.Example, arm, q.critique)
				}
				if told := len(q.named()) > 0; told != (len(q.critique) > 0) {
					t.Errorf("%s, %s: %q names no step", task.Example, arm, q.critique)
				}
				asked++
			}
		}
	}
	if asked < 100 {
		t.Errorf("only %d questions after the first", asked)
	}
}

// TestTheQuestionNamesWhatThereIs: the generator knows the actions and objects
// of the model, from the question alone.
func TestTheQuestionNamesWhatThereIs(t *testing.T) {
	for _, task := range tasks(t) {
		q, err := readQuestion(listen(t, task, prompt.First, Model{}, 0)[0].prompt)
		if err != nil {
			t.Fatal(err)
		}
		for _, st := range task.Meant {
			name, args, err := model.ParseAtom(st)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(q.actions, action{name, len(args)}) {
				t.Errorf("%s: %s is not among %v", task.Example, name, q.actions)
			}
			for _, o := range args {
				if !slices.Contains(q.objects, o) {
					t.Errorf("%s: %s is not among %v", task.Example, o, q.objects)
				}
			}
		}
	}
}

// TestNothingIsHeededThatIsNotSaid: without a critique, what a generator would
// make of one changes no answer.
func TestNothingIsHeededThatIsNotSaid(t *testing.T) {
	for _, task := range tasks(t) {
		for _, arm := range []prompt.Feedback{prompt.None, prompt.Binary} {
			deaf := listen(t, task, arm, Model{Error: 0.3, Repetition: 0.2}, 5)
			keen := listen(t, task, arm, Model{Error: 0.3, Repetition: 0.2, Uptake: 1, Insight: 1, Literal: true}, 5)
			if !slices.Equal(answers(deaf), answers(keen)) {
				t.Errorf("%s, %s: %q\n%q", task.Example, arm, answers(deaf), answers(keen))
			}
		}
		for i, e := range listen(t, task, prompt.None, Model{Error: 0.4}, 5) {
			if first := listen(t, task, prompt.None, Model{Error: 0.4}, 5)[0].prompt; e.prompt != first {
				t.Errorf("%s: question %d differs from the first", task.Example, i+1)
			}
		}
	}
}

// TestTheSameFirstPlanIsMetInEachArm so that arms differ by their feedback
// alone.
func TestTheSameFirstPlanIsMetInEachArm(t *testing.T) {
	task := tasks(t)[0]
	for run := range uint64(20) {
		want := listen(t, task, prompt.None, Model{Error: 0.3}, run)[0]
		for _, arm := range Arms {
			if got := listen(t, task, arm, Model{Error: 0.3, Uptake: 0.7, Repetition: 0.2, Habit: 0.5}, run)[0]; got.answer != want.answer {
				t.Errorf("%s: %s, not %s", arm, got.answer, want.answer)
			}
		}
	}
}

// TestHabitsAndRepetition: with either, a wrong plan comes again and again; the
// last plan cannot be repeated where it is not told.
func TestHabitsAndRepetition(t *testing.T) {
	for _, tt := range []struct {
		name string
		arm  prompt.Feedback
		m    Model
		same bool
	}{
		{"habit", prompt.None, Model{Error: 0.5, Habit: 1}, true},
		{"repetition", prompt.Binary, Model{Error: 0.5, Repetition: 1}, true},
		{"nothing told", prompt.None, Model{Error: 0.5, Repetition: 1}, false},
		{"neither", prompt.Binary, Model{Error: 0.5}, false},
	} {
		got := answers(listen(t, tasks(t)[0], tt.arm, tt.m, 2))
		if same := len(slices.Compact(slices.Clone(got))) == 1; same != tt.same || len(got) < 2 {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}

// TestMistakesAreAsFrequentAsTheRateSays and of every kind.
func TestMistakesAreAsFrequentAsTheRateSays(t *testing.T) {
	q := &question{actions: []action{{"a", 1}, {"b", 1}}, objects: []string{"x", "y"}}
	plan := slices.Repeat([]string{"a(x)"}, 10_000)
	count := map[kind]int{}
	for _, s := range q.slips(plan, 0.3, rand.New(rand.NewPCG(1, 2))) {
		count[s.kind]++
	}
	if n := count[right]; n < 6900 || n > 7100 {
		t.Errorf("%d of 10000 steps are right, want about 7000", n)
	}
	for k := dropped; k < kinds; k++ {
		if n := count[k]; n < 500 || n > 700 {
			t.Errorf("%d mistakes of kind %d, want about 600", n, k)
		}
	}
}

// TestEveryStartIsATaskOfItsOwn with a plan that has some length.
func TestEveryStartIsATaskOfItsOwn(t *testing.T) {
	seen, starts := map[string]bool{}, map[string]int{}
	for _, task := range tasks(t) {
		text := listen(t, task, prompt.None, Model{}, 0)[0].prompt
		if seen[text] {
			t.Errorf("%s %q: the same question as before", task.Example, task.Start)
		}
		if strings.Contains(text, "worked example") {
			t.Errorf("%s: the question has an example, whose steps may be the plan's", task.Example)
		}
		seen[text] = true
		starts[task.Example]++
		if len(task.Meant) < 4 {
			t.Errorf("%s %q: %q is too short", task.Example, task.Start, task.Meant)
		}
	}
	for name, n := range starts {
		if n < 3 {
			t.Errorf("%s: %d starts", name, n)
		}
	}
	if len(starts) < 5 {
		t.Errorf("%d models", len(starts))
	}
}
