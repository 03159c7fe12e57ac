package executor

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/policy"
)

// Lesson is what a run teaches about planning for a goal: a failure and what
// mended it, both confirmed from outside of whoever planned. The validator's
// critique or the observation of the world is the failure, a plan that the
// validator accepted or effects that were observed are the fix. Nothing in it
// was written by a planner: its texts are made of what the validator said and of
// ground atoms of the model.
//
// It is proposed; see [Lessons] for what becomes of it.
type Lesson struct {
	Number     int64             `json:"number"` // in its scope, from 1; 0: not stored yet
	Goal       string            `json:"goal"`   // as a ground atom
	ModelHash  string            `json:"model_hash"`
	Planner    string            `json:"planner"` // whose plan failed
	Kind       string            `json:"kind"`    // the validator's, or diverged
	Action     string            `json:"action,omitempty"`
	Missing    []string          `json:"missing,omitempty"` // the failed conjuncts, bounded
	Key        policy.FailureKey `json:"failure_key"`
	Failure    string            `json:"failure"` // in one sentence
	Fix        string            `json:"fix"`     // likewise
	Definition string            `json:"definition"`
	Run        string            `json:"run"`
	Failed     []int64           `json:"failed_events"` // numbers of the run's events that show the failure
	Fixed      []int64           `json:"fixed_events"`  // likewise the fix
	At         time.Time         `json:"at"`            // of the fix
}

// LessonsProposed is the kind of the event that tells which lessons a run proposed.
const LessonsProposed = "lessons_proposed"

// Proposed names the lessons that a run proposed at its end, or says why none
// could be.
type Proposed struct {
	Lessons []ProposedLesson `json:"lessons,omitempty"`
	Error   string           `json:"error,omitempty"`
}

// ProposedLesson names one lesson.
type ProposedLesson struct {
	Number int64             `json:"number"`
	Key    policy.FailureKey `json:"failure_key"`
}

// Bounds of a lesson's texts.
const (
	maxLearned   = 20   // lessons that one run proposes
	maxConjuncts = 16   // failed conjuncts that are listed
	maxSentence  = 1000 // bytes of a sentence
	maxKey       = 2000 // bytes of a failure key
	maxFixSteps  = 12   // steps that a fix names
	maxSeqs      = 8    // events that are referred to
)

// boundedKey is the key of a failure, with the number of conjuncts in place of
// those that it has no room for.
func boundedKey(kind, action string, conjuncts []string) policy.FailureKey {
	key := policy.NewFailureKey(kind, action, conjuncts...)
	if len(key) <= maxKey {
		return key
	}
	return policy.NewFailureKey(kind, action, fmt.Sprintf("%d conditions, %s", len(conjuncts), digest(string(key))[:16]))
}

// acceptedInstead says which plan the validator accepted.
func acceptedInstead(steps []PlannedStep) string {
	var names []string
	for _, s := range steps {
		names = append(names, s.Action)
	}
	more := len(names) - maxFixSteps
	names = clipped(names[:min(len(names), maxFixSteps)])
	if more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return sentence("accepted instead: " + strings.Join(names, ", "))
}

// reachedBy says which steps were carried out until what failed was observed;
// the last of many say most.
func reachedBy(failed string, steps []string) string {
	if len(steps) == 1 && steps[0] == failed {
		return "it worked when it was carried out later"
	}
	more := len(steps) - maxFixSteps
	names := clipped(steps[max(0, more):])
	if more > 0 {
		names = append([]string{fmt.Sprintf("%d others", more)}, names...)
	}
	return sentence("reached later by: " + strings.Join(names, ", "))
}

func clipped(names []string) []string {
	out := make([]string, 0, len(names)+1)
	for _, n := range names {
		out = append(out, model.Clip(n))
	}
	return out
}

// sentence bounds a text, without cutting through a character.
func sentence(s string) string {
	if len(s) <= maxSentence {
		return s
	}
	end := maxSentence
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
