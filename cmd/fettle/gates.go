package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/lease"
)

// gate is what a run that has not ended is at, or waits for, and since when.
type gate struct {
	Gate  string     `json:"gate"`
	What  string     `json:"what"`
	Since *time.Time `json:"since,omitempty"`
	Until *time.Time `json:"until,omitempty"` // it opens then, or can be passed until then
	Next  []string   `json:"next,omitempty"`  // commands that lead through it
}

// The gates. Of those that are shut a person or the world has the key; at the
// others the run is at work.
const (
	gateKilled   = "killed"    // its process is gone
	gateApproval = "approval"  // a person is asked
	gatePaused   = "paused"    // the kill switch is on
	gateBusy     = "busy"      // somebody else holds what is needed
	gateInDoubt  = "in_doubt"  // the outcome of an action is unknown
	gateWindow   = "window"    // a rule says not now
	gateLimit    = "limit"     // all controllers together have done enough for now
	gateResume   = "resume"    // nothing is in the way: it is to be gone on with
	atObserving  = "observing" // the world is looked at
	atPlanning   = "planning"  // a planner is asked
	atActing     = "acting"    // an action is carried out
	atRestoring  = "restoring" // the same, on the way back
)

// situation is all that the gates of a run are told from.
type situation struct {
	head    executor.Head
	driven  bool // some process drives it
	stand   stand
	pause   *lease.PauseRecord // nil: nothing is paused
	held    []lease.Holder     // by others
	queued  []lease.Holder     // the run's own tickets
	intents []lease.Intent     // the run's own actions without an outcome
	replies []executor.Reply   // to its questions, the oldest first
	posed   bool               // a question of it is kept, and can be answered
	now     time.Time
}

// gates tells what a run that has not ended is at, what is in its way first.
func (s situation) gates() []gate {
	var out []gate
	switch {
	case s.head.Status == executor.WaitingStatus:
		out = append(out, s.waits())
	case !s.driven:
		out = append(out, s.killed())
	default:
		out = append(out, s.working())
	}
	if s.pause != nil && out[0].Gate != gatePaused {
		out = append(out, s.paused())
	}
	if s.head.Status == executor.WaitingStatus || !s.driven {
		for _, in := range s.intents {
			out = append(out, s.doubt(in))
		}
	}
	return out
}

func (s situation) killed() gate {
	last := s.stand.last
	what := fmt.Sprintf("nobody drives it: pid %d on %s did, and is gone; its last word was: %s", s.head.PID, s.head.Host, s.stand.what)
	return gate{Gate: gateKilled, What: what, Since: instant(last), Next: []string{"fettle resume " + s.head.Run, "fettle cancel " + s.head.Run}}
}

// working tells what a run is at that a process drives.
func (s situation) working() gate {
	g := gate{Gate: s.stand.at, What: s.stand.what, Since: instant(s.stand.since)}
	switch g.Gate {
	case gateApproval:
		return s.asked(g)
	case gateBusy:
		if now := s.inTheWay(); now != "" {
			g.What = now
		}
		g.Next = []string{"fettle leases"}
	}
	return g
}

// asked tells of a question that waits for a person.
func (s situation) asked(g gate) gate {
	g.What = s.stand.question()
	if q := s.stand.asked; q != nil {
		g.Since, g.Until = instant(s.stand.askedAt), q.Expires
	}
	g.Next = []string{"fettle approve " + s.head.Run, "fettle reject " + s.head.Run}
	return g
}

