// Package anthropic calls language models by Anthropic's messages API.
package anthropic

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/fettleops/fettle/planner/llm"
)

// client makes calls with one model's settings.
type client struct {
	messages anthropic.MessageService
	s        llm.Settings
}

// New returns a client for the settings' model. What the SDK would take from
// the environment on its own is not taken: the settings say all.
func New(s llm.Settings) llm.Client {
	opts := []option.RequestOption{
		option.WithEnvironmentProduction(), option.WithHTTPClient(llm.HTTPClient()), option.WithMaxRetries(0), option.WithAPIKey(s.APIKey),
	}
	if s.BaseURL != "" {
		opts = append(opts, option.WithBaseURL(s.BaseURL))
	}
	for name, value := range s.Headers {
		opts = append(opts, option.WithHeader(name, value))
	}
	if s.Temperature != nil { // Not every model takes one, so the SDK has no name for it.
		opts = append(opts, option.WithJSONSet("temperature", *s.Temperature))
	}
	for name, value := range s.ExtraBody {
		opts = append(opts, option.WithJSONSet(name, value))
	}
	return &client{anthropic.NewMessageService(opts...), s} // Not the whole client: what is not named is not linked.
}

func (c *client) Complete(ctx context.Context, call llm.Call) (llm.Answer, error) {
	params, err := c.params(call)
	if err != nil {
		return llm.Answer{}, &llm.CallError{Class: llm.BadRequest, Detail: err.Error(), Err: err}
	}
	res, err := c.messages.New(ctx, params, option.WithRequestTimeout(c.s.Timeout))
	if err != nil {
		return llm.Answer{}, llm.Failure(ctx, err)
	}
	if res == nil {
		return llm.Answer{}, &llm.CallError{Class: llm.NotAnAnswer, Status: http.StatusOK, Detail: "it is empty"}
	}
	return answer(res)
}

func (c *client) params(call llm.Call) (anthropic.MessageNewParams, error) {
	p := anthropic.MessageNewParams{
		Model:     anthropic.Model(c.s.Model),
		MaxTokens: int64(call.MaxTokens),
		System:    []anthropic.TextBlockParam{{Text: call.System}},
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(call.Prompt))},
	}
	if c.s.ReasoningEffort != "" {
		p.OutputConfig.Effort = anthropic.OutputConfigEffort(c.s.ReasoningEffort)
	}
	if call.Schema == nil {
		return p, nil
	}
	if err := json.Unmarshal(call.Schema, &p.OutputConfig.Format.Schema); err != nil {
		return p, fmt.Errorf("the schema of the answer: %w", err)
	}
	return p, nil
}

func answer(res *anthropic.Message) (llm.Answer, error) {
	u := res.Usage
	a := llm.Answer{
		TokensIn: int(u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens), Cached: int(u.CacheReadInputTokens),
		TokensOut: int(u.OutputTokens),
	}
	if !res.JSON.Content.Valid() {
		return a, &llm.CallError{Class: llm.NotAnAnswer, Status: http.StatusOK, Detail: "there is no content in it"}
	}
	var text strings.Builder
	for _, block := range res.Content {
		if block.Type == "text" { // Thinking is not part of the answer.
			text.WriteString(block.Text)
		}
	}
	a.Text = text.String()
	switch res.StopReason {
	case anthropic.StopReasonEndTurn, anthropic.StopReasonStopSequence, anthropic.StopReasonToolUse:
		a.Finish = llm.Stopped
	case anthropic.StopReasonMaxTokens, anthropic.StopReasonModelContextWindowExceeded:
		a.Finish = llm.Length
	case anthropic.StopReasonRefusal:
		a.Finish, a.Refusal = llm.Refused, a.Text
	default:
		a.Finish = llm.Cut
	}
	return a, nil
}
