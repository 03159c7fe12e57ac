package executor

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/policy"
)

// ReplayModel is what the decisions of a run are derived again with.
type ReplayModel struct {
	Universe *model.Universe
	Goal     *model.Goal
	GoalArgs []int32
	Policy   *policy.Policy
	Settings map[*model.Action]Settings
}

// ReplaySource is a run that is to be replayed.
type ReplaySource struct {
	Events iter.Seq2[journal.Event, error]
	// Body returns a body of the run by its digest; nil: there are none, as in an
	// export.
	Body func(sum string) ([]byte, error)
	// Model returns the model that the run was driven with: for its goal, of this
	// hash, as the journal has it; nil where that does not have it.
	Model func(goal, hash string, recorded *RecordedModel) (ReplayModel, error)
	// Version is that of this program. Sentences of another version are not
	// compared, only what they say is.
	Version string
	// Other says that Model gives another model than the run's: what it would
	// have decided is asked at every decision, on the way that the run went.
	Other bool
	// All is how many differences are looked for; 0 and 1: the first.
	All int
}

// Replayed is what came of a replay.
type Replayed struct {
	Run       string         `json:"run"`
	Goal      string         `json:"goal"`
	Events    int            `json:"events"`
	Decisions int            `json:"decisions"`         // derived again
	By        map[string]int `json:"by"`                // those, by what they decided
	Taken     map[string]int `json:"taken,omitempty"`   // what was taken as recorded, by what it is
	Unknown   map[string]int `json:"unknown,omitempty"` // events of kinds that this version does not know
	Differs   []Difference   `json:"differs"`
	Whole     bool           `json:"whole"` // the run had ended, or waited, when it was read
}

// Difference is a decision that comes out otherwise than the journal has it.
type Difference struct {
	Seq      int64  `json:"seq"` // of the event
	Kind     string `json:"kind"`
	Decision string `json:"decision"` // which one, in words
	Part     string `json:"part"`     // what of it
	Recorded string `json:"recorded"`
	Derived  string `json:"derived"`
}

// Replay derives every deterministic decision of a run again, from its events
// and its model, and names the first that comes out otherwise. What the world,
// planners, people and the store answered is taken as recorded, and counted. An
// error means that the run or its model cannot be read.
//
// It is pure but for what it reads: the same events give the same answer.
func Replay(ctx context.Context, src ReplaySource) (Replayed, error) {
	r := &replayer{ReplaySource: src, ctx: ctx, tally: tally{tried: map[string]int{}, yes: map[string]bool{}, hashes: map[string]bool{}}, out: Replayed{
		By: map[string]int{}, Taken: map[string]int{}, Unknown: map[string]int{}, Differs: []Difference{},
	}}
	for e, err := range src.Events {
		if err != nil {
			return r.out, err
		}
		if err := r.event(e); err != nil {
			return r.out, fmt.Errorf("event %d (%s): %w", e.Seq, e.Kind, err)
		}
		if len(r.out.Differs) >= max(1, src.All) || ctx.Err() != nil {
			return r.out, ctx.Err()
		}
	}
	if r.p == nil {
		return r.out, fmt.Errorf("there is no %s among the events: this is no run", RunStarted)
	}
	return r.out, nil
}

// replayer is the work in progress of one call of Replay.
type replayer struct {
	ReplaySource
	ctx context.Context //nolint:containedctx // Of the call of Replay that it belongs to.
	out Replayed

	m      ReplayModel
	p      *past // what the run knew, folded as for a run that is gone on with
	events []journal.Event
	now    journal.Event // that is looked at
	words  bool          // sentences are compared too
	blind  string        // why the state is not known; "" where it is
	errors bool          // every error of the last observation is known
	behind bool          // the state may have changed since the journal told of it
	part   bool          // the way back only undoes what the run did

	tally
	turn
}

// event derives the decisions of one event.
func (r *replayer) event(e journal.Event) error {
	r.now = e
	r.out.Events++
	if r.p == nil && e.Kind != RunStarted {
		return fmt.Errorf("it comes before %s", RunStarted)
	}
	if err := r.sees(e); err != nil {
		return err
	}
	check, known := r.checks()[e.Kind]
	if !known {
		r.out.Unknown[e.Kind]++
	} else if err := check(); err != nil {
		return err
	}
	r.events = append(r.events, e)
	return nil
}

// checks are what is done with an event of each kind. Each folds the event in,
// once what was decided on the state before it is derived.
func (r *replayer) checks() map[string]func() error {
	return map[string]func() error{
		RunStarted:     at(r, r.started),
		RunResumed:     at(r, r.resumed),
		Discovered:     at(r, r.discovered),
		Observed:       at(r, r.observed),
		SeverityTaken:  at(r, r.severity),
		Decided:        at(r, r.decided),
		RoundStarted:   at(r, r.roundStarted),
		AttemptMade:    at(r, r.attempted),
		PlanAccepted:   at(r, r.planned),
		RulesAsked:     at(r, r.ruledOn),
		ApprovalAsked:  at(r, r.posed),
		Approval:       at(r, r.answered),
		StepSkipped:    at(r, r.skipped),
		StepAcquired:   at(r, r.acquired),
		StepArmed:      at(r, r.stepArmed),
		StepRefused:    at(r, r.refused),
		StepFinished:   at(r, r.finished),
		RoundEnded:     at(r, r.roundEnded),
		RestorePlanned: at(r, r.goesBack),
		RestoreDecided: at(r, r.mayGoBack),
		LimitShared:    at(r, r.limited),
		RunEnded:       at(r, r.runEnded),
		DoubtResolved:  at(r, r.resolved),
		StepWaiting:    r.fold,
	}
}

// at decodes the event that is looked at for its check.
func at[T any](r *replayer, check func(T) error) func() error {
	return func() error { return foldErr(r.now, check) }
}

// fold takes the event in that is looked at.
func (r *replayer) fold() error { return r.p.event(r.now) }

// Kinds lists the counted kinds in their order, the most frequent first.
func Kinds(n map[string]int) []string {
	return slices.SortedFunc(maps.Keys(n), func(a, b string) int {
		if n[a] != n[b] {
			return n[b] - n[a]
		}
		return strings.Compare(a, b)
	})
}
