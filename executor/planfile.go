package executor

import (
	"context"
	"fmt"

	"github.com/fettleops/fettle/journal"
)

// PlanFile is a plan that a run is given to carry out in place of planning, as
// it was read. The journal keeps it, so that whoever goes on with the run has it.
type PlanFile struct {
	Name string // of the file, - for stdin
	Text []byte
}

// GivenPlan is where the journal has the plan that a run was given.
type GivenPlan struct {
	File string `json:"file"`
	journal.Ref
}

func (p *PlanFile) given() *GivenPlan {
	if p == nil {
		return nil
	}
	return &GivenPlan{File: p.Name, Ref: journal.NewBlob(p.Text).Ref}
}

func (p *PlanFile) blobs() []journal.Blob {
	if p == nil {
		return nil
	}
	return []journal.Blob{journal.NewBlob(p.Text)}
}

// PlanOf reads the plan that a run was given last; nil where it plans for itself.
func PlanOf(ctx context.Context, j *journal.Journal, id string) (*PlanFile, error) {
	events, err := eventsOf(ctx, j, id)
	if err != nil {
		return nil, err
	}
	var last *GivenPlan
	for _, e := range events {
		if e.Kind != RunStarted && e.Kind != RunResumed {
			continue
		}
		err := foldErr(e, func(v struct {
			Plan *GivenPlan `json:"plan"`
		},
		) error {
			if v.Plan != nil {
				last = v.Plan
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("event %d (%s) of run %s: %w", e.Seq, e.Kind, id, err)
		}
	}
	switch {
	case last == nil:
		return nil, nil
	case last.Cut:
		return nil, fmt.Errorf("plan %s of run %s has %d bytes, of which the journal keeps the beginning alone; give it again with --plan FILE", last.File, id, last.Size)
	}
	text, err := j.Blob(ctx, id, last.SHA256)
	if err != nil {
		return nil, fmt.Errorf("plan %s of run %s: %w", last.File, id, err)
	}
	return &PlanFile{Name: last.File, Text: text}, nil
}
