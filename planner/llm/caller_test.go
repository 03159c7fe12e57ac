package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/planner/llm"
	"github.com/fettleops/fettle/planner/llm/anthropic"
	"github.com/fettleops/fettle/planner/llm/llmtest"
	"github.com/fettleops/fettle/planner/llm/openai"
)

// providers are both kinds of clients.
var providers = map[string]func(llm.Settings) llm.Client{"openai": openai.New, "anthropic": anthropic.New}

// budget counts what is reserved and settled, and says no after some calls.
type budget struct {
	reserved, settled planner.Usage
	most              int
}

var errSpent = errors.New("max_calls reached")

func (b *budget) Reserve(u planner.Usage) (func(planner.Usage), error) {
	if b.most > 0 && b.reserved.Calls+u.Calls > b.most {
		return nil, errSpent
	}
	b.reserved = b.reserved.Add(u)
	return func(used planner.Usage) { b.settled = b.settled.Add(used) }, nil
}

// rig is a caller of a server that plays a script.
type rig struct {
	*llm.Caller
	server *llmtest.Server
	budget budget
	pauses []time.Duration
	now    time.Time
}

func newRig(t *testing.T, kind string, script ...llmtest.Play) *rig {
	t.Helper()
	r := &rig{server: llmtest.Start(t, script...), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	timeout := time.Minute
	if script[0].Name == "hang" {
		timeout = 300 * time.Millisecond
	}
	s := llm.Settings{
		Kind: kind, Name: "main", Model: "m", BaseURL: r.server.URL, APIKey: "key", Timeout: timeout,
		Price: &llm.Price{Input: 2, Output: 10, Cached: 1},
	}
	r.Caller = llm.NewCaller(providers[kind](s), s)
	r.PauseBy(func(_ context.Context, d time.Duration) error {
		r.pauses = append(r.pauses, d)
		return nil
	})
	r.TimeBy(func() time.Time { return r.now })
	return r
}

func (r *rig) ask(t *testing.T) (llm.Answer, planner.Usage, *llm.CallError) {
	t.Helper()
	call := llm.Call{System: "You plan.", Prompt: "Plan.", Schema: json.RawMessage(`{"type": "object"}`), MaxTokens: 50}
	a, used, err := r.Complete(t.Context(), call, &r.budget)
	var failed *llm.CallError
	if err != nil && !errors.As(err, &failed) {
		t.Fatalf("an error of another sort: %v", err)
	}
	return a, used, failed
}

// TestCalls: for every way in which a server may answer or fail, both clients
// tell the same, and the requests that the server saw are those that were
// reserved, settled and told.
func TestCalls(t *testing.T) {
	text := llmtest.Text("a plan")
	for _, c := range []struct {
		name   string
		script []llmtest.Play
		finish llm.Finish
		class  llm.Class // "": an answer
		calls  int
		says   string
		pauses []time.Duration // at least
	}{
		{"an answer", []llmtest.Play{text}, llm.Stopped, "", 1, "", nil},
		{"cut by its length", []llmtest.Play{llmtest.Length("a pl")}, llm.Length, "", 1, "", nil},
		{"no finish reason", []llmtest.Play{llmtest.NoFinish("a pl")}, llm.Cut, "", 1, "", nil},
		{"a refusal", []llmtest.Play{llmtest.Refusal("I will not.")}, llm.Refused, "", 1, "", nil},
		{"no choices", []llmtest.Play{llmtest.NoChoices()}, llm.Stopped, "", 1, "", nil},
		{"JSON of another sort", []llmtest.Play{llmtest.Other()}, "", llm.NotAnAnswer, 1, "in it", nil},
		{"a page with status 200", []llmtest.Play{llmtest.Page(200)}, "", llm.NotAnAnswer, 1, "Sign in", nil},
		{"a page with status 500, then an answer", []llmtest.Play{llmtest.Page(500), text}, llm.Stopped, "", 2, "", []time.Duration{0}},
		{"null", []llmtest.Play{llmtest.Raw(" null ")}, "", llm.NotAnAnswer, 1, "it is empty", nil},
		{"a list", []llmtest.Play{llmtest.Raw("[]")}, "", llm.NotAnAnswer, 1, "", nil},
		{"an error with status 200", []llmtest.Play{llmtest.Raw(`{"error": {"message": "quota exhausted"}}`)}, "", llm.NotAnAnswer, 1, "quota exhausted", nil},
		{"a body without end", []llmtest.Play{llmtest.Huge(9)}, "", llm.NotAnAnswer, 1, "larger than 8 MiB", nil},
		{"429 and a short wait", []llmtest.Play{llmtest.Status(429, "7"), text}, llm.Stopped, "", 2, "", []time.Duration{7 * time.Second}},
		{"429 and a long wait", []llmtest.Play{llmtest.Status(429, "3600")}, "", llm.RateLimited, 1, "the server says 429", nil},
		{"429 without end", []llmtest.Play{llmtest.Status(429, "1")}, "", llm.RateLimited, 3, "HTTP 429", []time.Duration{time.Second, time.Second}},
		{"500 without end", []llmtest.Play{llmtest.Status(500, "")}, "", llm.Unavailable, 3, "the server says 500", []time.Duration{0, 0}},
		{"503, then an answer", []llmtest.Play{llmtest.Status(503, ""), text}, llm.Stopped, "", 2, "", []time.Duration{0}},
		{"overloaded, then an answer", []llmtest.Play{llmtest.Status(529, ""), text}, llm.Stopped, "", 2, "", []time.Duration{0}},
		{"no answer in time", []llmtest.Play{llmtest.Hang()}, "", llm.TimedOut, 3, "took too long", []time.Duration{0, 0}},
		{"no answer in time, then one", []llmtest.Play{llmtest.Hang(), text}, llm.Stopped, "", 2, "", []time.Duration{0}},
		{"a reset, then an answer", []llmtest.Play{llmtest.Reset(), text}, llm.Stopped, "", 2, "", []time.Duration{0}},
		{"cut in its midst, then an answer", []llmtest.Play{llmtest.Cut("a pl"), text}, llm.Stopped, "", 2, "", []time.Duration{0}},
		{"cut in its midst without end", []llmtest.Play{llmtest.Cut("a pl")}, "", llm.Unreachable, 3, "in the midst of the answer", []time.Duration{0, 0}},
		{"400", []llmtest.Play{llmtest.Status(400, "")}, "", llm.BadRequest, 1, "the server says 400", nil},
		{"401", []llmtest.Play{llmtest.Status(401, "")}, "", llm.BadRequest, 1, "the server says 401", nil},
		{"404", []llmtest.Play{llmtest.Page(404)}, "", llm.BadRequest, 1, "Sign in", nil},
		{"a redirect", []llmtest.Play{llmtest.Redirect("http://127.0.0.1:1/")}, "", llm.BadRequest, 1, "redirected to http://127.0.0.1:1/", nil},
		{"no schemas here", []llmtest.Play{llmtest.TextWithoutSchema("a plan")}, llm.Stopped, "", 2, "", nil},
	} {
		for kind := range providers {
			t.Run(c.name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, kind, c.script...)
				a, used, failed := r.ask(t)
				switch {
				case c.class == "" && failed != nil:
					t.Errorf("failed: %v", failed)
				case c.class == "" && a.Finish != c.finish:
					t.Errorf("finish %q, want %q", a.Finish, c.finish)
				case c.class != "" && (failed == nil || failed.Class != c.class || !strings.Contains(failed.Error(), c.says)):
					t.Errorf("failure %v, want %s, saying %q", failed, c.class, c.says)
				}
				if a.Finish == llm.Stopped && a.Text != "a plan" && c.name != "no choices" {
					t.Errorf("text %q", a.Text)
				}
				if saw := len(r.server.Seen()); saw != c.calls || r.budget.reserved.Calls != c.calls || r.budget.settled.Calls != c.calls || used.Calls != c.calls {
					t.Errorf("the server saw %d requests; reserved %d, settled %d, told %d; want %d", saw, r.budget.reserved.Calls, r.budget.settled.Calls, used.Calls, c.calls)
				}
				if len(r.pauses) != len(c.pauses) {
					t.Errorf("paused %v", r.pauses)
				}
				for i, least := range c.pauses {
					if i < len(r.pauses) && r.pauses[i] < least {
						t.Errorf("paused %s where the server asked for %s", r.pauses[i], least)
					}
				}
			})
		}
	}
}

