package program

import (
	"slices"
	"strings"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/planner/llm/prompt"
	"github.com/fettleops/fettle/validator"
)

// Version is the form of requests: a program that knows it need not guess.
const Version = 1

// Request is what a program is told, as one JSON document on its stdin. Its
// JSON Schema is request.schema.json.
type Request struct {
	Version      int                 `json:"version"`
	Goal         Goal                `json:"goal"`
	Actions      []Action            `json:"actions"` // those that the goal allows
	Derived      map[string]string   `json:"derived"` // definitions of derived fluents
	Invariants   []string            `json:"invariants"`
	Objects      map[string][]string `json:"objects"` // by type
	State        *model.State        `json:"state"`   // null: unknown
	Attempts     []Attempt           `json:"attempts"`
	Rejected     []Rejection         `json:"rejected,omitempty"`
	MaxPlanSteps int                 `json:"max_plan_steps,omitempty"`
	Plan         []string            `json:"plan,omitempty"` // to be reviewed; a planner gets none
	Notes        string              `json:"notes,omitempty"`
	// Untrusted is text from outside, such as an alert's labels: data, never an
	// instruction.
	Untrusted map[string]string `json:"untrusted,omitempty"`
}

// Goal is what is to be reached.
type Goal struct {
	Name       string   `json:"name"`
	Doc        string   `json:"doc,omitempty"`
	Conditions []string `json:"conditions"`
}

// Action is an action that a plan may use.
type Action struct {
	Name         string   `json:"name"`
	Doc          string   `json:"doc,omitempty"`
	Params       []Param  `json:"params"`
	Precondition []string `json:"precondition"`
	Effects      []Effect `json:"effects"`
	Cost         string   `json:"cost,omitempty"` // 1 where not given
}

// Param is a parameter of an action.
type Param struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// Effect is a change that an action makes.
type Effect struct {
	Op     string            `json:"op"` // add, del, set, increase or decrease
	Fluent string            `json:"fluent"`
	Value  string            `json:"value,omitempty"`
	When   string            `json:"when,omitempty"`
	Forall map[string]string `json:"forall,omitempty"` // type by variable
}

// Attempt is an earlier proposal of this round and what is wrong with it.
type Attempt struct {
	Planner  string            `json:"planner"`
	Steps    []string          `json:"steps"`
	Kind     string            `json:"kind,omitempty"`
	Critique string            `json:"critique,omitempty"`
	Report   *validator.Report `json:"report,omitempty"`
}

// Rejection is a plan that a person rejected; it is not carried out, from
// whatever state.
type Rejection struct {
	Steps    []string `json:"steps"`
	Step     int      `json:"step,omitempty"` // that it is about; 0: the plan
	By       string   `json:"by"`
	Feedback string   `json:"feedback"` // what that person wants
}

// newRequest tells the problem as the settings want it told.
func newRequest(r planner.Request, s Settings, o Options) Request {
	p := r.Problem
	u := p.U
	out := Request{
		Version: Version, Goal: Goal{Name: p.GoalName, Doc: r.Goal, Conditions: conjuncts(u, p.Goal, p.GoalArgs)},
		Derived: map[string]string{}, Invariants: []string{}, Objects: map[string][]string{}, State: p.Start,
		Attempts: attempts(r.Attempts, s.Feedback), MaxPlanSteps: r.MaxPlanSteps, Notes: s.Notes, Untrusted: o.Labels,
	}
	for _, rej := range r.Rejected {
		out.Rejected = append(out.Rejected, Rejection{Steps: written(rej.Steps), Step: rej.Step, By: rej.By, Feedback: rej.Feedback})
	}
	for _, a := range u.Actions {
		if p.Allowed == nil || slices.Contains(p.Allowed, a) {
			out.Actions = append(out.Actions, action(u, a))
		}
	}
	for _, f := range u.Fluents {
		if f.Derived != nil {
			out.Derived[signature(f)] = f.Derived.Text(u, nil)
		}
	}
	for _, inv := range u.Invariants {
		out.Invariants = append(out.Invariants, strings.Join(conjuncts(u, inv.Cond, nil), " && "))
	}
	for _, t := range u.Types {
		names := []string{}
		for _, o := range u.Objects(t) {
			names = append(names, u.Name(t, o))
		}
		out.Objects[t.String()] = names
	}
	return out
}

func conjuncts(u *model.Universe, c *model.Cond, env []int32) []string {
	out := []string{}
	if c == nil {
		return out
	}
	for _, e := range c.Conjuncts {
		out = append(out, e.Text(u, env))
	}
	return out
}

func signature(f *model.Fluent) string {
	var params []string
	for _, p := range f.Params {
		params = append(params, p.Name)
	}
	return model.FormatAtom(f.Name, params...)
}

func action(u *model.Universe, a *model.Action) Action {
	out := Action{Name: a.Name, Doc: a.Doc, Params: []Param{}, Precondition: conjuncts(u, a.Precondition, nil), Effects: []Effect{}}
	for _, p := range a.Params {
		out.Params = append(out.Params, Param{p.Name, p.Type.String()})
	}
	if a.Cost != nil {
		out.Cost = a.Cost.Text(u, nil)
	}
	for _, e := range a.Effects {
		out.Effects = append(out.Effects, effect(u, e))
	}
	return out
}

var ops = map[model.EffectOp]string{model.Add: "add", model.Del: "del", model.Set: "set", model.Increase: "increase", model.Decrease: "decrease"}

func effect(u *model.Universe, e model.Effect) Effect {
	var args []string
	for _, a := range e.Args {
		args = append(args, a.Text(u, nil))
	}
	out := Effect{Op: ops[e.Op], Fluent: e.Fluent.Name}
	if len(args) > 0 {
		out.Fluent += "(" + strings.Join(args, ", ") + ")"
	}
	if e.Value != nil {
		out.Value = e.Value.Text(u, nil)
	}
	if e.When != nil {
		out.When = e.When.Text(u, nil)
	}
	for _, b := range e.Forall {
		if out.Forall == nil {
			out.Forall = map[string]string{}
		}
		out.Forall[b.Name] = b.Type.String()
	}
	return out
}

// attempts tells what went before, as much of it as the feedback says.
func attempts(all []planner.Attempt, f prompt.Feedback) []Attempt {
	out := []Attempt{}
	if f == prompt.None {
		return out
	}
	for _, a := range all {
		at := Attempt{Planner: a.Proposer, Steps: written(a.Steps)}
		if f != prompt.Binary {
			at.Kind, at.Critique = string(a.Kind), a.Critique
		}
		if (f == prompt.Explained || f == prompt.All) && a.Report.Kind != "" {
			at.Report = &a.Report
		}
		out = append(out, at)
	}
	return out
}

func written(steps []model.Step) []string {
	out := []string{}
	for _, st := range steps {
		out = append(out, st.String())
	}
	return out
}
