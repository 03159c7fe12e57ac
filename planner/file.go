package planner

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/fettleops/fettle/model"
)

// file proposes one plan that was written beforehand.
type file struct {
	name  string
	steps iter.Seq2[model.Step, error]
}

// NewFile returns a proposer of the one plan that the sequence yields, which is
// read at the first question. A part that cannot be read is a violation of the
// plan; an error of reading is an error.
func NewFile(name string, steps iter.Seq2[model.Step, error]) Proposer { return &file{name, steps} }

func (f *file) Name() string { return f.name }

func (f *file) Propose(context.Context, Request) (Proposal, error) {
	p := Proposal{Final: true}
	for st, err := range f.steps {
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
