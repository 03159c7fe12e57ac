package etcd

import (
	"context"
	"errors"
	"fmt"
)

// ErrNearlyFull says that less than a tenth of etcd's space is left. Once it is
// used up etcd takes no writes at all: no outcome of an action could be recorded.
var ErrNearlyFull = errors.New("etcd is nearly full")

// Quota is how full etcd is, in bytes: the fullest of its members.
type Quota struct {
	Used  int64 // On disk, what may be reused included.
	Live  int64 // Of that, what is in use.
	Limit int64 // From which on etcd takes no writes; zero: it did not say.
}

// NearlyFull reports whether less than a tenth is left.
func (q Quota) NearlyFull() bool { return q.Limit > 0 && q.Limit-q.Used < q.Limit/10 }

// Quota asks etcd how full it is. One member that answers is enough.
func (s *Store) Quota(ctx context.Context) (Quota, error) {
	var out Quota
	var errs []error
	for _, endpoint := range s.endpoints {
		resp, err := s.client.Status(ctx, endpoint)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		q := Quota{Used: resp.DbSize, Live: resp.DbSizeInUse, Limit: resp.DbSizeQuota}
		if out.Limit == 0 || q.Limit > 0 && float64(q.Used)/float64(q.Limit) > float64(out.Used)/float64(out.Limit) {
			out = q
		}
	}
	if len(errs) == len(s.endpoints) {
		return out, fmt.Errorf("etcd: how full it is: %w", errors.Join(errs...))
	}
	return out, nil
}

// CheckSpace refuses to begin something new where etcd is nearly full, with an
// error that is ErrNearlyFull. What is under way may go on: the rest is kept for it.
func (s *Store) CheckSpace(ctx context.Context) error {
	q, err := s.Quota(ctx)
	if err != nil || !q.NearlyFull() {
		return err
	}
	mend := "let finished runs be archived (retention), then compact and defragment it, or raise its quota"
	if s.embedded() {
		mend = "let finished runs be archived (a shorter retention in the policy), or begin anew with another --state-dir"
	}
	return fmt.Errorf("%w: %d of %d MiB are used, nothing new is begun; %s", ErrNearlyFull, q.Used>>20, q.Limit>>20, mend)
}

// embedded reports whether the etcd is the one of a state directory, hosted here or joined.
func (s *Store) embedded() bool { return s.local != nil }

// Defragment gives space that is no longer in use back to the disk, member by
// member. Each of them answers nothing meanwhile: only when no action is under way.
func (s *Store) Defragment(ctx context.Context) error {
	for _, endpoint := range s.endpoints {
		if _, err := s.client.Defragment(ctx, endpoint); err != nil {
			return fmt.Errorf("etcd: defragment: %w", err)
		}
	}
	return nil
}
