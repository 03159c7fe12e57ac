package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/journal"
)

// bodyKind is the kind of the lines that end an export: no events, but bodies
// that the events refer to. Who looks for events passes over them.
const bodyKind = "body"

// bodyLine is such a line.
type bodyLine struct {
	Run  string       `json:"run"`
	Kind string       `json:"kind"`
	Blob exportedBody `json:"blob"`
}

// exportedBody is a body as a file has it, in base64.
type exportedBody struct {
	SHA256 string `json:"sha256"`
	Body   []byte `json:"body"`
}

// exportRun writes the events of a run, a line each, and then the bodies without
// which it could not be replayed from that.
func (a *app) exportRun(ctx context.Context, s *store, id string) error {
	enc := json.NewEncoder(a.out)
	var sums []string
	err := each(s.journal.Events(ctx, id), func(e journal.Event) error {
		sums = append(sums, executor.BodiesOf(e)...)
		return enc.Encode(e)
	})
	if err != nil {
		return err
	}
	written := map[string]bool{}
	for _, sum := range sums {
		if written[sum] {
			continue
		}
		written[sum] = true
		body, err := s.journal.Blob(ctx, id, sum)
		if errors.Is(err, journal.ErrNotFound) {
			continue // Who replays the export is told what is missing.
		}
		if err == nil {
			err = enc.Encode(bodyLine{id, bodyKind, exportedBody{sum, body}})
		}
		if err != nil {
			return err
		}
	}
	return nil
}
