package llm

import (
	"context"
	"errors"
	"fmt"

	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/planner/llm/prompt"
	"github.com/fettleops/fettle/planner/llm/reply"
)

// Options are what a planner gets beside its own block.
type Options struct {
	MaxTokens     int // of one answer, by the policy; 0: no such limit
	ContextTokens int // of one question, by the policy; 0: no such limit
	// Search proves that there is no plan before a model is asked, checks a
	// model that says so, and makes the example of the question. Bounded; nil:
	// none of that.
	Search planner.Proposer
	// Labels are text from the world that bears on the run, such as an alert's.
	Labels map[string]string
	// Lessons returns those that a person approved; nil: there are none.
	Lessons func() []prompt.Lesson
	Redact  func(string) string // nil: nothing is secret
}

// Planner proposes what a language model says. It is used by one round after
// the other, never by two at a time.
type Planner struct {
	caller *Caller
	s      Settings
	o      Options

	// Of this round's problem:
	found  planner.Proposal // the search's
	solved *prompt.Example  // nil where there is none
	made   bool
}

// New returns a planner that asks by the caller.
func New(c *Caller, s Settings, o Options) *Planner { return &Planner{caller: c, s: s, o: o} }

// Name returns the block's name.
func (p *Planner) Name() string { return p.s.Name }

// Model returns the name of the language model.
func (p *Planner) Model() string { return p.s.Model }

// Propose asks the model once, after the search had its say.
func (p *Planner) Propose(ctx context.Context, r planner.Request) (planner.Proposal, error) {
	if len(r.Attempts) == 0 {
		if err := p.search(ctx, r); err != nil {
			return planner.Proposal{}, err
		}
	}
	if p.found.Proof {
		return p.found, nil
	}
	question, err := p.Question(ctx, r)
	if err != nil {
		return planner.Proposal{}, err
	}
	call := Call{
		System: question.System, Prompt: question.User, MaxTokens: p.s.Answers(p.o.MaxTokens),
		Schema: reply.Schema(r.Problem.U, r.Problem.Allowed, r.MaxPlanSteps),
	}
	out, err := p.ask(ctx, call, r.Budget)
	out.Notes = append(question.Trimmed, out.Notes...)
	return out, p.fate(err)
}

// Question renders what the model is asked.
func (p *Planner) Question(ctx context.Context, r planner.Request) (prompt.Prompt, error) {
	if p.o.Search != nil && (len(r.Attempts) == 0 || !p.made) {
		p.solved, p.made = prompt.MakeExample(ctx, r.Problem, p.o.Search), true
	}
	var lessons []prompt.Lesson
	if p.o.Lessons != nil {
		lessons = p.o.Lessons()
	}
	return prompt.Render(prompt.Input{
		Problem: r.Problem, Goal: r.Goal, Attempts: r.Attempts, Feedback: p.s.Feedback, Notes: p.s.Notes,
		MaxPlanSteps: r.MaxPlanSteps, ContextTokens: p.o.ContextTokens, Example: p.solved,
		Labels: p.o.Labels, Lessons: lessons, Rejected: r.Rejected, Override: p.s.Templates, Redact: p.o.Redact,
	})
}

// search asks the search, whose proof spares every call.
func (p *Planner) search(ctx context.Context, r planner.Request) error {
	p.found = planner.Proposal{Verdict: planner.GaveUp}
	if p.o.Search == nil {
		return nil
	}
	found, err := p.o.Search.Propose(ctx, r)
	if err != nil {
		return fmt.Errorf("the search before the question: %w", err)
	}
	p.found = found
	if found.Proof {
		p.found.Notes = append(p.found.Notes, "proved by the search; no model was called")
	}
	return nil
}

// ask gets an answer, a second one with a higher cap where the first was cut by
// its own, and reads it.
func (p *Planner) ask(ctx context.Context, call Call, budget planner.Budget) (planner.Proposal, error) {
	a, used, err := p.caller.Complete(ctx, call, budget)
	if err == nil && a.Finish == Length {
		if higher := p.raised(call.MaxTokens); higher > call.MaxTokens {
			var more planner.Usage
			call.MaxTokens = higher
			a, more, err = p.caller.Complete(ctx, call, budget)
			used = used.Add(more)
		}
	}
	var failed *CallError
	if errors.As(err, &failed) && failed.Class == NotAnAnswer {
		return planner.Proposal{Verdict: planner.NotAnAnswer, Reason: failed.Error(), Usage: used}, nil
	}
	if err != nil {
		return planner.Proposal{Usage: used}, err
	}
	out := p.read(a, call.MaxTokens)
	out.Usage = used
	return out, nil
}

// raised returns the cap of a second try.
func (p *Planner) raised(tokens int) int {
	const factor = 4
	n := tokens * factor
	if most := p.o.MaxTokens; most > 0 {
		n = min(n, most)
	}
	return n
}

// read turns an answer into a proposal.
func (p *Planner) read(a Answer, cap int) planner.Proposal {
	switch {
	case a.Finish == Refused:
		return planner.Proposal{Verdict: planner.Refused, Reason: "the model refuses: " + line(a.Refusal)}
	case a.Finish == Filtered:
		return planner.Proposal{Verdict: planner.Filtered, Reason: "the provider withheld the answer"}
	case a.Finish == Length:
		return planner.Proposal{Verdict: planner.Overlong, Reason: fmt.Sprintf("the answer was cut at %d tokens; a plan that is cut is not used", cap)}
	case a.Finish == Cut:
		return planner.Proposal{Verdict: planner.CutShort, Reason: "the answer ended in its midst; a plan that is cut is not used"}
	case a.Text == "":
		return planner.Proposal{Verdict: planner.Empty, Reason: "the answer is empty"}
	}
	r := reply.Parse(a.Text)
	if r.NoPlan {
		return p.claim(r.Reason)
	}
	return planner.Proposal{Steps: r.Steps, Unreadable: r.Unreadable, Notes: r.Notes()}
}

// claim holds what a model says of there being no plan against the search. A
// proof never gets here: it came before the question.
func (p *Planner) claim(reason string) planner.Proposal {
	out := planner.Proposal{Verdict: planner.SaysUnsolvable, Reason: fmt.Sprintf("%q, which the search could neither prove nor refute", line(reason))}
	if p.found.Verdict == planner.HasPlan {
		out.Reason = fmt.Sprintf("%q; but there is a plan", line(reason))
	}
	return out
}

// fate says what becomes of the round when no answer came.
func (p *Planner) fate(err error) error {
	var failed *CallError
	if err == nil || !errors.As(err, &failed) || failed.Class == Cancelled {
		return err
	}
	if p.s.Required || !failed.FailsOver() {
		return &planner.FatalError{Err: err}
	}
	return err
}
