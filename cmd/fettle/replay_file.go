package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/fettleops/fettle/journal"
)

// record is a run that was read from a file.
type record struct {
	events []journal.Event
	bodies map[string][]byte // nil: the file has none
}

// recordLine is a line of an export, which is an event or a body, or of a file of
// the archive, which is a head, an event, a body, or the number of lines.
type recordLine struct {
	journal.Event
	Head  json.RawMessage `json:"head"`
	Of    *journal.Event  `json:"event"`
	Blob  *exportedBody   `json:"blob"`
	Lines int             `json:"lines"`
}

// readRecord reads an exported run, or a file of the archive.
func readRecord(name string) (*record, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := &record{}
	dec := json.NewDecoder(bufio.NewReader(f))
	for n := 1; ; n++ {
		var l recordLine
		err := dec.Decode(&l)
		switch {
		case errors.Is(err, io.EOF) && len(r.events) > 0:
			return r, nil
		case errors.Is(err, io.EOF):
			return nil, fmt.Errorf("%s has no events; `fettle show RUN -o jsonl` writes them", name)
		case err != nil:
			return nil, fmt.Errorf("%s, value %d: %w; it must be what `fettle show RUN -o jsonl` wrote, or a file of the archive", name, n, err)
		}
		if err := r.line(l); err != nil {
			return nil, fmt.Errorf("%s, value %d: %w", name, n, err)
		}
	}
}

func (r *record) line(l recordLine) error {
	switch {
	case l.Blob != nil:
		if r.bodies == nil {
			r.bodies = map[string][]byte{}
		}
		r.bodies[l.Blob.SHA256] = l.Blob.Body
	case l.Kind != "" && l.Of == nil:
		return r.event(l.Event)
	case l.Of != nil:
		return r.event(*l.Of)
	case l.Head == nil && l.Lines == 0:
		return errors.New("it is no event of a run")
	}
	return nil
}

func (r *record) event(e journal.Event) error {
	if n := len(r.events); n > 0 && r.events[n-1].Run != e.Run {
		return fmt.Errorf("it is of run %s, those before are of %s; a file has one run", e.Run, r.events[n-1].Run)
	}
	r.events = append(r.events, e)
	return nil
}

// each yields the events.
func (r *record) each() iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for _, e := range r.events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// body returns what reads the bodies; nil where the file has none.
func (r *record) body() func(sum string) ([]byte, error) {
	if r.bodies == nil {
		return nil
	}
	return func(sum string) ([]byte, error) {
		if b, ok := r.bodies[sum]; ok {
			return b, nil
		}
		return nil, fmt.Errorf("body %s is not in the file", sum)
	}
}
