package executor

import (
	"context"
	"time"

	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/policy"
	"github.com/fettleops/fettle/world"
	"github.com/fettleops/fettle/world/redaction"
)

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
	Undo     string // the action that takes it back, over its parameters; "" where the model names none

	Irreversible bool // no undo takes it back

	// Labels evaluates the labels of a ground action, given its objects; nil where it has none.
	Labels func(args []string) (map[string]string, error)
}

// Question asks a person about a plan, or with Step about one step of it.
type Question struct {
	Plan Plan
	Step *PlannedStep
	Why  []string // what it is asked because of

	Restore bool // it is about going back, after the run stopped; Ask is told
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
	Universe   *model.Universe
	Goal       *model.Goal
	GoalArgs   []int32
	GoalName   string // the goal as a ground atom
	Scope      string
	ModelHash  string
	Version    string
	Policy     *policy.Policy
	Proposers  []planner.Proposer
	Critics    []planner.Critic // they read what the validator accepted
	Settings   map[*model.Action]Settings
	Observer   Observer
	Discoverer Discoverer // nil: every object is declared
	Actuator   Actuator
	Locker     *lease.Locker
	Beliefs    Beliefs
	Journal    *journal.Run // of Run; Resume opens it itself
	Secrets    []string     // texts that are kept out of the journal
	// Redact are the model's patterns of what is kept out of it besides what the
	// built-in ones find.
	Redact   redaction.Patterns
	Leases   []string       // names of the leases that the model observes
	By       string         // the person who goes on with the run
	Trigger  policy.Trigger // what started the run; the zero value: a person
	Space    Space          // of the store; nil: it is not looked after
	PlanFile *PlanFile      // the plan to carry out in place of planning, for the journal; nil: none was given
	Recorded *ModelText     // the model, for the journal; nil: it is not recorded

	// Ask asks a person; it is called where the policy wants an approval. Its
	// context ends with the run's deadline and when the run is to stop. Nil:
	// nobody can be asked.
	Ask func(context.Context, Question) (Answer, error)
	// Preapproved answers yes to every plan beforehand, in that name; "": nobody
	// does.
	Preapproved string
	// Wait waits for an answer from elsewhere where nobody can be asked here, until
	// the question expires or the run's deadline, in place of giving control back.
	Wait bool
	// AskSteps asks before each step too.
	AskSteps bool
	// Stop, once closed, ends the run before the next action. The action in
	// flight is finished and recorded; the end of the context cuts it.
	Stop <-chan struct{}
	// OnEvent is told of every event once it is in the journal; nil is fine.
	OnEvent func(journal.Event)
	// OnUnwritten is told of the last events of a run that has lost its store:
	// they are not in the journal. Nil is fine.
	OnUnwritten func(journal.Event)
	// OnSilence is told, from another goroutine, that the store has not answered
	// for a while, and how long it is waited for in all; nil is fine.
	OnSilence func(most time.Duration)
	// Now reads the wall clock; nil is time.Now.
	Now func() time.Time
}

// run is one run under way. It has one goroutine.
type run struct {
	Config
	view
	objects census
	driver
	rulings
	wayback
	approvals

	progress  *policy.Tracker
	tried     *planner.Tried
	fenced    string // that the round before ended with, where a higher fence did it
	round     int
	first     *Observation // what the run found when it began
	news      int          // how many conditions the last look found changed
	holds     bool         // it found that the goal does
	fresh     bool         // the next round starts from it, without another
	guards    int          // guarded actions begun, refused ones too: the ids of actions
	actions   int
	lastActed time.Time // when the last action ended
	started   time.Time // so long ago as the run was driven
	paused    lease.PauseRecord
	reopened  bool              // the round of that number is gone on with
	open      bool              // a round is under way, or its end is not recorded
	changed   bool              // the model is another than before the run was gone on with
	inDoubt   map[string]string // actions of unknown outcome, by id
	mute      bool              // the journal failed: nothing more can be recorded
}

