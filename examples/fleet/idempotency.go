package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
)

// keptAnswers bounds the memory of given answers; the oldest are forgotten.
const keptAnswers = 10_000

// answer is what a control request is answered with.
type answer struct {
	status int
	body   any
}

// answers remembers the first answer given to each idempotency key.
type answers struct {
	mu    sync.Mutex
	known map[string]*firstAnswer
	order []string
}

type firstAnswer struct {
	request string        // Method and path: one key is for one request.
	ready   chan struct{} // Closed when answer is set.
	answer  answer
}

func newAnswers() *answers { return &answers{known: map[string]*firstAnswer{}} }

// once calls do for the first request with this key and gives every later one
// the same answer, waiting for it where the first is still under way. An empty
// key is never remembered.
func (a *answers) once(ctx context.Context, key, request string, do func() answer) (ans answer, repeat bool) {
	if key == "" {
		return do(), false
	}
	first, mine := a.claim(key, request)
	if mine {
		first.answer = do()
		close(first.ready)
		return first.answer, false
	}
	if first.request != request {
		return refuse(http.StatusUnprocessableEntity, "idempotency key %s was used for %s", key, first.request), true
	}
	select {
	case <-first.ready:
		return first.answer, true
	case <-ctx.Done():
		return refuse(http.StatusServiceUnavailable, "the first request with this key is still under way"), true
	}
}

func (a *answers) claim(key, request string) (first *firstAnswer, mine bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if first, ok := a.known[key]; ok {
		return first, false
	}
	first = &firstAnswer{request: request, ready: make(chan struct{})}
	a.known[key] = first
	a.order = append(a.order, key)
	if len(a.order) > keptAnswers {
		delete(a.known, a.order[0])
		a.order = a.order[1:]
	}
	return first, true
}

// refuse is an answer that says why not.
func refuse(status int, format string, args ...any) answer {
	return answer{status, map[string]string{"error": fmt.Sprintf(format, args...)}}
}
