package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/lease"
)

// concierge reads from the store what the gates of runs are told from. What
// concerns all of them is read once.
type concierge struct {
	s       *store
	k       *lease.Locker
	now     time.Time
	pause   *lease.PauseRecord
	held    []lease.Holder
	queued  []lease.Holder
	intents []lease.Intent
}

func newConcierge(ctx context.Context, s *store, k *lease.Locker, now time.Time) (*concierge, error) {
	c := &concierge{s: s, k: k, now: now}
	rec, paused, err := k.Paused(ctx)
	if err != nil {
		return nil, err
	}
	if paused {
		c.pause = &rec
	}
	if c.held, err = k.AllHolders(ctx); err != nil {
		return nil, err
	}
	if c.queued, err = k.AllWaiting(ctx); err != nil {
		return nil, err
	}
	c.intents, err = k.Intents(ctx)
	return c, err
}

// gates tells what a run is at or waits for, and what people answered to it;
// nothing of one that has ended.
func (c *concierge) gates(ctx context.Context, h executor.Head) ([]gate, []executor.Reply, error) {
	if h.Status != executor.Running && h.Status != executor.WaitingStatus {
		return nil, nil, nil
	}
	s, err := c.situation(ctx, h)
	if err != nil {
		return nil, nil, err
	}
	return s.gates(), s.replies, nil
}

// situation reads what the gates of a run are told from.
func (c *concierge) situation(ctx context.Context, h executor.Head) (situation, error) {
	s := situation{head: h, pause: c.pause, held: c.held, now: c.now}
	s.queued = slices.DeleteFunc(slices.Clone(c.queued), func(t lease.Holder) bool { return t.Owner.Run != h.Run })
	s.intents = slices.DeleteFunc(slices.Clone(c.intents), func(in lease.Intent) bool { return in.Owner.Run != h.Run })
	owner, err := c.k.RunOwnerOf(ctx, h.Run)
	if err != nil {
		return s, err
	}
	s.driven = owner != nil && !deadHere(owner)
	if err := each(c.s.journal.Events(ctx, h.Run), s.stand.event); err != nil {
		return s, err
	}
	s.replies, s.posed, err = c.replies(ctx, h.Run)
	return s, err
}

// replies reads what people answered to a run, the oldest first, and whether a
// question of it is kept.
func (c *concierge) replies(ctx context.Context, run string) (out []executor.Reply, posed bool, err error) {
	prefix := c.k.Keys().Approval(run + "-")
	resp, err := c.s.Client().Get(ctx, prefix, clientv3.WithPrefix())
	if err != nil {
		return nil, false, fmt.Errorf("read the approvals of run %s: %w", run, err)
	}
	for _, kv := range resp.Kvs {
		var r executor.Reply
		if strings.HasSuffix(string(kv.Key), "-question") {
			posed = true
			continue
		}
		if json.Unmarshal(kv.Value, &r) == nil {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b executor.Reply) int { return a.At.Compare(b.At) })
	return out, posed, nil
}

// gatesOf tells what one run is at or waits for, and what people answered to it.
func (a *app) gatesOf(ctx context.Context, s *store, id string) ([]gate, []executor.Reply, error) {
	h, err := headOf(ctx, s, id)
	if err != nil {
		return nil, nil, err
	}
	k := a.locker(s)
	defer k.Close()
	c, err := newConcierge(ctx, s, k, time.Now())
	if err != nil {
		return nil, nil, err
	}
	return c.gates(ctx, h)
}
