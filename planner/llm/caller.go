package llm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/fettleops/fettle/planner"
)

// How a caller deals with failures that pass.
const (
	maxTries     = 3                // requests for one answer
	longestPause = 30 * time.Second // a server that asks for more is left alone
	breakAfter   = 3                // answers in a row that did not come, before it is no longer called
	breakFor     = time.Minute
)

// Caller makes calls of one model, within a budget. It alone tries again: after
// a pause, as long as the server asks for or a growing one, and only where the
// budget agrees anew. Safe for concurrent use.
type Caller struct {
	client Client
	s      Settings
	now    func() time.Time
	pause  func(context.Context, time.Duration) error

	mu       sync.Mutex
	noSchema bool      // the server does not take schemas
	failures int       // answers in a row that did not come
	shut     time.Time // not called before
}

// NewCaller returns a caller of the settings' model.
func NewCaller(c Client, s Settings) *Caller {
	return &Caller{client: c, s: s, now: time.Now, pause: pause}
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Complete gets an answer, with as many requests as that takes within the
// bounds. The usage is that of all of them, an error's too. The error is the
// budget's, or a [CallError].
func (c *Caller) Complete(ctx context.Context, call Call, budget planner.Budget) (Answer, planner.Usage, error) {
	var used planner.Usage
	if err := c.open(); err != nil {
		return Answer{}, used, err
	}
	if call.Schema != nil && c.plainOnly() {
		call.Schema = nil
	}
	delays := backoff.NewExponentialBackOff()
	delays.InitialInterval, delays.MaxInterval = 500*time.Millisecond, longestPause
	var last error // the failure before this request
	for try := 1; ; try++ {
		a, u, err := c.once(ctx, call, budget)
		used = used.Add(u)
		var failed *CallError
		switch {
		case err == nil:
			c.came()
			return a, used, nil
		case !errors.As(err, &failed):
			if last != nil {
				err = fmt.Errorf("%w; before that: %s", err, last.Error())
			}
			return a, used, err
		case call.Schema != nil && failed.deniesSchema():
			c.withoutSchema()
			call.Schema = nil
			continue // At most once: there is no schema left to deny.
		case !failed.passes():
			return a, used, failed
		}
		last = failed
		wait := max(failed.After, delays.NextBackOff())
		if try >= maxTries || wait > longestPause {
			c.failed()
			return a, used, failed
		}
		if err := c.pause(ctx, wait); err != nil {
			return a, used, &CallError{Class: Cancelled, Detail: line(err.Error()), Err: err}
		}
	}
}

// once makes one request, if the budget has room for the most it may use.
func (c *Caller) once(ctx context.Context, call Call, budget planner.Budget) (Answer, planner.Usage, error) {
	most := planner.Usage{Calls: 1, TokensIn: mostTokens(call), TokensOut: call.MaxTokens}
	most.Cost = c.s.Price.of(most.TokensIn, 0, most.TokensOut)
	settle, err := budget.Reserve(most)
	if err != nil {
		return Answer{}, planner.Usage{}, err
	}
	cctx, cancel := context.WithTimeout(ctx, c.s.Timeout)
	defer cancel()
	a, err := c.client.Complete(cctx, call)
	used := c.used(&a, most, err)
	settle(used)
	return a, used, err
}

// used is what a request used: what the server says, or the most that was
// reserved where it says nothing or what cannot be. A recording that has no
// numbers used nothing.
func (c *Caller) used(a *Answer, most planner.Usage, err error) planner.Usage {
	const sane = 4 // times what was reserved: tokenizers and providers count in ways of their own
	silent := err == nil && a.TokensIn == 0 && a.TokensOut == 0 && c.s.Kind != "replay"
	absurd := a.TokensIn < 0 || a.TokensOut < 0 || a.TokensIn/sane > most.TokensIn || a.TokensOut/sane > most.TokensOut
	switch {
	case absurd:
		a.TokensIn, a.TokensOut, a.Cached = most.TokensIn, most.TokensOut, 0
	case silent:
		a.TokensIn, a.TokensOut, a.Cached = most.TokensIn, min(most.TokensOut, len(a.Text)), 0
	}
	a.Cached = min(max(a.Cached, 0), a.TokensIn)
	return planner.Usage{Calls: 1, TokensIn: a.TokensIn, TokensOut: a.TokensOut, Cost: c.s.Price.of(a.TokensIn, a.Cached, a.TokensOut)}
}

// mostTokens bounds the tokens of a question: a byte-level tokenizer has at
// most one for each byte, and every message some of its own.
func mostTokens(call Call) int {
	const frame = 64
	return len(call.System) + len(call.Prompt) + len(call.Schema) + frame
}

func (c *Caller) plainOnly() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.noSchema
}

func (c *Caller) withoutSchema() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noSchema = true
}

// open tells why the model is not to be called at all.
func (c *Caller) open() error {
	if why := c.s.Unready(); why != "" {
		return &CallError{Class: NoKey, Detail: why}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if left := c.shut.Sub(c.now()); left > 0 {
		return &CallError{Class: Skipped, Detail: fmt.Sprintf("%d answers in a row did not come; it is asked again in %s", c.failures, left.Round(time.Second))}
	}
	return nil
}

func (c *Caller) came() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failures, c.shut = 0, time.Time{}
}

func (c *Caller) failed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failures++; c.failures >= breakAfter {
		c.shut = c.now().Add(breakFor)
	}
}
