package llm

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Exchange is a call and what came of it, as it is recorded. A recording that
// was written by hand needs no more than answers.
type Exchange struct {
	Planner string    `json:"planner,omitempty"`
	Model   string    `json:"model,omitempty"`
	At      time.Time `json:"at,omitzero"`
	MS      float64   `json:"ms,omitempty"`
	Call    *Call     `json:"call,omitempty"`
	Answer  *Answer   `json:"answer,omitempty"`
	Error   string    `json:"error,omitempty"`
	Class   Class     `json:"class,omitempty"`
	Status  int       `json:"status,omitempty"`
}

// Recorder writes exchanges into a folder, a file each, numbered in the order
// in which they began to be written. Safe for concurrent use.
type Recorder struct {
	dir    string
	redact func(string) string

	mu sync.Mutex
	n  int
}

// NewRecorder makes the folder where it is missing. A folder that has files is
// refused: a recording is not mixed with another.
func NewRecorder(dir string, redact func(string) string) (*Recorder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	if len(files) > 0 {
		return nil, fmt.Errorf("record: %s is not empty; name a new folder", dir)
	}
	if redact == nil {
		redact = func(s string) string { return s }
	}
	return &Recorder{dir: dir, redact: redact}, nil
}

// Client returns the client with its exchanges recorded. Where one cannot be
// written the call counts as failed: a recording with holes is none.
func (r *Recorder) Client(c Client, planner, model string) Client {
	return &recorded{c, r, planner, model}
}

type recorded struct {
	next           Client
	r              *Recorder
	planner, model string
}

func (c *recorded) Complete(ctx context.Context, call Call) (Answer, error) {
	began := time.Now()
	a, err := c.next.Complete(ctx, call)
	e := Exchange{Planner: c.planner, Model: c.model, At: began.UTC(), MS: float64(time.Since(began)) / float64(time.Millisecond), Call: &call}
	var failed *CallError
	switch {
	case errors.As(err, &failed):
		e.Error, e.Class, e.Status = failed.Detail, failed.Class, failed.Status
	case err != nil:
		e.Error = err.Error()
	default:
		e.Answer = &a
	}
	if werr := c.r.write(e); werr != nil {
		return a, &CallError{Class: BadRequest, Detail: "record: " + werr.Error(), Err: werr}
	}
	return a, err
}

func (r *Recorder) write(e Exchange) error {
	e.Error = r.redact(e.Error)
	call := *e.Call
	call.System, call.Prompt = r.redact(call.System), r.redact(call.Prompt)
	e.Call = &call
	if e.Answer != nil {
		a := *e.Answer
		a.Text, a.Refusal = r.redact(a.Text), r.redact(a.Refusal)
		e.Answer = &a
	}
	var raw bytes.Buffer
	enc := json.NewEncoder(&raw)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(e); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	return os.WriteFile(filepath.Join(r.dir, fmt.Sprintf("%04d.json", r.n)), raw.Bytes(), 0o600)
}

// replay answers with what was recorded, in order.
type replay struct {
	name string

	mu   sync.Mutex
	left []Exchange
}

// Replay returns a client that answers with the exchanges of a file (JSON, one
// after the other) or of a folder of such files, whatever it is asked. After the
// last its failure is [Ended].
func Replay(path string) (Client, error) {
	files := []string{path}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read the recording: %w", err)
	}
	if info.IsDir() {
		if files, err = filepath.Glob(filepath.Join(escaped(path), "*.json")); err != nil {
			return nil, fmt.Errorf("read the recording: %w", err)
		}
		slices.Sort(files)
	}
	r := &replay{name: path}
	for _, file := range files {
		if err := r.read(file); err != nil {
			return nil, err
		}
	}
	if len(r.left) == 0 {
		return nil, fmt.Errorf("the recording %s is empty", path)
	}
	return r, nil
}

// escaped keeps a folder's name from being read as a pattern.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

func (r *replay) read(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("read the recording: %w", err)
	}
	defer f.Close()
	dec := json.NewDecoder(bufio.NewReader(f))
	dec.DisallowUnknownFields()
	for n := 1; ; n++ {
		var e Exchange
		switch err := dec.Decode(&e); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("recording %s, exchange %d: %w", file, n, err)
		case e.Answer == nil && e.Error == "":
			return fmt.Errorf("recording %s, exchange %d has neither an answer nor an error", file, n)
		}
		if e.Answer != nil && e.Answer.Finish == Cut && e.Call == nil {
			e.Answer.Finish = Stopped // Written by hand.
		}
		r.left = append(r.left, e)
	}
}

func (r *replay) Complete(context.Context, Call) (Answer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.left) == 0 {
		return Answer{}, &CallError{Class: Ended, Detail: "all of " + r.name + " was played"}
	}
	e := r.left[0]
	r.left = r.left[1:]
	if e.Answer == nil {
		return Answer{}, &CallError{Class: e.Class, Status: e.Status, Detail: e.Error}
	}
	return *e.Answer, nil
}
