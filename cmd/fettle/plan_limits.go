package main

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/planner/search"
	"github.com/fettleops/fettle/policy"
)

// limitFlags bound planning where there is no policy, and can tighten one.
type limitFlags struct {
	attempts, steps, nodes int
	memory                 string
	timeout                time.Duration
	given                  func(flag string) bool
}

func (f *limitFlags) register(fl *pflag.FlagSet) {
	fl.IntVar(&f.attempts, "max-attempts", 3, "proposals in all, without a policy")
	fl.IntVar(&f.steps, "max-plan-steps", 0, "longest plan that is accepted; 0: any")
	fl.IntVar(&f.nodes, "max-nodes", 10_000_000, "states that the search looks at, without a policy")
	fl.StringVar(&f.memory, "max-memory", "1GiB", "memory of the search, without a policy")
	fl.DurationVar(&f.timeout, "timeout", time.Minute, "time of the search, without a policy")
}

// planLimits are the limits of one planning round.
type planLimits struct {
	planner.Limits
	Search search.Options
}

// limits joins flags and policy. Where there is a policy it is the source of
// limits, and a flag that is given can only tighten it.
func (f *limitFlags) limits(p *policy.Policy) (planLimits, error) {
	memory, err := policy.ParseMemory(f.memory)
	if err != nil {
		return planLimits{}, fmt.Errorf("--max-memory: %w", err)
	}
	switch {
	case f.attempts < 1:
		return planLimits{}, fmt.Errorf("--max-attempts is at least 1, not %d", f.attempts)
	case f.steps < 0:
		return planLimits{}, fmt.Errorf("--max-plan-steps cannot be negative, it is %d", f.steps)
	case f.nodes < 1:
		return planLimits{}, fmt.Errorf("--max-nodes is at least 1, not %d", f.nodes)
	case f.timeout <= 0:
		return planLimits{}, fmt.Errorf("--timeout must be more than no time, not %s", f.timeout)
	}
	l := planLimits{
		Limits: planner.Limits{MaxAttempts: f.attempts, MaxPlanSteps: f.steps, SameFailureRetries: 2},
		Search: search.Options{MaxNodes: f.nodes, MaxMemory: memory, Timeout: f.timeout},
	}
	if p == nil {
		return l, nil
	}
	l.SameFailureRetries = p.SameFailureRetries
	err = firstError(
		tighten(f, "max-attempts", policy.AtMost(p.MaxAttempts), &l.MaxAttempts),
		tighten(f, "max-plan-steps", p.MaxPlanSteps, &l.MaxPlanSteps),
		tighten(f, "max-nodes", p.Search.MaxNodes, &l.Search.MaxNodes),
		tighten(f, "max-memory", p.Search.MaxMemory, &l.Search.MaxMemory),
		tighten(f, "timeout", p.Search.Timeout, &l.Search.Timeout),
	)
	return l, err
}

// tighten replaces a flag's default by the policy's limit, no limit being the
// zero value, and refuses a given flag that is looser.
func tighten[T cmp.Ordered](f *limitFlags, flag string, limit policy.Limit[T], value *T) error {
	var none T
	switch {
	case !f.given(flag):
		*value = limit.Or(none)
	case limit.Set && (*value > limit.Value || *value == none):
		return fmt.Errorf("--%s %v is looser than the policy's %v: limits come from the policy, flags only tighten them", flag, *value, limit.Value)
	}
	return nil
}

func firstError(errs ...error) error {
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return errs[i]
	}
	return nil
}

// spending asks the policy before every proposal and every call of a model.
type spending struct {
	policy  *policy.Policy
	now     func() time.Time
	mu      sync.Mutex
	tracker *policy.Tracker
	open    planner.Usage // reserved, not yet settled
}

func newSpending(p *policy.Policy, now func() time.Time) *spending {
	return &spending{policy: p, now: now, tracker: policy.NewTracker(now())}
}

func (s *spending) attempted() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tracker.Attempted()
}

// deniedError is the policy's no.
type deniedError struct{ policy.Decision }

func (e *deniedError) Error() string { return joinReasons(e.Reasons) }

// Reserve implements [planner.Budget].
func (s *spending) Reserve(u planner.Usage) (func(planner.Usage), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := policy.PointAttempt
	if u != (planner.Usage{}) {
		at = policy.PointCall
	}
	all := s.open.Add(u)
	s.tracker.Reserved(all.Calls, all.Cost)
	if d := s.policy.Decide(at, s.tracker.Progress(s.now())); d.Answer != policy.Continue {
		return nil, &deniedError{d}
	}
	s.open = all
	return func(used planner.Usage) { s.settle(u, used) }, nil
}

func (s *spending) settle(reserved, used planner.Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open.Calls -= reserved.Calls
	s.open.Cost -= reserved.Cost
	s.tracker.Called(used.Calls, used.TokensIn+used.TokensOut, used.Cost)
}
