package model

import (
	"fmt"
	"slices"
	"strings"
)

// FaultKind says what is wrong with a step in itself. The words are those of
// the command line's JSON.
type FaultKind string

// The kinds of faults.
const (
	UnknownAction  FaultKind = "unknown_action"
	WrongArity     FaultKind = "wrong_arity"
	UnknownObject  FaultKind = "unknown_object"
	WrongType      FaultKind = "wrong_type"
	EffectConflict FaultKind = "effect_conflict"
)

// Fault is a step that means nothing in the model. The message is a sentence
// for a person, without the step's number and with names at most as long as
// [Clip] leaves them.
type Fault struct {
	Kind    FaultKind
	Message string
}

// Step is a ground action as written: names, not yet looked up.
type Step struct {
	Action string
	Args   []string
	Params []string // where arguments were given by parameter name, else nil
	Line   int      // where it was written, from 1; 0 where not known
}

// String writes the step in the grammar of ground atoms.
func (st Step) String() string {
	if len(st.Args) == 0 {
		return st.Action
	}
	return FormatAtom(st.Action, st.Args...)
}

// Ground is an action with an object for each parameter, of the right type.
type Ground struct {
	Action *Action
	Args   []int32
}

// Bind looks a step up. It fills args, which it may grow, so that the caller
// can reuse one slice for many steps; nil is fine.
func (u *Universe) Bind(st Step, args []int32) (Ground, *Fault) {
	a := u.actions[st.Action]
	if a == nil && u.FoldCase {
		a = u.actions[strings.ToLower(st.Action)]
	}
	if a == nil {
		return Ground{}, u.unknownAction(st.Action)
	}
	if f := st.stray(a); f != nil {
		return Ground{}, f
	}
	if len(st.Args) != len(a.Params) {
		return Ground{}, arityFault(st, a)
	}
	args = args[:0]
	for i, p := range a.Params {
		name, f := st.arg(a, i)
		if f != nil {
			return Ground{}, f
		}
		o, ok := u.Find(p.Type, name)
		if !ok && u.FoldCase {
			name = strings.ToLower(name)
			o, ok = u.Find(p.Type, name)
		}
		if !ok {
			return Ground{}, u.objectFault(st, a, p, name)
		}
		args = append(args, o)
	}
	return Ground{a, args}, nil
}

// stray reports an argument whose name is that of no parameter.
func (st Step) stray(a *Action) *Fault {
	var names []string
	for _, given := range st.Params {
		if slices.ContainsFunc(a.Params, func(p Param) bool { return p.Name == given }) {
			continue
		}
		for _, p := range a.Params {
			names = append(names, p.Name)
		}
		return &Fault{WrongArity, fmt.Sprintf("%q is no parameter of %s; it takes %s%s", Clip(given), a.Name, signature(a.Params), didYouMean(given, names))}
	}
	return nil
}

// arg returns the name given for parameter i.
func (st Step) arg(a *Action, i int) (string, *Fault) {
	if st.Params == nil {
		return st.Args[i], nil
	}
	for k, p := range st.Params {
		if p == a.Params[i].Name {
			return st.Args[k], nil
		}
	}
	return "", &Fault{WrongArity, fmt.Sprintf("%s has no argument for %s; it takes %s", st.Action, a.Params[i].Name, signature(a.Params))}
}

// StepText writes a ground action: drain(api).
func (u *Universe) StepText(g Ground) string {
	if len(g.Args) == 0 {
		return g.Action.Name
	}
	return FormatAtom(g.Action.Name, u.Names(g.Action.Params, g.Args)...)
}

// Step returns the ground action as a step with names.
func (u *Universe) Step(g Ground) Step {
	return Step{Action: g.Action.Name, Args: u.Names(g.Action.Params, g.Args)}
}

// maxListed is how many actions a message names.
const maxListed = 12

func (u *Universe) unknownAction(name string) *Fault {
	var names []string
	for _, a := range u.Actions {
		names = append(names, a.Name)
	}
	msg := "there is no action " + Quote(Clip(name))
	if near := nearestAction(name, names); near != "" {
		msg += "; did you mean " + u.actions[near].Signature() + "?"
	} else if n := len(names) - maxListed; n > 0 {
		msg += fmt.Sprintf("; the model has %s and %d more", strings.Join(names[:maxListed], ", "), n)
	} else if len(names) > 0 {
		msg += "; the model has " + strings.Join(names, ", ")
	}
	return &Fault{UnknownAction, msg}
}

func signature(params []Param) string {
	if len(params) == 0 {
		return "no argument"
	}
	n := "1 argument"
	if len(params) > 1 {
		n = fmt.Sprintf("%d arguments", len(params))
	}
	var ps []string
	for _, p := range params {
		ps = append(ps, p.Name+" "+p.Type.String())
	}
	return n + " (" + strings.Join(ps, ", ") + ")"
}

func arityFault(st Step, a *Action) *Fault {
	msg := fmt.Sprintf("%s takes %s, got %d", a.Name, signature(a.Params), len(st.Args))
	if len(st.Args) > 0 {
		msg += ": " + Clip(st.String())
	}
	return &Fault{WrongArity, msg}
}

func (u *Universe) objectFault(st Step, a *Action, p Param, name string) *Fault {
	for _, t := range u.Types {
		if _, ok := u.Find(t, name); ok && !t.Enum {
			t = u.narrowest(t, name)
			return &Fault{WrongType, fmt.Sprintf("%s: %s is %s, %s takes %s", Clip(st.String()), Quote(Clip(name)), article(t.Name), a.Name, expected(a, p))}
		}
	}
	var names []string
	for _, o := range u.Objects(p.Type) {
		names = append(names, u.Name(p.Type, o))
	}
	msg := fmt.Sprintf("%s: there is no %s %q", Clip(st.String()), p.Type, Clip(name))
	if near := Nearest(name, names); near != "" {
		msg += "; did you mean " + Quote(near) + "? " + a.Name
	} else {
		msg += "; " + a.Name
	}
	return &Fault{UnknownObject, msg + " takes " + signature(a.Params)}
}

// expected says what an action takes for a parameter, and for the others.
func expected(a *Action, p Param) string {
	s := article(p.Type.String())
	if len(a.Params) > 1 {
		s += "; " + a.Name + " takes " + signature(a.Params)
	}
	return s
}

// narrowest returns the deepest subtype of t's root that has the object.
func (u *Universe) narrowest(t *Type, name string) *Type {
	for _, s := range u.Types {
		if _, ok := u.Find(s, name); ok && s != t && s.IsA(t) {
			t = s
		}
	}
	return t
}

func article(noun string) string {
	if noun != "" && strings.ContainsRune("aeiouAEIOU", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}
