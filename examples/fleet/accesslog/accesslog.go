// Package accesslog is the record a fleet's control API keeps of every request
// made to it: one JSON object a line, in the order in which requests ended.
//
// Start and end of a request draw their numbers from one counter, so that
// "ended before the other began" is a comparison of two integers and needs no
// clock. The end is numbered before the answer leaves, so a caller that waits
// for one answer before it sends the next request is always logged in order.
package accesslog

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
)

// Kinds of requests.
const (
	Raise   = "raise"   // a fence is raised
	Act     = "act"     // something is changed
	Observe = "observe" // something is read
	Admin   = "admin"   // a fault is injected
)

// Entry is one request to the control API.
type Entry struct {
	Seq       int64     `json:"seq"` // Position at which the request began.
	End       int64     `json:"end"` // Position at which it ended, from the same counter.
	Started   time.Time `json:"started"`
	Finished  time.Time `json:"finished"`
	Kind      string    `json:"kind"`
	Method    string    `json:"method"`
	Path      string    `json:"path"`
	Status    int       `json:"status"`
	Fence     int64     `json:"fence,omitempty"` // Zero: none was given.
	Armed     int64     `json:"armed,omitempty"` // At which revision the act was written down, as it says.
	ActionID  string    `json:"action_id,omitempty"`
	Run       string    `json:"run,omitempty"`
	Step      string    `json:"step,omitempty"`
	Writes    []string  `json:"writes,omitempty"`    // What an act said it may write.
	Resources []string  `json:"resources,omitempty"` // What a raise was for.
	Unfenced  bool      `json:"unfenced,omitempty"`  // An act without a fence.
	Repeat    bool      `json:"repeat,omitempty"`    // An act answered from memory and not done again.
	Reason    string    `json:"reason,omitempty"`    // Why it was refused or failed.
	Agent     string    `json:"agent,omitempty"`
}

// Log writes entries. It is safe for concurrent use.
type Log struct {
	mu  sync.Mutex
	seq int64
	w   io.Writer
}

// New makes a log that writes to w. Its numbers go on after those of the
// entries that w holds already.
func New(w io.Writer, already []Entry) *Log {
	l := &Log{w: w}
	for _, e := range already {
		l.seq = max(l.seq, e.Seq, e.End)
	}
	return l
}

// Begin numbers the start of a request.
func (l *Log) Begin(e *Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seq++
	e.Seq, e.Started = l.seq, time.Now()
}

// Finish numbers the end of a request and writes its line.
func (l *Log) Finish(e *Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seq++
	e.End, e.Finished = l.seq, time.Now()
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("access log: %w", err)
	}
	if _, err := l.w.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("access log: %w", err)
	}
	return nil
}

// Read reads a whole log. A last line that is not ended yet is left for the
// next reading.
func Read(r io.Reader) ([]Entry, error) {
	var out []Entry
	br := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := br.ReadBytes('\n')
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, fmt.Errorf("access log: %w", err)
		}
		var e Entry
		if err := json.Unmarshal(line, &e); err != nil {
			return out, fmt.Errorf("access log line %d: %w", n, err)
		}
		out = append(out, e)
	}
}
