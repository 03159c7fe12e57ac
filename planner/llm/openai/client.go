// Package openai calls language models by the chat completions API, which
// OpenAI and most others serve: vLLM, Ollama, llama.cpp, proxies.
package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"github.com/fettleops/fettle/planner/llm"
)

// client makes calls with one model's settings.
type client struct {
	service openai.ChatCompletionService
	s       llm.Settings
}

// New returns a client for the settings' model. What the SDK would take from
// the environment on its own is not taken: the settings say all.
func New(s llm.Settings) llm.Client {
	opts := []option.RequestOption{
		option.WithEnvironmentProduction(), option.WithHTTPClient(llm.HTTPClient()), option.WithMaxRetries(0),
	}
	if s.BaseURL != "" {
		opts = append(opts, option.WithBaseURL(s.BaseURL))
	}
	if s.APIKey != "" {
		opts = append(opts, option.WithAPIKey(s.APIKey))
	}
	for name, value := range s.Headers {
		opts = append(opts, option.WithHeader(name, value))
	}
	for name, value := range s.ExtraBody {
		opts = append(opts, option.WithJSONSet(name, value))
	}
	return &client{openai.NewChatCompletionService(opts...), s}
}

func (c *client) Complete(ctx context.Context, call llm.Call) (llm.Answer, error) {
	params, err := c.params(call)
	if err != nil {
		return llm.Answer{}, &llm.CallError{Class: llm.BadRequest, Detail: err.Error(), Err: err}
	}
	res, err := c.service.New(ctx, params)
	if err != nil {
		return llm.Answer{}, llm.Failure(ctx, err)
	}
	if res == nil {
		return llm.Answer{}, &llm.CallError{Class: llm.NotAnAnswer, Status: http.StatusOK, Detail: "it is empty"}
	}
	return answer(res)
}

func (c *client) params(call llm.Call) (openai.ChatCompletionNewParams, error) {
	p := openai.ChatCompletionNewParams{
		Model:    c.s.Model,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(call.System), openai.UserMessage(call.Prompt)},
	}
	if c.s.BaseURL == "" {
		p.MaxCompletionTokens = openai.Int(int64(call.MaxTokens))
	} else { // What the others know it by.
		p.MaxTokens = openai.Int(int64(call.MaxTokens))
	}
	if c.s.Temperature != nil {
		p.Temperature = openai.Float(*c.s.Temperature)
	}
	if c.s.ReasoningEffort != "" {
		p.ReasoningEffort = shared.ReasoningEffort(c.s.ReasoningEffort)
	}
	if call.Schema == nil {
		return p, nil
	}
	var schema map[string]any
	if err := json.Unmarshal(call.Schema, &schema); err != nil {
		return p, fmt.Errorf("the schema of the answer: %w", err)
	}
	p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
		JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "answer", Schema: schema, Strict: openai.Bool(true)},
	}
	return p, nil
}

func answer(res *openai.ChatCompletion) (llm.Answer, error) {
	a := llm.Answer{
		TokensIn: int(res.Usage.PromptTokens), TokensOut: int(res.Usage.CompletionTokens),
		Cached: int(res.Usage.PromptTokensDetails.CachedTokens),
	}
	if !res.JSON.Choices.Valid() {
		return a, &llm.CallError{Class: llm.NotAnAnswer, Status: http.StatusOK, Detail: "there are no choices in it"}
	}
	if len(res.Choices) == 0 {
		a.Finish = llm.Stopped // With nothing to say.
		return a, nil
	}
	choice := res.Choices[0]
	a.Text, a.Refusal = choice.Message.Content, choice.Message.Refusal
	switch choice.FinishReason {
	case "stop", "tool_calls", "function_call":
		a.Finish = llm.Stopped
	case "length":
		a.Finish = llm.Length
	case "content_filter":
		a.Finish = llm.Filtered
	default:
		a.Finish = llm.Cut
	}
	if a.Refusal != "" {
		a.Finish = llm.Refused
	}
	return a, nil
}
