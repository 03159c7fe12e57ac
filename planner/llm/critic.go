package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/planner/llm/prompt"
)

// Critic has a language model read plans that the validator accepted.
type Critic struct {
	caller *Caller
	s      Settings
	o      Options
}

// NewCritic returns a critic that asks by the caller.
func NewCritic(c *Caller, s Settings, o Options) *Critic { return &Critic{c, s, o} }

// Name says who reads: a critic's block has no name of its own.
func (c *Critic) Name() string { return "critic " + c.s.Model }

// Review asks the model once. An answer that cannot be read is an error: the
// plan was not read then.
func (c *Critic) Review(ctx context.Context, v planner.Review) (planner.Opinion, error) {
	question, err := prompt.RenderReview(prompt.Input{
		Problem: v.Problem, Goal: v.Goal, Notes: c.s.Notes, ContextTokens: c.o.ContextTokens, Redact: c.o.Redact,
	}, v.Steps)
	if err != nil {
		return planner.Opinion{}, err
	}
	a, used, err := c.caller.Complete(ctx, Call{
		System: question.System, Prompt: question.User, Schema: json.RawMessage(prompt.ReviewSchema), MaxTokens: c.s.Answers(c.o.MaxTokens),
	}, v.Budget)
	if err != nil {
		return planner.Opinion{Usage: used}, err
	}
	if a.Finish != Stopped {
		return planner.Opinion{Usage: used}, fmt.Errorf("the answer ended with %q", a.Finish)
	}
	op, err := ReadOpinion(a.Text, len(v.Steps))
	op.Usage = used
	return op, err
}

// maxChanges bounds what a critic may require of one plan.
const maxChanges = 20

// ReadOpinion reads a critic's answer on a plan of so many steps: JSON, with
// prose or a code fence around it. One that requires nothing it can name
// accepts nothing and rejects nothing: it is an error.
func ReadOpinion(text string, steps int) (planner.Opinion, error) {
	doc, ok := opinion(text)
	if !ok {
		return planner.Opinion{}, errors.New("the answer is no opinion: " + line(text))
	}
	if *doc.Accept {
		return planner.Opinion{Accept: true}, nil
	}
	var op planner.Opinion
	for _, ch := range doc.Changes {
		if ch.Step < 1 || ch.Step > steps || strings.TrimSpace(ch.Text) == "" || len(op.Changes) == maxChanges {
			continue
		}
		op.Changes = append(op.Changes, planner.Change{Step: ch.Step, Text: line(ch.Text)})
	}
	if len(op.Changes) == 0 {
		return planner.Opinion{}, errors.New("the critic rejects the plan and names no step: " + line(text))
	}
	return op, nil
}

// said is an opinion as a critic writes it.
type said struct {
	Accept  *bool            `json:"accept"`
	Changes []planner.Change `json:"changes"`
}

// opinion finds the first JSON object in a text that is an opinion.
func opinion(text string) (said, bool) {
	const most = 256 // braces that are tried
	for range most {
		at := strings.IndexByte(text, '{')
		if at < 0 {
			break
		}
		var doc said
		if json.NewDecoder(strings.NewReader(text[at:])).Decode(&doc) == nil && doc.Accept != nil {
			return doc, true
		}
		text = text[at+1:]
	}
	return said{}, false
}
