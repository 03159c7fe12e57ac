package validator

import (
	"cmp"
	"slices"

	"github.com/fettleops/fettle/model"
)

// maxFillers bounds the objects that are tried for an argument that is missing.
const maxFillers = 256

// misspelt tries what a step that means nothing was most likely meant to be:
// the action with the nearest name, the objects with the nearest names, an
// argument too many left out, two exchanged.
func (r *repairer) misspelt() bool { return r.replace(r.k, r.meanings(false)) }

// filled tries the same with any object for one argument that is missing or
// unlike every object's name.
func (r *repairer) filled() bool { return r.replace(r.k, r.meanings(true)) }

func (r *repairer) meanings(fill bool) []model.Ground {
	st := r.v.unbound
	if st == nil {
		return nil
	}
	var found []model.Ground
	for _, a := range r.meant(st.Action) {
		for _, args := range alignments(given(st, a), len(a.Params)) {
			found = r.resolve(found, a, args, fill)
		}
	}
	return found
}

// meant returns the actions that the name may stand for, the likeliest first:
// nearly half of the letters of both are common, or more.
func (r *repairer) meant(name string) []*model.Action {
	if a := r.v.U.Action(name); a != nil {
		return []*model.Action{a}
	}
	var actions []*model.Action
	differ := map[*model.Action]int{}
	for _, a := range r.v.U.Actions {
		r.left -= float64(len(name)*len(a.Name)) / 16
		if d := apart(name, a.Name); 20*d <= 11*(len(name)+len(a.Name)) {
			actions = append(actions, a)
			differ[a] = d
		}
	}
	slices.SortStableFunc(actions, func(a, b *model.Action) int { return cmp.Compare(differ[a], differ[b]) })
	return actions
}

// given returns the arguments in the order of the action's parameters, those
// that name no parameter last.
func given(st *model.Step, a *model.Action) []string {
	if st.Params == nil {
		return st.Args
	}
	var args []string
	used := make([]bool, len(st.Params))
	for _, p := range a.Params {
		if i := slices.Index(st.Params, p.Name); i >= 0 {
			args, used[i] = append(args, st.Args[i]), true
		}
	}
	for i, u := range used {
		if !u {
			args = append(args, st.Args[i])
		}
	}
	return args
}

// alignments lays the arguments out over n parameters, "" where one is missing:
// as they are, two exchanged, one left out or one put in.
func alignments(args []string, n int) [][]string {
	var out [][]string
	switch d := len(args) - n; {
	case d == 0:
		out = append(out, args)
		for i := range args {
			for j := range i {
				swapped := slices.Clone(args)
				swapped[i], swapped[j] = args[j], args[i]
				out = append(out, swapped)
			}
		}
	case d == 1:
		for i := range args {
			out = append(out, slices.Delete(slices.Clone(args), i, i+1))
		}
	case d == -1:
		for i := range n {
			out = append(out, slices.Insert(slices.Clone(args), i, ""))
		}
	case d > 1:
		out = append(out, args[:n])
	}
	return out
}

// resolve adds the ground action that the names stand for or, to be filled, those
// that they leave open by one argument.
func (r *repairer) resolve(found []model.Ground, a *model.Action, names []string, fill bool) []model.Ground {
	args, hole := make([]int32, len(names)), -1
	for i, name := range names {
		o, ok := r.nearest(a.Params[i].Type, name)
		if !ok && hole >= 0 {
			return found
		}
		if args[i] = o; !ok {
			hole = i
		}
	}
	switch {
	case hole < 0 && !fill:
		return append(found, model.Ground{Action: a, Args: args})
	case hole < 0 || !fill:
		return found
	}
	objects := r.v.U.Objects(a.Params[hole].Type)
	for _, o := range objects[:min(len(objects), maxFillers)] {
		args := slices.Clone(args)
		args[hole] = o
		found = append(found, model.Ground{Action: a, Args: args})
	}
	return found
}

// nearest finds the object of the type with this name, or with the nearest.
func (r *repairer) nearest(t *model.Type, name string) (int32, bool) {
	if o, ok := r.v.U.Find(t, name); ok {
		return o, true
	}
	var names []string
	for _, o := range r.v.U.Objects(t) {
		names = append(names, r.v.U.Name(t, o))
	}
	if r.left -= float64(len(names)); r.spent() {
		return 0, false
	}
	return r.v.U.Find(t, model.Nearest(name, names))
}
