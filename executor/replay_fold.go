package executor

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/policy"
	"github.com/fettleops/fettle/validator"
	"github.com/fettleops/fettle/world"
)

// nobody finds no objects: those of a replay are the ones that the journal names.
type nobody struct{}

func (nobody) Discover(context.Context) []world.Found       { return nil }
func (nobody) LeaseNames(_ *model.Universe) (none []string) { return nil }

// started begins with the model that the run began with.
func (r *replayer) started(v Started) error {
	if r.p != nil {
		return fmt.Errorf("it comes a second time")
	}
	r.out.Run, r.out.Goal = r.now.Run, v.Goal
	r.words = v.Version == r.Version && !r.Other
	if err := r.anew(v.ModelHash, v.Model); err != nil {
		return err
	}
	r.exact = true // Nothing was used before.
	if r.Other {
		return nil
	}
	c, p := r.decision("beginning of the run", "what the run began with"), r.m.Policy
	c.same("mode", v.Mode, string(p.Mode))
	c.same("max_rounds", v.MaxRounds, p.MaxRounds)
	c.same("max_calls", v.MaxCalls, limitOf(p.MaxCalls))
	c.same("max_cost", v.MaxCost, limitOf(p.MaxCost))
	c.same("doc", v.Doc, r.m.Goal.Doc)
	return nil
}

// anew makes the run as it is for a process that begins with it or goes on with
// it: everything so far is folded in once more, with the model.
func (r *replayer) anew(hash string, rec *RecordedModel) error {
	m, err := r.Model(r.out.Goal, hash, rec)
	if err != nil {
		return err
	}
	r.m = m
	return r.rebuild(hash)
}

func (r *replayer) rebuild(hash string) error {
	run := undriven(r.m, r.out.Goal, hash, func() time.Time { return r.now.Time })
	r.p = &past{run: run, id: r.out.Run, model: hash, body: r.body}
	for _, e := range r.events {
		if err := r.p.event(e); err != nil {
			return fmt.Errorf("event %d (%s): %w", e.Seq, e.Kind, err)
		}
	}
	r.p.acted()
	r.p.roundOver()
	r.p.model = hash
	r.turn = turn{}
	r.planners, r.since, r.exact, r.ways, r.undone = 0, time.Time{}, false, 0, 0
	for key := range r.tried {
		r.tried[key] = r.p.run.tried.Count(key)
	}
	return nil
}

// manyPlanners stands for planners of which the journal tells how many there
// are only with its decisions.
const manyPlanners = 64

// resumed goes on as another process did. One that stood still goes on as it was.
func (r *replayer) resumed(v Resumed) error {
	c := r.decision("going on", "how the run was gone on with")
	r.out.Whole = false
	c.same("changed", v.Changed, v.ModelHash != r.p.model)
	switch {
	case v.Was == Stalled:
		r.last = nil
		return r.fold()
	case v.Changed:
		if err := r.anew(v.ModelHash, v.Model); err != nil {
			return err
		}
		r.p.view = newView(r.p.u)
		r.blind = ""
	default:
		if err := r.rebuild(r.p.model); err != nil {
			return err
		}
	}
	r.again = true
	return nil
}

// body reads a body. Without it what is in it is not known.
func (r *replayer) body(sum string) ([]byte, error) {
	if r.Body == nil {
		r.blind = "observed values that are in bodies, which the file does not have"
		return nil, nil
	}
	raw, err := r.Body(sum)
	if err != nil {
		r.blind = "observed values that are in a body which is lost"
	}
	return raw, nil
}

// sees notes where the observed values of an event are not in the journal whole.
func (r *replayer) sees(e journal.Event) error {
	var v struct {
		Body *journal.Ref `json:"changed_body"`
	}
	if len(e.Data) > 0 && json.Unmarshal(e.Data, &v) != nil {
		return fmt.Errorf("it cannot be read")
	}
	if v.Body != nil && v.Body.Cut {
		r.blind = "observed values that were too many for the journal"
	}
	return nil
}

// sighted tells whether what is decided on the state can be derived.
func (r *replayer) sighted() bool {
	if r.blind != "" {
		r.taken("what rests on " + r.blind)
	}
	return r.blind == ""
}

// errorsOf remembers why facts were unknown, which critiques name.
func (r *replayer) errorsOf(facts []Fact) {
	for _, f := range facts {
		rd := world.Reading{Err: f.Error, Note: f.Note}
		rd.Source.Query = f.Source
		r.p.last[f.Fluent] = rd
	}
}

// discovered takes in which objects there are.
func (r *replayer) discovered(v Discovery) error {
	if err := r.fold(); err != nil {
		return err
	}
	t := r.p.u.Type(v.Type)
	if t == nil || !t.Discovered || v.Rest || r.p.objects.open[t] == (v.Error != "") {
		return nil
	}
	r.p.objects.open[t] = v.Error != ""
	return r.p.regroup()
}

// problem is the planning problem from what the run knew.
func (r *replayer) problem() validator.Problem {
	return validator.Problem{
		U: r.p.u, Start: r.p.state, Goal: r.p.Goal.Cond, GoalArgs: r.p.GoalArgs, GoalName: r.p.GoalName, Allowed: r.p.Goal.Actions,
		StartedAs: "as observed now",
		Why:       func(a model.Atom) string { return r.p.last[r.p.u.Text(a)].Err },
	}
}

// tally is what the journal tells of limits that are used up.
type tally struct {
	calls    int
	tokens   int
	cost     float64
	exact    bool // they are known, and not only at least so much
	planners int  // 0: not known
	since    time.Time
	ways     int             // ways back that were begun
	undone   int             // actions of them that were begun
	tried    map[string]int  // plans, by their keys
	yes      map[string]bool // plans that a person said yes to, by their hashes
	hashes   map[string]bool // of all plans of the run
}

// turn is where in the loop the run is.
type turn struct {
	may    map[policy.Point]bool // what the policy allowed and nothing has used yet
	looked bool                  // observed since the last action, and since the round began
	holds  bool                  // the goal, when it was looked at
	again  bool                  // gone on with, and no round begun since
	inside bool                  // a round is under way

	passed map[string]Attempt // of this round, that the validator accepted, by their steps
	asked  map[string]int     // attempts of this round, by verdict and kind
	tries  int                // attempts of this round by this process
	proof  bool               // one of them proved that there is no plan
	proved string             // and in which word

	plan   *accepted // nil: none is carried out
	answer string    // of a person, to the last question about it
	done   int       // steps of it that are done or were skipped
	acted  int       // those that were carried out
	held   string    // the action whose leases were taken
	armed  *armed    // the action under way
	ruled  *Ruled    // what the rules say of the plan; nil: nothing
	shut   *barrier  // what stands in the way and ends the run; nil: nothing
	worse  bool      // the severity was above that of the start when it did
	back   *accepted // the way back that is gone
	cause  *failure  // why the round is to end
	last   *failure  // why the last one ended
	stop   *Decision // the policy's no
}

// armed is an action under way.
type armed struct {
	ref      StepRef
	expected []model.Write
}
