package model

import (
	"fmt"
	"strconv"
	"strings"
)

// FindAtom looks an atom up by names. The error says what is not there and
// what may have been meant.
func (u *Universe) FindAtom(name string, args []string) (Atom, error) {
	f := u.fluents[name]
	if f == nil {
		var names []string
		for _, f := range u.Fluents {
			names = append(names, f.Name)
		}
		return Atom{}, fmt.Errorf("there is no fluent %s%s", Quote(Clip(name)), didYouMean(name, names))
	}
	objects, err := u.FindArgs(name, f.Params, args)
	return Atom{f, objects}, err
}

// FindArgs looks up the named arguments of a fluent, an action or a goal.
func (u *Universe) FindArgs(name string, params []Param, args []string) ([]int32, error) {
	if len(args) != len(params) {
		return nil, fmt.Errorf("%s takes %s, got %d", name, signature(params), len(args))
	}
	var objects []int32
	for i, p := range params {
		o, err := u.findObject(p.Type, args[i])
		if err != nil {
			return nil, err
		}
		objects = append(objects, o)
	}
	return objects, nil
}

func (u *Universe) findObject(t *Type, name string) (int32, error) {
	if o, ok := u.Find(t, name); ok {
		return o, nil
	}
	var names []string
	for _, o := range u.Objects(t) {
		names = append(names, u.Name(t, o))
	}
	if t.Enum {
		return 0, fmt.Errorf("%q is none of %s%s", Clip(name), strings.Join(quoted(names), ", "), didYouMean(name, names))
	}
	return 0, fmt.Errorf("there is no %s %q%s", t, Clip(name), didYouMean(name, names))
}

func quoted(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = strconv.Quote(n)
	}
	return out
}

func didYouMean(name string, names []string) string {
	if near := Nearest(name, names); near != "" {
		return "; did you mean " + Quote(near) + "?"
	}
	return ""
}
