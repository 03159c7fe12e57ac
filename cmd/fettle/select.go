package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/model/load"
)

// pickState returns the state that --state names: a state block, or a JSON
// file. With nothing named it is the model's one state. The state may name
// objects of discovered types that u lacks: go on with its own universe.
func pickState(l *load.Loaded, u *model.Universe, arg string) (*model.State, error) {
	if arg == "" {
		switch n := len(l.Model.States); n {
		case 0:
			return nil, errors.New("this model has no state block: name a JSON file with --state FILE, such as one that `fettle observe -o json` wrote")
		case 1:
			return namedState(u, l.Model.States[0]), nil
		default:
			return nil, fmt.Errorf("this model has %d states: name one with --state, of %s", n, stateNames(l.Model))
		}
	}
	if n := l.Model.State(arg); n != nil {
		return namedState(u, n), nil
	}
	data, err := os.ReadFile(arg)
	if errors.Is(err, os.ErrNotExist) && !strings.ContainsAny(arg, `/\.`) {
		return nil, noSuchState(l.Model, arg)
	}
	if err != nil {
		return nil, fmt.Errorf("read the state: %w", err)
	}
	return parseState(u, arg, data)
}

func namedState(u *model.Universe, n *model.NamedState) *model.State {
	if found := u.NamedObjects(n); len(found) > 0 {
		u = u.With(found...)
	}
	return u.Named(n)
}

func parseState(u *model.Universe, file string, data []byte) (*model.State, error) {
	found, err := u.CheckStateObjects(data)
	if err != nil {
		return nil, fmt.Errorf("state %s: %w", file, err)
	}
	if found = append(found, observedObjects(u.Model, data)...); len(found) > 0 {
		u = u.With(found...)
	}
	s, err := u.ParseState(data)
	if err != nil {
		return nil, fmt.Errorf("state %s: %w", file, err)
	}
	return s, nil
}

func stateNames(m *model.Model) string {
	var names []string
	for _, s := range m.States {
		names = append(names, s.Name)
	}
	return strings.Join(names, ", ")
}

func noSuchState(m *model.Model, name string) error {
	if len(m.States) == 0 {
		return fmt.Errorf("there is no state %q and no such file; this model has no state block", name)
	}
	return fmt.Errorf("there is no state %q and no such file; the model has %s", name, stateNames(m))
}

// pickGoal returns the goal that --goal names, with its arguments:
// "restored(api)". With nothing named it is the model's one goal, and nil where
// it has none. The name is the goal as it is to be shown.
func pickGoal(l *load.Loaded, u *model.Universe, arg string) (goal *model.Goal, args []int32, name string, err error) {
	if arg == "" {
		switch n := len(l.Model.Goals); n {
		case 0:
			return nil, nil, "", nil
		case 1:
			arg = l.Model.Goals[0].Name
			if len(l.Model.Goals[0].Params) > 0 {
				return nil, nil, "", fmt.Errorf("the goal takes arguments: name it with --goal %q", goalForm(l.Model.Goals[0]))
			}
		default:
			return nil, nil, "", fmt.Errorf("this model has %d goals: name one with --goal, of %s", n, goalForms(l.Model))
		}
	}
	if of, most, ok := noWorse(arg); ok {
		return pickSeverity(l, u, of, most)
	}
	name, words := arg, []string(nil)
	if goal = l.Model.Goal(arg); goal == nil { // a block's label need not be an atom's name
		if name, words, err = model.ParseAtom(arg); err != nil {
			return nil, nil, "", fmt.Errorf("goal %q: %w", arg, err)
		}
		goal = l.Model.Goal(name)
	}
	if goal == nil {
		return nil, nil, "", noSuchGoal(l.Model, name)
	}
	if args, err = u.FindArgs(goal.Name, goal.Params, words); err != nil {
		return nil, nil, "", fmt.Errorf("goal %q: %w", arg, err)
	}
	if len(words) > 0 {
		name = model.FormatAtom(name, words...)
	}
	return goal, args, name, nil
}

func noSuchGoal(m *model.Model, name string) error {
	if len(m.Goals) == 0 {
		return fmt.Errorf("there is no goal %q; this model has no goal block", name)
	}
	var names []string
	for _, g := range m.Goals {
		names = append(names, g.Name)
	}
	if near := model.Nearest(name, names); near != "" {
		return fmt.Errorf("there is no goal %q; did you mean %s?", name, near)
	}
	return fmt.Errorf("there is no goal %q; the model has %s", name, goalForms(m))
}

func goalForms(m *model.Model) string {
	var forms []string
	for _, g := range m.Goals {
		forms = append(forms, goalForm(g))
	}
	return strings.Join(forms, ", ")
}

// goalForm writes a goal with its parameters' types: restored(service).
func goalForm(g *model.Goal) string {
	if len(g.Params) == 0 {
		return g.Name
	}
	return (&model.Action{Name: g.Name, Params: g.Params}).Signature()
}
