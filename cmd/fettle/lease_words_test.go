package main

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/fettleops/fettle/lease"
)

func TestAnErrorAboutLeasesIsToldWithoutTheNamesOfPackages(t *testing.T) {
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	ann := lease.Owner{Action: "fettle lease: ./deploy.sh", Host: "ops1", PID: 7}
	held := lease.Holder{Resource: lease.ParseResource("deploy"), Owner: ann, Since: since, Fence: 12}
	queued := lease.Holder{Resource: lease.Resource{Fluent: "deploy"}, Waiting: true}
	other := lease.Holder{Resource: lease.Resource{Fluent: "in_lb"}, Waiting: true}
	const who = "deploy is held exclusively by fettle lease: ./deploy.sh, pid 7 on ops1 since 2026-01-02T03:04:05Z, token 12"
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&lease.BusyError{Holders: []lease.Holder{held}}, who},
		{
			fmt.Errorf("the command was not started: %w", &lease.BusyError{Holders: []lease.Holder{held, queued, queued, other}}),
			"the command was not started: " + who + "; 2 others wait for deploy; 1 other waits for in_lb",
		},
		{&lease.BusyError{}, "it was held, and is free again by now"},
		{
			&exitError{code: exitFailed, err: fmt.Errorf("run 01A: %w", fmt.Errorf("drive run 01A: %w", &lease.OwnedError{Run: "01A", Owner: ann, Since: since}))},
			"run 01A is driven by fettle lease: ./deploy.sh, pid 7 on ops1 since 2026-01-02T03:04:05Z",
		},
		{
			&lease.RetryableError{Err: fmt.Errorf("lease: grant: %w", &lease.LostError{Cause: lease.ErrDeadline})},
			"not acquired, may be tried again: grant: lease lost: its own deadline passed before a renewal was acknowledged",
		},
		{errors.Join(errors.New("lease: one"), errors.New("the lease: two")), "one\nthe lease: two"},
		{errors.New("a lease: of life"), "a lease: of life"},
	} {
		if got := spoken(tt.err); got != tt.want {
			t.Errorf("%q is told as\n%q, want\n%q", tt.err, got, tt.want)
		}
	}
}

func TestWhoKeepsAStoreOpenIsToldInGrammar(t *testing.T) {
	for n, want := range map[int]string{
		1: "1 process on this host still uses the store that this process holds; it goes on until that one ends (interrupt it to end now)",
		5: "5 processes on this host still use the store that this process holds; it goes on until they end (interrupt it to end now)",
	} {
		if got := lingering(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
