package planbench

import (
	"math/rand/v2"
	"slices"

	"github.com/fettleops/fettle/model"
)

// kind is a way to get a step wrong.
type kind uint8

const (
	right kind = iota
	dropped
	swapped // with the next
	wrongObject
	wrongAction
	doubled
	kinds
)

// slip is how one step of a plan is written: right, or wrong in one way.
type slip struct {
	kind kind
	text string // of a step with another object or action
}

// slips draws how each step of a plan is written, each wrong at the given rate.
func (q *question) slips(plan []string, rate float64, r *rand.Rand) []slip {
	out := make([]slip, len(plan))
	for i, st := range plan {
		out[i] = q.slip(st, rate, i == len(plan)-1, r)
	}
	return out
}

// slip draws how a step is written. Each kind of mistake that the step can have
// is as likely as any other.
func (q *question) slip(st string, rate float64, last bool, r *rand.Rand) slip {
	if r.Float64() >= rate {
		return slip{}
	}
	for {
		s := slip{kind: right + 1 + kind(r.IntN(int(kinds-1)))}
		switch s.kind {
		case swapped:
			if last {
				continue
			}
		case wrongObject:
			s.text = q.otherObject(st, r)
		case wrongAction:
			s.text = q.otherAction(st, r)
		}
		if s.text != "" || s.kind != wrongObject && s.kind != wrongAction {
			return s
		}
	}
}

// otherObject returns the step with another object for one of its own, "" where
// it has none or there is no other.
func (q *question) otherObject(st string, r *rand.Rand) string {
	name, args, err := model.ParseAtom(st)
	if err != nil || len(args) == 0 {
		return ""
	}
	at := r.IntN(len(args))
	others := slices.DeleteFunc(slices.Clone(q.objects), func(o string) bool { return o == args[at] })
	if len(others) == 0 {
		return ""
	}
	args[at] = others[r.IntN(len(others))]
	return model.Step{Action: name, Args: args}.String()
}

// otherAction returns the step with another action that takes as many objects,
// "" where there is none.
func (q *question) otherAction(st string, r *rand.Rand) string {
	name, args, err := model.ParseAtom(st)
	if err != nil {
		return ""
	}
	var others []string
	for _, a := range q.actions {
		if a.name != name && a.args == len(args) {
			others = append(others, a.name)
		}
	}
	if len(others) == 0 {
		return ""
	}
	return model.Step{Action: others[r.IntN(len(others))], Args: args}.String()
}

// write writes a plan with these slips. A step that its neighbour changes places
// with is written right.
func write(plan []string, slips []slip) []string {
	var out []string
	for i := 0; i < len(plan); i++ {
		switch s := slips[i]; s.kind {
		case dropped:
		case swapped:
			out = append(out, plan[i+1], plan[i])
			i++
		case doubled:
			out = append(out, plan[i], plan[i])
		case wrongObject, wrongAction:
			out = append(out, s.text)
		default:
			out = append(out, plan[i])
		}
	}
	return out
}