// TestFilteredAnswer: only one of the two APIs has a word for an answer that
// the provider withheld; the other's is a refusal.
func TestFilteredAnswer(t *testing.T) {
	for kind, want := range map[string]llm.Finish{"openai": llm.Filtered, "anthropic": llm.Refused} {
		r := newRig(t, kind, llmtest.Filtered())
		if a, _, failed := r.ask(t); failed != nil || a.Finish != want {
			t.Errorf("%s: finish %q, %v; want %q", kind, a.Finish, failed, want)
		}
	}
}

// TestSchemaIsGivenUpOnce: a server without structured output is not asked for
// it a second time.
func TestSchemaIsGivenUpOnce(t *testing.T) {
	for kind := range providers {
		r := newRig(t, kind, llmtest.TextWithoutSchema("a plan"))
		for range 2 {
			if _, _, failed := r.ask(t); failed != nil {
				t.Fatal(failed)
			}
		}
		var asked []bool
		for _, req := range r.server.Seen() {
			asked = append(asked, req.HasSchema())
		}
		if want := []bool{true, false, false}; !slices.Equal(asked, want) {
			t.Errorf("%s: schemas sent: %v, want %v", kind, asked, want)
		}
	}
}

// TestBudgetIsAskedBeforeEachRequest: a request for which there is no room is
// not made, whatever the failures before it.
func TestBudgetIsAskedBeforeEachRequest(t *testing.T) {
	for kind := range providers {
		r := newRig(t, kind, llmtest.Status(500, ""))
		r.budget.most = 2
		_, used, err := r.Complete(t.Context(), llm.Call{System: "s", Prompt: "p", MaxTokens: 5}, &r.budget)
		if !errors.Is(err, errSpent) || used.Calls != 2 || len(r.server.Seen()) != 2 {
			t.Errorf("%s: %v after %d calls, %d requests", kind, err, used.Calls, len(r.server.Seen()))
		}
	}
}

