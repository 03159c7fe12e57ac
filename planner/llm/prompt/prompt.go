package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/validator"
)

// Feedback says how much a model is told of what was wrong with earlier plans.
type Feedback string

// The degrees of feedback. The zero value is First.
const (
	None      Feedback = "none"      // nothing, not even that there were any
	Binary    Feedback = "binary"    // the plans, and that they are not valid
	First     Feedback = "first"     // the first violation and the state before it
	Explained Feedback = "explained" // also what makes it so, since when, and a repair
	All       Feedback = "all"       // every failing step, as if those before it were left out
)

// Lesson is what was learnt of an action in earlier runs and approved by a
// person. It is shown as data all the same.
type Lesson struct{ Action, Text string }

// Input is what a question is made of.
type Input struct {
	Problem  validator.Problem
	Goal     string            // the objective in one sentence; may be empty
	Attempts []planner.Attempt // of this round, in order
	Feedback Feedback
	Notes    string // the operator's, trusted
	// MaxPlanSteps is the longest plan that is accepted; 0: any.
	MaxPlanSteps int
	// ContextTokens is the most that the question may take, by [Tokens]; 0: any.
	ContextTokens int
	Example       *Example          // nil: none
	Labels        map[string]string // text from the world, such as an alert's labels
	Lessons       []Lesson          // the most useful first
	Rejected      []planner.Rejection
	Override      Templates
	Redact        func(string) string // hides secrets; nil: there are none
}

// Prompt is a question, ready to be sent.
type Prompt struct {
	System, User string
	Trimmed      []string // what was left out for want of room, a sentence each
	Tokens       int      // of both texts, by [Tokens]
}

// Render renders the question. The same input gives the same question. The error
// is a [SizeError], or one of the templates or the feedback.
func Render(in Input) (Prompt, error) {
	if in.Feedback == "" {
		in.Feedback = First
	}
	if !slices.Contains([]Feedback{None, Binary, First, Explained, All}, in.Feedback) {
		return Prompt{}, fmt.Errorf("feedback %q is none of none, binary, first, explained and all", in.Feedback)
	}
	t, err := parseTemplates(in.Override)
	if err != nil {
		return Prompt{}, err
	}
	return newRenderer(in, t).fit()
}

// renderer renders one question at several sizes.
type renderer struct {
	Input
	u         *model.Universe
	templates texts
	relevant  *relevance
	last      *planner.Attempt  // the one whose critique is given; nil: none
	tried     []planner.Attempt // those before it
	critique  string            // of the last, which may take simulations to find
	fixed     Fields            // what is the same at every size
	listed    map[*model.Fluent]listing
	bearing   map[member]bool // objects
	size      size
}

func newRenderer(in Input, t texts) *renderer {
	r := &renderer{
		Input: in, u: in.Problem.U, templates: t, relevant: relevantTo(in.Problem), listed: map[*model.Fluent]listing{},
	}
	if in.Feedback != None {
		r.attempts()
		r.critique = r.verdict()
	}
	r.bearing = r.named()
	r.size = r.whole()
	r.fixed = Fields{
		Goal: r.goal(), Model: r.model(), Actions: r.actions(), Facts: r.facts(), Invariants: r.invariants(),
		Notes: strings.TrimSpace(r.Notes), Rules: rules, DataRule: dataRule, Answer: r.answer(), MaxPlanSteps: r.MaxPlanSteps,
	}
	return r
}

// render executes the templates at the present size.
func (r *renderer) render(leftOut []string) (Prompt, error) {
	f := r.fields(leftOut)
	var p Prompt
	var err error
	for _, what := range leftOut {
		p.Trimmed = append(p.Trimmed, "the question leaves out "+what)
	}
	if p.System, err = r.templates.system(f); err != nil {
		return Prompt{}, err
	}
	if p.User, err = r.templates.user(f); err != nil {
		return Prompt{}, err
	}
	p.System, p.User = r.redacted(p.System), r.redacted(p.User)
	p.Tokens = Tokens(p.System) + Tokens(p.User)
	return p, nil
}

func (r *renderer) redacted(s string) string {
	if r.Redact == nil {
		return s
	}
	return r.Redact(s)
}

func (r *renderer) fields(leftOut []string) Fields {
	f := r.fixed
	f.Objects, f.State, f.Example = r.objects(), r.state(), r.example()
	f.Last, f.Tried = r.lastPlan(), r.digests()
	f.Rejected = r.rejections()
	f.Lessons, f.Labels, f.LeftOut = r.lessons(), r.labels(), sentences(leftOut)
	return f
}

// sentences writes what was left out as a list.
func sentences(leftOut []string) string {
	var b strings.Builder
	for _, s := range leftOut {
		b.WriteString("- " + s + "\n")
	}
	return strings.TrimSpace(b.String())
}
