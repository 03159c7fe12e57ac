package main

import (
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/planner/search"
	"github.com/fettleops/fettle/policy"
)

func testPolicy() *policy.Policy {
	return &policy.Policy{
		MaxRounds: 3, MaxAttempts: 4, MaxActions: 5, Deadline: 10 * time.Minute, MaxRepeats: 2, SameFailureRetries: 3,
		NoEvidenceRounds: 2, MaxErrors: 1, MaxCalls: policy.AtMost(10), MaxCost: policy.AtMost(1.0),
	}
}

// TestPlanLimits: where the limits of planning come from.
func TestPlanLimits(t *testing.T) {
	tight := testPolicy()
	tight.MaxPlanSteps, tight.Search.MaxNodes = policy.AtMost(30), policy.AtMost(500)
	tests := []struct {
		name   string
		args   string
		policy *policy.Policy
		want   planLimits
	}{
		{
			"defaults without a policy", "", nil,
			planLimits{planner.Limits{MaxAttempts: 3, SameFailureRetries: 2}, search.Options{MaxNodes: 10_000_000, MaxMemory: 1 << 30, Timeout: time.Minute}},
		},
		{
			"flags without a policy", "--max-attempts 7 --max-plan-steps 9 --max-nodes 11 --max-memory 2MiB --timeout 3s", nil,
			planLimits{planner.Limits{MaxAttempts: 7, MaxPlanSteps: 9, SameFailureRetries: 2}, search.Options{MaxNodes: 11, MaxMemory: 2 << 20, Timeout: 3 * time.Second}},
		},
		{
			"what a policy does not limit is not limited", "", testPolicy(),
			planLimits{planner.Limits{MaxAttempts: 4, SameFailureRetries: 3}, search.Options{}},
		},
		{
			"a policy's limits", "", tight,
			planLimits{planner.Limits{MaxAttempts: 4, MaxPlanSteps: 30, SameFailureRetries: 3}, search.Options{MaxNodes: 500}},
		},
		{
			"tightened by flags", "--max-attempts 4 --max-plan-steps 29 --max-nodes 1 --timeout 2h", tight,
			planLimits{planner.Limits{MaxAttempts: 4, MaxPlanSteps: 29, SameFailureRetries: 3}, search.Options{MaxNodes: 1, Timeout: 2 * time.Hour}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var f limitFlags
			fl := pflag.NewFlagSet("plan", pflag.ContinueOnError)
			f.register(fl)
			if err := fl.Parse(strings.Fields(tt.args)); err != nil {
				t.Fatal(err)
			}
			f.given = fl.Changed
			got, err := f.limits(tt.policy)
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, %v\nwant %+v", got, err, tt.want)
			}
		})
	}
}

// TestSpendingKeepsToThePolicy: what is reserved counts until it is settled,
// then what was used does.
func TestSpendingKeepsToThePolicy(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s := newSpending(testPolicy(), func() time.Time { return now })
	reserve := func(u planner.Usage, want string) func(planner.Usage) {
		t.Helper()
		settle, err := s.Reserve(u)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("reserving %+v: %q, want %q", u, got, want)
		}
		return settle
	}
	reserve(planner.Usage{}, "")
	first := reserve(planner.Usage{Calls: 1, Cost: 0.75}, "")
	reserve(planner.Usage{Calls: 1, Cost: 0.5}, "max_cost = $1 could be exceeded: $0 used, and the next call may cost $1.25")
	first(planner.Usage{Calls: 1, TokensIn: 100, Cost: 0.25})
	second := reserve(planner.Usage{Calls: 1, Cost: 0.5}, "")
	second(planner.Usage{Calls: 1, Cost: 0.75})
	reserve(planner.Usage{Calls: 1}, "max_cost = $1 reached: $1 used")
	reserve(planner.Usage{}, "")
	now = now.Add(10 * time.Minute)
	reserve(planner.Usage{}, "deadline = 10m is over: the run started 10m ago")
}

// TestSpendingIsSharedSafely: callers at the same time never get more calls
// than there are.
func TestSpendingIsSharedSafely(t *testing.T) {
	s := newSpending(testPolicy(), time.Now)
	var granted atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5 {
				settle, err := s.Reserve(planner.Usage{Calls: 1})
				if err == nil {
					granted.Add(1)
					settle(planner.Usage{Calls: 1})
				}
			}
		})
	}
	wg.Wait()
	if n := granted.Load(); n != 10 {
		t.Errorf("%d calls granted, 10 allowed", n)
	}
}
