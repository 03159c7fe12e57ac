package planbench

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/model/load"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/planner/search"
	"github.com/fettleops/fettle/validator"
)

// Task is a problem of one of the examples.
type Task struct {
	Example string
	Start   string // what is changed of the example's own start
	Problem validator.Problem
	Meant   []string // a plan that is right, the search's
}

// start is one of an example's: its goal, and what is changed of its named
// state, such as "!mem_ok(db)".
type start struct{ goal, changes string }

// example is a model and the starts from which it is planned.
type example struct {
	name   string
	starts []start
}

var examples = []example{
	{"classic", []start{
		{"healthy", ""}, {"healthy", "!mem_ok(db) version_ok(db)"}, {"healthy", "!version_ok(api)"}, {"healthy", "!mem_ok(db)"},
	}},
	{"coordinated", []start{
		{"healthy", ""}, {"healthy", "!in_lb(api) drained(api)"}, {"healthy", "!lock_free lock(db)"}, {"healthy", "!version_ok(api)"},
	}},
	{"fleet", []start{
		{"healthy", ""}, {"healthy", "!in_lb(web) !up(web)"}, {"healthy", "!mem_ok(worker)"}, {"healthy", "!version_ok(web) !up(web)"},
	}},
	{"node-reboot", []start{
		{"patched", ""}, {"rebooted(cp1)", ""}, {"patched", "current(cp1) current(cp2)"}, {"patched", "current(w1) cordoned(w2)"},
	}},
	{"postgres-failover", []start{
		{"primary_serving", ""}, {"rejoined(pg1)", ""}, {"primary_serving", "isolated(pg1)"}, {"primary_serving", "in_reads(pg4) !in_reads(pg2)"},
	}},
}

// Tasks loads the examples below a folder, those of one after the other. Each
// call loads them anew: states are not shared between goroutines.
func Tasks(ctx context.Context, folder string) ([]Task, error) {
	var out []Task
	for _, e := range examples {
		for _, s := range e.starts {
			t, err := newTask(ctx, folder, e.name, s)
			if err != nil {
				return nil, fmt.Errorf("%s, %s from %q: %w", e.name, s.goal, s.changes, err)
			}
			out = append(out, t)
		}
	}
	return out, nil
}

func newTask(ctx context.Context, folder, name string, s start) (Task, error) {
	l, diags := load.Model(filepath.Join(folder, name), load.Options{LookupEnv: func(string) (string, bool) { return "", false }})
	if diags.HasErrors() {
		return Task{}, diags
	}
	t := Task{Example: name, Start: s.changes}
	named := l.Model.States[0]
	u := model.NewUniverse(l.Model, model.NewUniverse(l.Model).NamedObjects(named)...)
	t.Problem = validator.Problem{U: u, Start: u.Named(named)}
	if err := t.set(s); err != nil {
		return t, err
	}
	found, err := planner.Round(ctx, t.Problem, []planner.Proposer{planner.NewSearch("search", search.Options{})}, planner.Limits{MaxAttempts: 1}, planner.Unlimited{}, nil, nil)
	if err != nil {
		return t, err
	}
	if found.Status != planner.Valid || len(found.Plan) == 0 {
		return t, fmt.Errorf("the search answers %s: %s", found.Status, found.Reason)
	}
	for _, st := range found.Plan {
		t.Meant = append(t.Meant, st.String())
	}
	return t, nil
}

// set gives the problem its goal and its start.
func (t *Task) set(s start) error {
	u := t.Problem.U
	name, args, err := model.ParseAtom(s.goal)
	if err != nil {
		return err
	}
	for _, g := range u.Goals {
		if g.Name != name {
			continue
		}
		t.Problem.Goal, t.Problem.GoalName, t.Problem.Allowed = g.Cond, s.goal, g.Actions
		if t.Problem.GoalArgs, err = u.FindArgs(name, g.Params, args); err != nil {
			return err
		}
	}
	for _, fact := range strings.Fields(s.changes) {
		bare, not := strings.CutPrefix(fact, "!")
		name, args, err := model.ParseAtom(bare)
		if err != nil {
			return err
		}
		a, err := u.FindAtom(name, args)
		if err != nil {
			return err
		}
		t.Problem.Start.Set(a, model.BoolValue(!not))
	}
	return nil
}
