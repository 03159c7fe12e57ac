package planbench

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/validator"
)

// TestWhatIsNamedIsMended by whoever writes without mistakes.
func TestWhatIsNamedIsMended(t *testing.T) {
	const meant = "drain(a) restart(a) readd(a) drain(b) revert(b) readd(b)"
	for _, tt := range []struct {
		name, last string
		critique   []string
		insight    float64
		want       string // "": nothing to be mended is found
	}{
		{"the step itself", "drain(a) restart(b) readd(a) drain(b) revert(b)", []string{"step 2: no"}, 0, "drain(a) restart(a) readd(a) drain(b) revert(b)"},
		{"the step left out before it", "drain(a) readd(a) drain(b) revert(b) readd(b)", []string{"step 2: no"}, 0, meant},
		{"one of two that are swapped", "drain(a) restart(a) drain(b) readd(a) revert(b) readd(b)", []string{"step 3: no"}, 0, meant},
		{"a cause before it, not seen", "restart(a) readd(a) drain(b) revert(b) readd(b)", []string{"step 2: no"}, 0, ""},
		{"a cause before it, seen", "restart(a) readd(a) drain(b) revert(b) readd(b)", []string{"step 2: no"}, 1, meant},
		{"a cause before it, explained", "restart(a) readd(a) revert(b) readd(b)", []string{"step 2: no", "  x is false", "  would be achieved by sing(a, b) (applicable now), drain(a)"}, 0, "drain(a) restart(a) readd(a) revert(b) readd(b)"},
		{"what made it false", "drain(a) drain(a) restart(a) readd(a) revert(b) readd(b)", []string{"step 3: no", "  x = false since step 2: drain(a)"}, 0, "drain(a) restart(a) readd(a) revert(b) readd(b)"},
		{"nothing before it differs", "drain(a) restart(a) readd(a) drain(b) readd(b)", []string{"step 2: no"}, 1, ""},
		{"the end", "drain(a) restart(a) drain(b) revert(b)", []string{"goal not reached after 4 steps; missing x"}, 0, "drain(a) restart(a) drain(b) revert(b) readd(b)"},
		{"each that fails", "drain(b) restart(a) readd(b) drain(b) revert(b)", []string{"step 1: no", "step 3: no", "without these steps the goal is not reached; missing x"}, 0, meant},
		{"one cause of several failures, once", "restart(a) readd(a) drain(b) readd(b)", []string{"step 1: no", "step 2: no", "without these steps the goal is not reached; missing x"}, 1, "drain(a) restart(a) readd(a) drain(b) revert(b) readd(b)"},
		{"all that is too much", "drain(a) drain(a) restart(a) readd(a) sing(a) drain(b) revert(b) readd(b)", []string{"step 2: no", "step 5: no", "without these steps the plan reaches the goal"}, 0, meant},
		{"local advice towards the plan", "drain(a) readd(a) revert(b)", []string{"step 2: no", "  would mend step 2, but not the whole plan: insert restart(a) before step 2"}, 0, "drain(a) restart(a) readd(a) revert(b)"},
		{"local advice away from it", "drain(a) restart(a) restart(a) readd(a) drain(b) revert(b) readd(b)", []string{"step 3: no", "  would mend step 3, but not the whole plan: insert sing(a) before step 3"}, 0, meant},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := &question{last: strings.Fields(tt.last), critique: tt.critique}
			got, ok := (hand{q, Model{Insight: tt.insight}, strings.Fields(meant), rand.New(rand.NewPCG(1, 1))}).mend()
			if strings.Join(got, " ") != tt.want || ok != (tt.want != "") {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestVerifiedRepairsAreFollowedToValidPlans: the advice is read as the
// validator means it, in each of its forms.
func TestVerifiedRepairsAreFollowedToValidPlans(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	forms := map[string]int{}
	for _, task := range tasks(t) {
		q := &question{objects: objects(task)}
		for _, a := range task.Problem.U.Actions {
			q.actions = append(q.actions, action{a.Name, len(a.Params)})
		}
		for range 60 {
			bad := write(task.Meant, q.slips(task.Meant, 0.1, r))
			rep := validate(t, task, bad)
			if rep.Repair == "" {
				continue
			}
			q.last, q.critique = bad, []string{rep.Critique, "  repair: " + rep.Repair}
			good, ok := (hand{q, Model{}, task.Meant, r}).mend()
			if !ok || !validate(t, task, good).Valid {
				t.Errorf("%q, repaired by %q, gives %q", bad, rep.Repair, good)
			}
			form, _, _ := strings.Cut(rep.Repair, " ")
			forms[form]++
		}
	}
	for _, form := range []string{"delete", "move", "insert", "append", "replace"} {
		if forms[form] == 0 {
			t.Errorf("no repair says %s: %v", form, forms)
		}
	}
}

func objects(task Task) (names []string) {
	u := task.Problem.U
	for _, typ := range u.Types {
		for _, o := range u.Objects(typ) {
			names = append(names, u.Name(typ, o))
		}
	}
	return names
}

func validate(t *testing.T, task Task, plan []string) validator.Report {
	t.Helper()
	return validator.Validate(task.Problem, func(yield func(model.Step, error) bool) {
		for _, text := range plan {
			name, args, err := model.ParseAtom(text)
			if err != nil {
				t.Fatal(err)
			}
			if !yield(model.Step{Action: name, Args: args}, nil) {
				return
			}
		}
	})
}

// TestEditsLeadToThePlanThatIsMeant, and one mistake takes one.
func TestEditsLeadToThePlanThatIsMeant(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	q := &question{actions: []action{{"a", 1}, {"b", 1}, {"c", 1}}, objects: []string{"x", "y", "z"}}
	for range 2000 {
		meant := make([]string, 1+r.IntN(9))
		for i := range meant {
			meant[i] = q.actions[r.IntN(3)].name + "(" + q.objects[r.IntN(3)] + ")"
		}
		slips := q.slips(meant, 0.3, r)
		bad := write(meant, slips)
		es := edits(bad, meant)
		plan := bad
		for _, e := range slices.Backward(es) {
			plan = (hand{q: q, r: r}).do(plan, e)
		}
		if !slices.Equal(plan, meant) {
			t.Fatalf("%q by %v gives %q, want %q", bad, es, plan, meant)
		}
		wrong := 0
		for _, s := range slips {
			if s.kind != right {
				wrong++
			}
		}
		if len(es) > wrong {
			t.Fatalf("%q takes %d edits to %q, but has %d mistakes", bad, len(es), meant, wrong)
		}
	}
}
