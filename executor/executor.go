package executor

import (
	"context"
	"fmt"
	"time"

	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/policy"
	"github.com/fettleops/fettle/world"
)

// Observer reads fluents from the world: a reading for each atom asked for.
// What was sampled before notBefore is unknown.
type Observer interface {
	Observe(ctx context.Context, u *model.Universe, refs []model.Ref, notBefore time.Time) []world.Reading
}

// Actuator raises fences and carries actions out.
type Actuator interface {
	Raise(ctx context.Context, u *model.Universe, g model.Ground, f world.Fence) error
	Act(ctx context.Context, u *model.Universe, c world.Call) world.Outcome
	Fenced(a *model.Action) bool
}

// Settings are what a run needs to know of an action beyond its meaning.
type Settings struct {
	Timeout  time.Duration // of carrying it out
	Settle   time.Duration // how long its effects may take to be seen
	Interval time.Duration // between two looks
	Risk     string
	Undo     bool // the model names a way back
}

// Question asks a person about a plan, or with Step about one step of it.
type Question struct {
	Plan Plan
	Step *PlannedStep
}

// Answer is a person's decision. Asked is false where nobody could be asked.
type Answer struct {
	Asked    bool
	Yes      bool
	By       string
	Feedback string
}

// Config is all that a run is made of.
type Config struct {
	Universe  *model.Universe
	Goal      *model.Goal
	GoalArgs  []int32
	GoalName  string // the goal as a ground atom
	Scope     string
	ModelHash string
	Version   string
	Policy    *policy.Policy
	Proposers []planner.Proposer
	Settings  map[*model.Action]Settings
	Observer  Observer
	Actuator  Actuator
	Locker    *lease.Locker
	Beliefs   Beliefs
	Journal   *journal.Run

	// Ask asks a person; it is called where the policy wants an approval.
	Ask func(context.Context, Question) (Answer, error)
	// AskSteps asks before each step too.
	AskSteps bool
	// Stop, once closed, ends the run before the next action.
	Stop <-chan struct{}
	// OnEvent is told of every event once it is in the journal; nil is fine.
	OnEvent func(journal.Event)
	// Now reads the wall clock; nil is time.Now.
	Now func() time.Time
}

// run is one run under way. It has one goroutine.
type run struct {
	Config
	view

	progress  *policy.Tracker
	tried     *planner.Tried
	approved  map[string]bool // hashes of plans that a person said yes to
	round     int
	actions   int
	lastActed time.Time // when the last action ended
	started   time.Time
	inDoubt   map[string]string // actions of unknown outcome, by id
}

// Run carries the run out to its end and returns how it ended, which is also
// the last event of the journal. An error means that the journal could not be
// written: nothing was done after that.
func Run(ctx context.Context, c Config) (Ended, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	r := &run{Config: c, view: newView(c.Universe), approved: map[string]bool{}, inDoubt: map[string]string{}, started: c.Now()}
	r.progress = policy.NewTracker(r.started)
	r.progress.Planners(len(c.Proposers))
	r.tried = planner.NewTried()
	host, pid := identity()
	err := r.emit(ctx, RunStarted, Started{
		Goal: c.GoalName, Doc: c.Goal.Doc, Scope: c.Scope, Mode: string(c.Policy.Mode), MaxRounds: c.Policy.MaxRounds,
		ModelHash: c.ModelHash, Host: host, PID: pid, Version: c.Version,
	})
	if err != nil {
		return Ended{}, err
	}
	end, err := r.loop(ctx)
	if err != nil {
		return r.end(end), err
	}
	end = r.end(end)
	return end, r.finish(ctx, end)
}

// loop runs rounds until the run ends.
func (r *run) loop(ctx context.Context) (Ended, error) {
	for {
		held, end, err := r.look(ctx)
		if end != nil || err != nil {
			return deref(end), err
		}
		if held {
			r.settleDoubts(ctx)
			return Ended{Status: Succeeded}, nil
		}
		if r.round > 0 {
			r.progress.EndRound()
		}
		if end, err = r.decide(ctx, policy.PointRound); end != nil || err != nil {
			return deref(end), err
		}
		r.round++
		r.progress.BeginRound()
		if err := r.emit(ctx, RoundStarted, Round{Round: r.round, Of: r.Policy.MaxRounds}); err != nil {
			return Ended{}, err
		}
		if end, err = r.oneRound(ctx); end != nil || err != nil {
			return deref(end), err
		}
	}
}

// oneRound plans, asks and executes.
func (r *run) oneRound(ctx context.Context) (*Ended, error) {
	plan, end, err := r.plan(ctx)
	if plan == nil || end != nil || err != nil {
		return end, err
	}
	if end, err = r.approve(ctx, plan); end != nil || err != nil {
		return end, err
	}
	return r.execute(ctx, plan)
}

// decide asks the policy, records its answer, and ends the run where it says so.
func (r *run) decide(ctx context.Context, at policy.Point) (*Ended, error) {
	if r.stopped(ctx) {
		return &Ended{Status: Cancelled, Message: "stopped before the next step, as asked"}, nil
	}
	d := r.Policy.Decide(at, r.progress.Progress(r.Now()))
	if err := r.emit(ctx, Decided, Decision{Decision: d, Round: r.round}); err != nil {
		return nil, err
	}
	e := &Ended{Status: Escalated, Reason: string(d.Reason), Message: joined(d.Reasons)}
	switch {
	case d.Answer == policy.Checkpoint:
		e.Status = WaitingStatus
	case d.Answer == policy.Stop && d.Reason == policy.Errors:
		e.Status = FailedStatus
	case d.Answer == policy.Stop:
	default:
		if d.NextPlanner {
			r.nextPlanner()
		}
		return nil, nil
	}
	return e, nil
}

// stopped tells whether somebody asked the run to stop.
func (r *run) stopped(ctx context.Context) bool {
	select {
	case <-r.Stop:
		return true
	case <-ctx.Done():
		return true
	default:
		return false
	}
}

// emit appends an event to the journal. It does not follow the run's own
// cancellation: what happened is recorded all the same.
func (r *run) emit(ctx context.Context, kind string, data any, blobs ...journal.Blob) error {
	e, err := r.Journal.Ride(kind, data, blobs...)
	if err != nil {
		return err
	}
	if err := r.Journal.Write(context.WithoutCancel(ctx), e); err != nil {
		return fmt.Errorf("the journal cannot be written, so nothing more is done: %w", err)
	}
	r.recorded(e)
	return nil
}

// recorded tells whoever watches of an event that is in the journal.
func (r *run) recorded(e journal.Entry) {
	if r.OnEvent != nil {
		r.OnEvent(e.Event)
	}
}

func deref(e *Ended) Ended {
	if e == nil {
		return Ended{}
	}
	return *e
}
