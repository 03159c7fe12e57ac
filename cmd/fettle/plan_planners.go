package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model/load"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/planner/llm"
	"github.com/fettleops/fettle/planner/llm/anthropic"
	"github.com/fettleops/fettle/planner/llm/openai"
	planprogram "github.com/fettleops/fettle/planner/llm/program"
	"github.com/fettleops/fettle/planner/llm/prompt"
	"github.com/fettleops/fettle/planner/search"
	"github.com/fettleops/fettle/world"
)

// builtin is the name and the kind of the built-in search.
const builtin = "search"

// foresight bounds the search that a language model's planner makes first: a
// proof that there is no plan spares every call.
var foresight = search.Options{MaxNodes: 200_000, MaxMemory: 256 << 20, Timeout: 2 * time.Second}

// plannersOf returns the model's planners in the order written, the built-in
// search behind them, or the one that is named. Said is what a person should
// know of them, a line each: which cannot be asked while others stand in for
// them, and whose money is not counted.
func plannersOf(l *loaded, name string, o search.Options, rec *llm.Recorder) (proposers []planner.Proposer, said []string, err error) {
	var names []string
	searched := false
	for _, b := range l.Planners {
		names = append(names, b.Name)
		if name != "" && b.Name != name {
			continue
		}
		p, note, err := l.proposer(b, o, rec)
		var absent *absentError
		switch {
		case errors.As(err, &absent) && name == "" && !absent.required:
			said = append(said, "Warning: "+absent.Error()+"; it is passed over")
			continue
		case err != nil:
			return nil, nil, err
		}
		if note != "" {
			said = append(said, note)
		}
		searched = searched || b.Kind == builtin
		proposers = append(proposers, p)
	}
	switch {
	case name == "" && !searched, name == builtin && len(proposers) == 0:
		proposers = append(proposers, planner.NewSearch(builtin, o))
	case len(proposers) == 0:
		return nil, nil, unknownName("planner", name, append(names, builtin))
	}
	return proposers, said, nil
}

// absentError says why a planner cannot be asked at all.
type absentError struct {
	block    *load.Block
	why      string
	required bool
}

func (e *absentError) Error() string {
	s := blockName(e.block) + ": " + e.why
	if e.required {
		s += "; it is required, so nobody is asked in its place"
	}
	return s
}

// blockName says which planner it is, and where it is written.
func blockName(b *load.Block) string { return fmt.Sprintf("planner %q (%s)", b.Name, place(b.Range)) }

const noPolicy = "without a policy only the built-in search plans; add one"

// proposer makes the planner that a block describes, with a note on it where
// there is something to know.
func (l *loaded) proposer(b *load.Block, o search.Options, rec *llm.Recorder) (planner.Proposer, string, error) {
	switch b.Kind {
	case builtin:
		return planner.NewSearch(b.Name, o), "", noAttributes(b)
	case "exec":
		s, diags := planprogram.Decode(b.Name, b.Body, l.Eval, l.Folder)
		if diags.HasErrors() {
			return nil, "", diags
		}
		if l.policy == nil {
			return nil, "", &absentError{b, noPolicy, s.Required}
		}
		return planprogram.New(s, planprogram.Options{}), "", nil
	case "replay":
		if l.policy == nil {
			return nil, "", &absentError{b, noPolicy, false}
		}
		p, err := l.replayPlanner(b)
		return p, "", err
	}
	return l.modelPlanner(b, rec)
}

// modelPlanner makes a planner that calls a language model.
func (l *loaded) modelPlanner(b *load.Block, rec *llm.Recorder) (planner.Proposer, string, error) {
	s, diags := llm.Decode(b.Kind, b.Name, b.Body, l.Eval, l.Folder, os.LookupEnv)
	if diags.HasErrors() {
		return nil, "", diags
	}
	if l.policy == nil {
		return nil, "", &absentError{b, noPolicy + " with max_calls and max_cost", s.Required}
	}
	if why := s.Unready(); why != "" {
		return nil, "", &absentError{b, why, s.Required}
	}
	note := ""
	if s.Price == nil {
		note = "Note: " + blockName(b) + " has no price: its calls and tokens are counted, its money is not, and max_cost does not bound it"
	}
	return llm.New(llm.NewCaller(l.client(b, s.Name, s, rec), s), s, l.modelOptions()), note, nil
}

// client returns what calls the settings' model, for who is recorded by that
// name. No key that it is called with comes back in an error, whatever a server
// repeats.
func (l *loaded) client(b *load.Block, who string, s llm.Settings, rec *llm.Recorder) llm.Client {
	if s.APIKey != "" && !slices.Contains(l.Secrets, s.APIKey) {
		l.Secrets = append(l.Secrets, s.APIKey)
	}
	for _, value := range s.Headers { // Some of them are credentials, and nobody says which.
		if len(value) > 7 && !slices.Contains(l.Secrets, value) {
			l.Secrets = append(l.Secrets, value)
		}
	}
	client := llm.Client(discreet{clients[b.Kind](s), l.redact})
	if rec != nil {
		client = rec.Client(client, who, s.Model)
	}
	return client
}

// discreet takes secrets out of what is told of failed calls.
type discreet struct {
	llm.Client
	redact func(string) string
}

func (c discreet) Complete(ctx context.Context, call llm.Call) (llm.Answer, error) {
	a, err := c.Client.Complete(ctx, call)
	if failed, ok := llm.AsCallError(err); ok {
		told := *failed
		told.Detail = c.redact(told.Detail)
		return a, &told
	}
	return a, err
}

// clients are the APIs of language models.
var clients = map[string]func(llm.Settings) llm.Client{"openai": openai.New, "anthropic": anthropic.New}

// modelOptions are what every planner with a language model gets.
func (l *loaded) modelOptions() llm.Options {
	o := llm.Options{Search: planner.NewSearch(builtin, foresight), Redact: l.redact, Lessons: func() []prompt.Lesson { return l.lessons }}
	if p := l.policy; p != nil {
		o.MaxTokens, o.ContextTokens = p.MaxTokens.Or(0), p.ContextTokens.Or(0)
	}
	return o
}

// redact takes the values of sensitive variables out of a text, in whatever form,
// and what looks like a secret.
func (l *loaded) redact(s string) string {
	return world.Hide(l.Secrets, l.Redact)(s)
}

func (l *loaded) replayPlanner(b *load.Block) (planner.Proposer, error) {
	file, diags := llm.DecodeReplay(b.Body, l.Eval, l.Folder)
	if diags.HasErrors() {
		return nil, diags
	}
	client, err := llm.Replay(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", blockName(b), err)
	}
	s := replaySettings(b)
	return llm.New(llm.NewCaller(client, s), s, l.modelOptions()), nil
}

// replaySettings are those of a planner whose answers are recorded ones.
func replaySettings(b *load.Block) llm.Settings {
	return llm.Settings{Kind: b.Kind, Name: b.Name, Model: "replay", Timeout: time.Minute}
}

func place(r hcl.Range) string { return fmt.Sprintf("%s line %d", r.Filename, r.Start.Line) }

// noAttributes refuses what a search block says and nothing would obey: the
// search's limits are the policy's.
func noAttributes(b *load.Block) error {
	if _, diags := b.Body.Content(&hcl.BodySchema{}); diags.HasErrors() {
		return fmt.Errorf("%s takes no settings; the limits of the search stand in the policy: %s", blockName(b), diags[0].Detail)
	}
	return nil
}

func joinReasons(reasons []string) string { return strings.Join(reasons, "; ") }