// waits tells what a run waits for that gave control back.
func (s situation) waits() gate {
	e := s.stand.ended
	g := gate{Gate: s.head.Reason, What: e.Message, Since: instant(s.stand.endedAt)}
	resume := []string{"fettle resume " + s.head.Run}
	through := func(why string) gate { return gate{Gate: gateResume, What: why, Since: g.Since, Next: resume} }
	switch g.Gate {
	case gateApproval:
		if why, at := s.reply(); why != "" {
			return gate{Gate: gateResume, What: why, Since: instant(at), Next: resume}
		}
		if g = s.asked(g); g.Until != nil && !s.now.Before(*g.Until) {
			return gate{Gate: gateResume, What: g.What + "; the question is too old to be answered, and is put again", Since: g.Until, Next: resume}
		}
		if !s.posed { // An older version asked.
			g.What += ": it is put again once the run is gone on with"
			g.Next = nil
		}
		g.Next = append(g.Next, resume...)
		return g
	case gatePaused:
		if s.pause == nil {
			return through("it stopped for a pause that is over by now")
		}
		g = s.paused()
	case gateBusy:
		if still := s.stillHeld(e.Message); still != "" {
			g.What = still
		} else if strings.Contains(e.Message, " is held ") {
			return through("what it waited for is no longer held as it was: " + e.Message)
		}
		g.Next = []string{"fettle leases"}
	case gateWindow, gateLimit:
		if g.Until = instant(s.stand.opened()); g.Until != nil && !s.now.Before(*g.Until) {
			return gate{Gate: gateResume, What: "what it waited for is over", Since: g.Until, Next: resume}
		}
	}
	g.Next = append(g.Next, resume...)
	return g
}

// isAnswered tells whether a person has answered what a run waits with, so that
// nothing is in the way of going on.
func isAnswered(gates []gate) bool { return len(gates) > 0 && gates[0].Gate == gateResume }

func (s situation) paused() gate {
	what := fmt.Sprintf("by %s: %s", s.pause.By, s.pause.Reason)
	if s.pause.By == "" { // A record that another version wrote.
		what = s.pause.String()
	}
	return gate{Gate: gatePaused, What: what, Since: instant(s.pause.Since), Next: []string{"fettle unpause"}}
}

func (s situation) doubt(in lease.Intent) gate {
	what := fmt.Sprintf("whether %s (%s) took effect is unknown; whoever goes on observes first", in.Owner.Action, in.ID)
	return gate{Gate: gateInDoubt, What: what, Since: instant(in.Since), Next: []string{"fettle intents"}}
}

// reply tells what a person said last, and when, where it is of the question
// that the run waits with.
func (s situation) reply() (string, time.Time) {
	if len(s.replies) == 0 {
		return "", time.Time{}
	}
	r := s.replies[len(s.replies)-1]
	switch {
	case r.At.Before(s.stand.since):
		return "", time.Time{}
	case r.Answer == executor.AnswerNo && r.Feedback != "":
		return fmt.Sprintf("rejected by %s, who says what to do otherwise: it plans anew", r.By), r.At
	case r.Answer == executor.AnswerNo:
		return fmt.Sprintf("rejected by %s", r.By), r.At
	case r.Expires != nil && !s.now.Before(*r.Expires):
		return fmt.Sprintf("approved by %s, but that expired: it is asked again", r.By), r.At
	}
	return fmt.Sprintf("approved by %s", r.By), r.At
}

// inTheWay names who holds what the run waits for at this moment.
func (s situation) inTheWay() string {
	var out []string
	for _, h := range s.held {
		if h.Owner.Run == s.head.Run {
			continue
		}
		for _, t := range s.queued {
			if wantsAny(t.Wants, h.Resource) {
				out = append(out, h.String())
				break
			}
		}
	}
	return strings.Join(out, "; ")
}

func wantsAny(wants []lease.Resource, held lease.Resource) bool {
	for _, w := range wants {
		same := w.Instance == held.Instance || w.Instance == "" || held.Instance == ""
		if w.Fluent == held.Fluent && same && (w.Exclusive || held.Exclusive) {
			return true
		}
	}
	return false
}

// stillHeld names those of the holders in a message that hold the same lease yet.
func (s situation) stillHeld(message string) string {
	var out []string
	for _, h := range s.held {
		if text := h.String(); strings.Contains(message, text) {
			out = append(out, text)
		}
	}
	return strings.Join(out, "; ")
}
