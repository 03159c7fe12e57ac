package notify

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/fettleops/fettle/executor"
)

// SchemaVersion is the version of the messages' form. Fields may be added
// without a new one.
const SchemaVersion = 1

// Message is what is told, as JSON: the body of a request, or the stdin of a
// program. Every text of it is bounded, and so is every list: where there is
// more, the journal has it, see Next. Its texts are those of the journal, with
// the values of sensitive variables taken out.
type Message struct {
	Version   int        `json:"version"`
	ID        string     `json:"id"`        // the same for every try and every notifier: whoever knows it has been told
	Occasions []Occasion `json:"occasions"` // those of them that the notifier asked for
	Text      string     `json:"text"`      // the whole in a sentence or two, for a chat or a pager

	Run     string    `json:"run"`
	Goal    string    `json:"goal"`
	Scope   string    `json:"scope"`
	Status  string    `json:"status"` // of the run
	Reason  string    `json:"reason,omitempty"`
	Message string    `json:"message,omitempty"`
	Started time.Time `json:"started"`
	Since   time.Time `json:"since"` // of the status, or of the wait
	Rounds  int       `json:"rounds"`
	Actions int       `json:"actions"`
	Seconds float64   `json:"seconds"`
	CostUSD float64   `json:"cost_usd,omitempty"`

	LeftOut []string `json:"left_out,omitempty"` // what held when the run began and does not now, or could not be put back
	InDoubt []string `json:"in_doubt,omitempty"` // actions of unknown outcome, with their ids
	Undone  []string `json:"undone,omitempty"`   // conditions of the goal that do not hold
	Owed    []string `json:"owed,omitempty"`     // decisions that a person owes
	Next    []string `json:"next,omitempty"`     // commands to type, at Host
	More    int      `json:"more,omitempty"`     // entries that the lists have no room for

	Time time.Time `json:"time"` // of the event that was the occasion
	Host string    `json:"host"` // that drove the run
	PID  int       `json:"pid"`
}

const (
	maxEntries = 10
	maxText    = 300 // characters
	maxSummary = 600
)

// ended makes the message of a run's end.
func (s *story) ended(e executor.Ended, seq int64, at time.Time) Message {
	m := s.message(fmt.Sprintf("%s-%d", s.run, seq), at)
	m.Status, m.Reason, m.Message, m.Since = e.Status, clean(e.Reason), clean(e.Message), at
	m.Rounds, m.Actions, m.Seconds, m.CostUSD = e.Rounds, e.Actions, e.Seconds, e.Cost
	m.Occasions = []Occasion{Occasion(e.Status)}
	m.More = e.UndoneMore
	m.LeftOut = m.list(s.leftOut(e))
	m.InDoubt = m.list(e.InDoubt)
	m.Undone = m.list(conditions(e.Undone))
	m.Owed = m.list(e.Owed)
	if len(m.LeftOut) > 0 {
		m.Occasions = append(m.Occasions, LeftOut)
	}
	if len(m.InDoubt) > 0 {
		m.Occasions = append(m.Occasions, InDoubt)
	}
	return m
}

// waitingLong makes the message of a wait that lasts.
func (s *story) waitingLong(w wait, lasted time.Duration) Message {
	m := s.message(fmt.Sprintf("%s-%d-long", s.run, w.seq), w.since.Add(lasted))
	m.Occasions, m.Status, m.Reason, m.Since = []Occasion{WaitingLong}, executor.Running, w.reason, w.since
	m.Message = clean(w.why)
	m.Seconds = m.Time.Sub(s.started).Seconds()
	return m
}

func (s *story) message(id string, at time.Time) Message {
	return Message{
		Version: SchemaVersion, ID: id, Run: s.run, Goal: clean(s.goal), Scope: clean(s.scope), Started: s.started,
		Rounds: s.round, Actions: s.actions, Time: at, Host: clean(s.host), PID: s.pid,
	}
}

// list bounds a list and counts what it leaves out.
func (m *Message) list(all []string) []string {
	var out []string
	for i, text := range all {
		if i == maxEntries {
			m.More += len(all) - i
			break
		}
		out = append(out, clean(text))
	}
	return out
}

// summary says the message in a sentence or two.
func (m Message) summary() string {
	head := fmt.Sprintf("fettle: %s, goal %s: run %s ", m.Scope, m.Goal, m.Run)
	switch {
	case m.Occasions[0] == WaitingLong:
		head += fmt.Sprintf("has waited since %s", m.Since.Format(time.RFC3339))
	case m.Reason != "":
		head += fmt.Sprintf("%s (%s)", verb(m.Status), strings.ReplaceAll(m.Reason, "_", " "))
	default:
		head += verb(m.Status)
	}
	parts := []string{head}
	if m.Message != "" {
		parts[0] += ": " + m.Message
	}
	for _, list := range []struct {
		what    string
		entries []string
	}{{"left worse than it was", m.LeftOut}, {"in doubt", m.InDoubt}, {"you owe", m.Owed}} {
		if len(list.entries) > 0 {
			parts = append(parts, list.what+": "+strings.Join(list.entries, ", "))
		}
	}
	text := clip(strings.Join(parts, ". "), maxSummary)
	if len(m.Next) > 0 {
		text += ". Next: " + m.Next[0]
	}
	return text
}

// verb says what a run of the status did.
func verb(status string) string {
	switch status {
	case executor.WaitingStatus:
		return "waits"
	case executor.Cancelled:
		return "was cancelled"
	}
	return status
}

// conditions names those that do not hold, each with what was seen of it.
func conditions(all []executor.Missing) []string {
	var out []string
	for _, m := range all {
		text := m.Condition
		if m.Unknown {
			text += " (unknown)"
		}
		for _, f := range m.Because {
			if f.Error != "" {
				text += ": " + f.Error
				break
			}
		}
		out = append(out, text)
	}
	return out
}

// clean makes a text from the world one line that no pager and no terminal
// reads a command into, and bounds it.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r): // Directions and joiners among them.
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(s, "�"))
	return clip(s, maxText)
}

// clip shortens a text to so many characters.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	n := 0
	for at := range s {
		if n++; n > most {
			return s[:at] + "…"
		}
	}
	return s
}
