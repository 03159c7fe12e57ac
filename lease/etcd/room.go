package etcd

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// MakeRoom drops the history of the etcd that this process hosts and gives what
// was in use for it, and for removed keys, back to the disk. It does so only where
// nobody is joined, for whom it would stand still in the middle of an action; a
// cluster is its operator's to tidy. Doing nothing is no error: CheckSpace tells
// what came of it. No action of this process may be under way.
func (s *Store) MakeRoom(ctx context.Context) error {
	if srv := s.hosting(); srv == nil || countJoined(srv.dir) > 0 {
		return nil
	}
	if err := s.compact(ctx); err != nil {
		return err
	}
	if err := s.Defragment(ctx); err != nil {
		return err
	}
	if q, err := s.Quota(ctx); err != nil || q.NearlyFull() {
		return err
	}
	// Once it was full etcd takes nothing until it is told that there is room again.
	if _, err := s.client.AlarmDisarm(ctx, &clientv3.AlarmMember{}); err != nil {
		return fmt.Errorf("etcd: tell it that there is room: %w", err)
	}
	return nil
}

func (s *Store) compact(ctx context.Context) error {
	resp, err := s.client.Get(ctx, s.prefix, clientv3.WithCountOnly())
	if err != nil {
		return fmt.Errorf("etcd: its revision: %w", err)
	}
	_, err = s.client.Compact(ctx, resp.Header.Revision, clientv3.WithCompactPhysical())
	if err != nil && !errors.Is(err, rpctypes.ErrCompacted) { // Just compacted is fine.
		return fmt.Errorf("etcd: compact: %w", err)
	}
	return nil
}

// tidyFrom is the size below which the file is left alone at the start.
const tidyFrom = 32 << 20

// untidy tells whether it is worth the while of a start to tidy the file: the
// hourly compaction never comes to processes that live for minutes.
func (q Quota) untidy() bool { return q.Used >= tidyFrom || q.NearlyFull() }

// wasteful tells whether more than half of the file is free.
func (q Quota) wasteful() bool { return q.Used-q.Live > q.Used/2 }

// tidy makes a file smaller that has grown, before anybody uses it. What fails
// here is met again by whoever needs the room.
func (s *Store) tidy(ctx context.Context) {
	q, err := s.Quota(ctx)
	if err != nil || !q.untidy() {
		return
	}
	if !q.NearlyFull() {
		if s.compact(ctx) != nil {
			return
		}
		if q, err = s.Quota(ctx); err != nil || !q.wasteful() {
			return
		}
	}
	_ = s.MakeRoom(ctx)
}
