package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/model"
)

// LessonDeed is what became of a lesson.
type LessonDeed string

// The deeds. Whoever approves a lesson supersedes the approved one that has the
// same goal and failure key.
const (
	ApproveLesson   LessonDeed = "approve"
	RejectLesson    LessonDeed = "reject"
	SupersedeLesson LessonDeed = "supersede"
)

// LessonState is how a lesson stands.
type LessonState string

// The states of lessons. Only approved ones reach a prompt.
const (
	LessonProposed   LessonState = "proposed"
	LessonApproved   LessonState = "approved"
	LessonRejected   LessonState = "rejected"
	LessonSuperseded LessonState = "superseded"
	LessonStale      LessonState = "stale" // proposed or approved, but what it is about has changed since in the model
)

var stateAfter = map[LessonDeed]LessonState{
	ApproveLesson: LessonApproved, RejectLesson: LessonRejected, SupersedeLesson: LessonSuperseded,
}

// LessonDecision records that a person decided on a lesson. The last one counts.
type LessonDecision struct {
	Number int64      `json:"number"` // among all decisions, from 1
	Lesson int64      `json:"lesson"`
	Deed   LessonDeed `json:"deed"`
	By     string     `json:"by"`
	Host   string     `json:"host,omitempty"`
	Reason string     `json:"reason,omitempty"`
	For    int64      `json:"for,omitempty"` // the lesson that was approved in its place
	At     time.Time  `json:"at"`
}

// Standing is a lesson and how it stands.
type Standing struct {
	Lesson
	State     LessonState      `json:"state"`
	Decisions []LessonDecision `json:"decisions"` // in their order

	decided LessonState // by people, whatever the model is now
}

// All returns the lessons in the order of their numbers, as they stand under a model.
func (s Lessons) All(ctx context.Context, u *model.Universe) ([]Standing, error) {
	all, err := s.load(ctx)
	if err != nil {
		return nil, err
	}
	return all.standing(u), nil
}

func (s stored) standing(u *model.Universe) []Standing {
	decided := map[int64][]LessonDecision{}
	for _, d := range s.decisions {
		decided[d.Lesson] = append(decided[d.Lesson], d)
	}
	out := make([]Standing, 0, len(s.lessons))
	for _, l := range s.lessons {
		st := Standing{Lesson: l, Decisions: []LessonDecision{}, decided: LessonProposed}
		for _, d := range decided[l.Number] {
			st.Decisions = append(st.Decisions, d)
			st.decided = stateAfter[d.Deed]
		}
		st.State = st.decided
		if st.decided == LessonProposed || st.decided == LessonApproved {
			if def, ok := Definition(u, l.Kind, l.Action, l.Goal); !ok || def != l.Definition {
				st.State = LessonStale
			}
		}
		out = append(out, st)
	}
	return out
}

// Ruling is what a decision came to.
type Ruling struct {
	Standing
	Already    bool    `json:"already,omitempty"`    // it stood so before, and nothing was written
	Superseded []int64 `json:"superseded,omitempty"` // lessons in whose place it is now
}

// ErrNoLesson says that there is no lesson of that number.
var ErrNoLesson = errors.New("there is no such lesson")

// Decide approves or rejects a lesson by the word of a person; a decision may be
// changed by another. One that is stale cannot be approved.
func (s Lessons) Decide(ctx context.Context, u *model.Universe, number int64, deed LessonDeed, by, reason string) (Ruling, error) {
	for range maxTries {
		all, err := s.load(ctx)
		if err != nil {
			return Ruling{}, err
		}
		d, records, err := all.decide(u, number, deed)
		if err != nil || d.Already {
			return d, err
		}
		host, _ := identity()
		for i := range records {
			rec := &records[i]
			rec.Number, rec.By, rec.Host, rec.Reason, rec.At = all.next()+int64(i), by, host, reason, time.Now().UTC()
		}
		if done, err := s.write(ctx, records); err != nil || done {
			d.State, d.Decisions = stateAfter[deed], append(d.Decisions, records[0])
			return d, err
		}
	}
	return Ruling{}, errContended
}

// decide says what a decision comes to: its own record first, then one for each
// lesson that it supersedes.
func (s stored) decide(u *model.Universe, number int64, deed LessonDeed) (Ruling, []LessonDecision, error) {
	var d Ruling
	all := s.standing(u)
	for _, st := range all {
		if st.Number == number {
			d.Standing = st
		}
	}
	switch {
	case d.Number == 0:
		return d, nil, fmt.Errorf("%w: %d", ErrNoLesson, number)
	case d.decided == stateAfter[deed]:
		d.Already = true
		return d, nil, nil
	case deed == ApproveLesson:
		if def, ok := Definition(u, d.Kind, d.Action, d.Goal); !ok || def != d.Definition {
			return d, nil, fmt.Errorf("lesson %d is stale: %s was changed in the model since; nothing would use it", number, d.about())
		}
	}
	records := []LessonDecision{{Lesson: number, Deed: deed}}
	for _, st := range all {
		if deed == ApproveLesson && st.Number != number && st.decided == LessonApproved && st.Goal == d.Goal && st.Key == d.Key {
			d.Superseded = append(d.Superseded, st.Number)
			records = append(records, LessonDecision{Lesson: st.Number, Deed: SupersedeLesson, For: number})
		}
	}
	return d, records, nil
}

// next is the number of the next decision.
func (s stored) next() int64 {
	if n := len(s.decisions); n > 0 {
		return s.decisions[n-1].Number + 1
	}
	return 1
}

// about names what the definition is of.
func (l Lesson) about() string {
	if l.Action == "" {
		return "goal " + schemaName(l.Goal)
	}
	return "action " + schemaName(l.Action)
}

// write writes records in one transaction. False: others came before.
func (s Lessons) write(ctx context.Context, records []LessonDecision) (bool, error) {
	var when []clientv3.Cmp
	var then []clientv3.Op
	for _, rec := range records {
		raw, err := json.Marshal(rec)
		if err != nil {
			return false, fmt.Errorf("encode a decision: %w", err)
		}
		key := s.decision(rec.Number)
		when, then = append(when, s.absent(key)), append(then, clientv3.OpPut(key, string(raw)))
	}
	resp, err := s.txn(ctx, when, then...)
	if err != nil {
		return false, fmt.Errorf("record a decision: %w", err)
	}
	return resp.Succeeded, nil
}