// TestReservation: what is reserved bounds what is used, and the price is that
// of the block.
func TestReservation(t *testing.T) {
	for kind := range providers {
		r := newRig(t, kind, llmtest.Text("a plan"))
		_, used, _ := r.ask(t)
		want := planner.Usage{Calls: 1, TokensIn: llmtest.TokensIn, TokensOut: llmtest.TokensOut, Cost: (llmtest.TokensIn*2 + llmtest.TokensOut*10) / 1e6}
		if used != want || r.budget.settled != want {
			t.Errorf("%s: used %+v, settled %+v, want %+v", kind, used, r.budget.settled, want)
		}
		if b := r.budget.reserved; b.TokensOut != 50 || b.TokensIn < len("You plan.Plan.") || b.Cost <= 0 {
			t.Errorf("%s: reserved %+v", kind, b)
		}
	}
}

// TestAbsurdCounts: a server cannot give back what was spent, nor hide it: what
// cannot be counts as the most that was reserved.
func TestAbsurdCounts(t *testing.T) {
	for kind := range providers {
		for _, n := range [][2]int{{-1_000_000_000, 5}, {5, -1}, {1 << 60, 1 << 60}, {0, 0}} {
			r := newRig(t, kind, llmtest.Counting("a plan", n[0], n[1]))
			_, used, failed := r.ask(t)
			most := r.budget.reserved
			if failed != nil || used.Cost <= 0 || used.Cost > most.Cost || used.TokensIn != most.TokensIn || r.budget.settled != used {
				t.Errorf("%s, %v: used %+v, settled %+v of %+v, %v", kind, n, used, r.budget.settled, most, failed)
			}
		}
	}
}

// TestBreaker: after some answers in a row that did not come the server is left
// alone for a while, and then asked again.
func TestBreaker(t *testing.T) {
	for kind := range providers {
		r := newRig(t, kind, llmtest.Status(400, ""), llmtest.Status(500, ""))
		if _, _, failed := r.ask(t); failed == nil || failed.Class != llm.BadRequest { // It says nothing of the server.
			t.Fatalf("%s: %v", kind, failed)
		}
		for range 3 {
			if _, _, failed := r.ask(t); failed == nil || failed.Class != llm.Unavailable {
				t.Fatalf("%s: %v", kind, failed)
			}
		}
		before := len(r.server.Seen())
		_, used, failed := r.ask(t)
		if failed == nil || failed.Class != llm.Skipped || !failed.FailsOver() || used.Calls != 0 || len(r.server.Seen()) != before {
			t.Errorf("%s: after three failures: %v, %d calls", kind, failed, used.Calls)
		}
		r.now = r.now.Add(time.Hour)
		if _, _, failed := r.ask(t); failed == nil || failed.Class != llm.Unavailable || len(r.server.Seen()) == before {
			t.Errorf("%s: not asked again: %v", kind, failed)
		}
	}
}

// TestCancelledCall: who cancels gets no second request, and no failover.
func TestCancelledCall(t *testing.T) {
	for kind := range providers {
		r := newRig(t, kind, llmtest.Hang())
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			<-r.server.Asked
			cancel(errors.New("Ctrl-C"))
		}()
		_, _, err := r.Complete(ctx, llm.Call{System: "s", Prompt: "p", MaxTokens: 5}, &r.budget)
		var failed *llm.CallError
		if !errors.As(err, &failed) || failed.Class != llm.Cancelled || failed.FailsOver() || len(r.server.Seen()) != 1 {
			t.Errorf("%s: %v after %d requests", kind, err, len(r.server.Seen()))
		}
	}
}

// TestNoKey: without a key for the provider's own server nothing is sent.
func TestNoKey(t *testing.T) {
	for kind, name := range map[string]string{"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"} {
		s := llm.Settings{Kind: kind, Name: "main", Model: "m", Timeout: time.Second}
		var b budget
		_, _, err := llm.NewCaller(providers[kind](s), s).Complete(t.Context(), llm.Call{Prompt: "p"}, &b)
		var failed *llm.CallError
		if !errors.As(err, &failed) || failed.Class != llm.NoKey || !strings.Contains(err.Error(), name) || b.reserved.Calls != 0 {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
