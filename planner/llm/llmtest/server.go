// Package llmtest serves a language model's API to tests, over a real socket:
// OpenAI's chat completions and Anthropic's messages, with answers and failures
// as a script says. It answers nothing by itself.
package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Play is what the server does with one request.
type Play struct {
	Name string
	do   func(*exchange)
}

// decode reads a body; what is no object is empty.
func decode(body []byte) (out map[string]any) {
	if json.Unmarshal(body, &out) != nil {
		return nil
	}
	return out
}

// exchange is one request, with the API that it speaks.
type exchange struct {
	w         http.ResponseWriter
	r         *http.Request
	body      []byte
	anthropic bool
	gone      <-chan struct{} // closed when the test is over
	in, out   int             // tokens that an answer says it took
}

// Server plays a script, request by request; its last play is repeated.
type Server struct {
	URL string
	// Asked is closed when the first request has come.
	Asked <-chan struct{}

	asked  func()
	mu     sync.Mutex
	script []Play
	seen   []Request
}

// Request is what the server saw.
type Request struct {
	Path   string
	Header http.Header
	Body   map[string]any
}

// Start starts a server that ends with the test.
func Start(tb testing.TB, script ...Play) *Server {
	tb.Helper()
	asked, gone := make(chan struct{}), make(chan struct{})
	s := &Server{script: script, Asked: asked, asked: sync.OnceFunc(func() { close(asked) })}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // The client went away.
		}
		s.next(r, body).do(&exchange{w, r, body, strings.HasSuffix(r.URL.Path, "/messages"), gone, TokensIn, TokensOut})
	}))
	tb.Cleanup(func() {
		close(gone)
		h.Close()
	})
	s.URL = h.URL
	return s
}

func (s *Server) next(r *http.Request, body []byte) Play {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.asked()
	seen := Request{Path: r.URL.Path, Header: r.Header.Clone()}
	if json.Unmarshal(body, &seen.Body) != nil {
		seen.Body = nil
	}
	s.seen = append(s.seen, seen)
	p := s.script[0]
	if len(s.script) > 1 {
		s.script = s.script[1:]
	}
	return p
}

// Seen returns the requests so far.
func (s *Server) Seen() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.seen...)
}

// Prompt returns the user's message of a request.
func (r Request) Prompt() string {
	messages, _ := r.Body["messages"].([]any)
	for _, m := range messages {
		m, _ := m.(map[string]any)
		if m["role"] != "user" {
			continue
		}
		switch c := m["content"].(type) {
		case string:
			return c
		case []any:
			block, _ := c[0].(map[string]any)
			text, _ := block["text"].(string)
			return text
		}
	}
	return ""
}

// HasSchema tells whether structured output was asked for.
func (r Request) HasSchema() bool {
	if c, ok := r.Body["output_config"].(map[string]any); ok && c["format"] != nil {
		return true
	}
	return r.Body["response_format"] != nil
}

// Tokens that every answer with text says it took.
const (
	TokensIn  = 100
	TokensOut = 20
)

// reply is an answer in the API's shape; finish is OpenAI's word.
func (x *exchange) reply(text, refusal, finish string) {
	x.w.Header().Set("Content-Type", "application/json")
	raw, err := json.Marshal(x.document(text, refusal, finish))
	if err != nil {
		panic(err) // Strings and numbers.
	}
	_, _ = x.w.Write(raw)
}

func (x *exchange) document(text, refusal, finish string) any {
	if !x.anthropic {
		message := map[string]any{"role": "assistant", "content": text}
		if refusal != "" {
			message["refusal"] = refusal
		}
		choice := map[string]any{"index": 0, "message": message, "finish_reason": finish}
		if finish == "" {
			choice["finish_reason"] = nil
		}
		return map[string]any{
			"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": []any{choice},
			"usage": map[string]any{"prompt_tokens": x.in, "completion_tokens": x.out, "total_tokens": x.in + x.out},
		}
	}
	reason := any(map[string]string{"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal", "refusal": "refusal"}[finish])
	if reason == "" {
		reason = nil
	}
	return map[string]any{
		"id": "c", "type": "message", "role": "assistant", "model": "m", "stop_reason": reason, "stop_sequence": nil,
		"content": []any{map[string]any{"type": "text", "text": text + refusal}},
		"usage":   map[string]any{"input_tokens": x.in, "output_tokens": x.out},
	}
}

func (x *exchange) status(code int, detail string) {
	x.w.Header().Set("Content-Type", "application/json")
	x.w.WriteHeader(code)
	fmt.Fprintf(x.w, `{"type": "error", "error": {"type": "e", "message": %q}}`, detail)
}

// abort ends the connection where it stands.
func (x *exchange) abort() { panic(http.ErrAbortHandler) }
