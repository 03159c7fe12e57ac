package planner

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"

	"github.com/fettleops/fettle/model"
)

// file proposes one plan that was written beforehand.
type file struct {
	name string
	read func() (Proposal, error)
}

// NewFile returns a proposer of the one plan that the sequence yields, which is
// read at the first question and kept: a later round is answered with the same
// plan. A part that cannot be read is a violation of the plan; an error of
// reading is an error, now and later.
func NewFile(name string, steps iter.Seq2[model.Step, error]) Proposer {
	return &file{name, sync.OnceValues(func() (Proposal, error) { return readFile(steps) })}
}

func (f *file) Name() string { return f.name }

func (f *file) Propose(context.Context, Request) (Proposal, error) {
	p, err := f.read()
	p.Steps = slices.Clone(p.Steps)
	return p, err
}

func readFile(steps iter.Seq2[model.Step, error]) (Proposal, error) {
	p := Proposal{Final: true}
	for st, err := range steps {
		if err == nil {
			st.Args, st.Params = slices.Clone(st.Args), slices.Clone(st.Params) // readers reuse them
			p.Steps = append(p.Steps, st)
			continue
		}
		if !errors.As(err, &p.Unreadable) {
			return Proposal{}, err
		}
		break // it is the first violation that cannot be passed over
	}
	return p, nil
}