// Run carries the run out to its end and returns how it ended, which is also
// the last event of the journal. An error means that the run could not go on
// (the store could not be read or written): nothing was done after that, and
// the end, with what is in doubt, is in the journal only where that still worked.
func Run(ctx context.Context, c Config) (Ended, error) {
	c.Journal.Redact(c.Secrets...)
	c.Journal.RedactBy(hiding(c.Redact))
	r := newRun(c)
	if err := r.claim(ctx, c.Journal.ID()); err != nil {
		return failed(err), err
	}
	r.watch(ctx)
	defer r.leave(ctx)
	host, pid := identity()
	recorded, blobs := c.Recorded.record(c.Journal.WithoutSecrets)
	err := r.emit(ctx, RunStarted, Started{
		Goal: c.GoalName, Doc: c.Goal.Doc, Scope: c.Scope, Mode: string(c.Policy.Mode), MaxRounds: c.Policy.MaxRounds, MaxCalls: limitOf(c.Policy.MaxCalls), MaxCost: limitOf(c.Policy.MaxCost),
		ModelHash: c.ModelHash, Host: host, PID: pid, Version: c.Version, Plan: c.PlanFile.given(), Model: recorded,
	}, append(blobs, c.PlanFile.blobs()...)...)
	if err != nil {
		return r.end(failed(err)), err
	}
	return r.drive(ctx)
}

// drive goes through the loop to the end, and records it.
func (r *run) drive(ctx context.Context) (Ended, error) {
	end, err := r.loop(ctx)
	if err != nil {
		end = failed(err)
	}
	r.putBack(ctx, end)
	end = r.end(end)
	r.reckon(ctx, &end)
	if !r.gone && !r.mute {
		end.oweWorse(r.first)
	}
	switch {
	case r.gone: // What is the run's is another's to part with, and to tell.
		return end, err
	case r.mute:
		if e, err := r.Journal.Ride(RunEnded, end); err == nil {
			r.unwritten(e)
		}
		return end, err
	}
	r.propose(ctx, end)
	r.partNames(ctx, &end)
	if e := r.finish(ctx, end); err == nil {
		err = e
	}
	return end, err
}

func newRun(c Config) *run {
	if c.Now == nil {
		c.Now = time.Now
	}
	r := &run{
		Config: c, view: newView(c.Universe), objects: newCensus(c.Universe), approvals: newApprovals(), inDoubt: map[string]string{}, started: c.Now(),
		tried: planner.NewTried(),
	}
	r.Observer = present{c.Observer, r}
	r.quit = func() {}
	r.progress = policy.NewTracker(r.started)
	r.progress.Planners(len(c.Proposers))
	return r
}

func failed(err error) Ended {
	return Ended{Status: FailedStatus, Reason: "error", Message: err.Error()}
}

// loop runs rounds until the run ends. Where this process lost the right to
// drive it, and nobody else has it, it takes over from itself.
func (r *run) loop(ctx context.Context) (Ended, error) {
	for {
		end, err := r.turn(ctx)
		if err == nil && end != nil && end.Reason == LeaseLost {
			end, err = r.regain(ctx)
		}
		if end != nil || err != nil {
			return deref(end), err
		}
	}
}

// turn is one turn of the loop: it looks, and holds a round where the goal does not hold.
func (r *run) turn(ctx context.Context) (*Ended, error) {
	r.fresh = r.fresh && len(r.inDoubt) == 0
	if err := r.settleDoubts(ctx); err != nil {
		return nil, err
	}
	if !r.fresh {
		if end, err := r.look(ctx); end != nil || err != nil {
			return end, err
		}
	}
	if err := r.begin(ctx); err != nil {
		return nil, err
	}
	r.fresh = false
	if r.holds {
		return &Ended{Status: Succeeded}, nil
	}
	end, err := r.mayBegin(ctx)
	if end != nil || err != nil {
		return end, err
	}
	end, err = r.beginRound(ctx)
	if end != nil || err != nil {
		return end, err
	}
	r.open = true
	end, err = r.oneRound(ctx)
	if end == nil {
		r.open = false
	}
	return end, err
}

// beginRound closes the round before and begins another, if the policy allows
// it. One that was broken off with the process, or by waiting, is gone on with.
func (r *run) beginRound(ctx context.Context) (*Ended, error) {
	again := r.reopened
	r.reopened = false
	if !again {
		if r.round > 0 {
			r.progress.EndRound()
		}
		if end, err := r.decide(ctx, policy.PointRound); end != nil || err != nil {
			return end, err
		}
		if err := r.newRound(ctx); err != nil {
			return nil, err
		}
		r.round++
		r.progress.BeginRound()
	}
	return nil, r.emit(ctx, RoundStarted, Round{Round: r.round, Of: r.Policy.MaxRounds, Again: again})
}

// oneRound plans, asks and executes.
func (r *run) oneRound(ctx context.Context) (*Ended, error) {
	if err := r.consult(ctx); err != nil {
		return r.unread(ctx, err)
	}
	plan, end, err := r.sanctioned(ctx)
	if plan == nil || end != nil || err != nil {
		return end, err
	}
	r.approvedWays(plan)
	return r.execute(ctx, plan)
}

func deref(e *Ended) Ended {
	if e == nil {
		return Ended{}
	}
	return *e
}
