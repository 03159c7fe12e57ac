package executor

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/fettleops/fettle/journal"
)

// Head is the short record of a run that listings show. It is rewritten in
// place; everything else about a run is in its events.
type Head struct {
	Run     string     `json:"run,omitempty"` // filled in by readers
	Goal    string     `json:"goal"`
	Scope   string     `json:"scope"`
	Status  string     `json:"status"`
	Reason  string     `json:"reason,omitempty"`
	Started time.Time  `json:"started,omitzero"` // filled in by readers
	Ended   *time.Time `json:"ended,omitempty"`
	Rounds  int        `json:"rounds"`
	Actions int        `json:"actions"`
	Host    string     `json:"host"`
	PID     int        `json:"pid"`
}

// NewHead returns the head of a run that begins.
func NewHead(goal, scope, host string, pid int) Head {
	return Head{Goal: goal, Scope: scope, Status: Running, Host: host, PID: pid}
}

// over tells whether the run can neither be gone on with nor be cancelled.
func (h Head) over() bool { return h.Status != Running && h.Status != WaitingStatus }

// Over tells whether a run is over for good: neither under way nor waiting. A
// head that cannot be read is not.
func Over(rec journal.Head) bool {
	var h Head
	return json.Unmarshal(rec.Data, &h) == nil && h.over()
}

// ending says how a run ended, for people.
func (h Head) ending() string {
	if h.Reason != "" {
		return h.Status + " (" + h.Reason + ")"
	}
	return h.Status
}

// ended is the head of a run that ended.
func (h Head) ended(e Ended, at time.Time) Head {
	h.Run, h.Started = "", time.Time{}
	h.Host, h.PID = identity()
	h.Status, h.Reason, h.Rounds, h.Actions = e.Status, e.Reason, e.Rounds, e.Actions
	at = at.UTC()
	h.Ended = &at
	return h
}

func readHead(ctx context.Context, j *journal.Journal, id string) (Head, error) {
	rec, err := j.Head(ctx, id)
	if err != nil {
		return Head{}, err
	}
	var h Head
	if err := json.Unmarshal(rec.Data, &h); err != nil {
		return h, fmt.Errorf("the head of run %s cannot be read: %w", id, err)
	}
	return h, nil
}

func identity() (host string, pid int) {
	host, _ = os.Hostname() // A name for people; none is no reason to fail.
	return host, os.Getpid()
}
