package lease

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// grant is one etcd lease, for one action, and until when it can be relied on.
type grant struct {
	id  clientv3.LeaseID
	ttl time.Duration
	deadline
}

// poolSize is how many leases are kept ready: one for the next action, one for a taker-over.
const poolSize = 2

// pool keeps leases granted ahead, off the critical path.
type pool struct {
	l      *Locker
	kicked chan struct{}

	mu   sync.Mutex
	idle []*grant
}

// take returns a lease of at least half its time, granting one where none is ready.
func (p *pool) take(ctx context.Context) (*grant, error) {
	defer p.kick()
	for {
		g := p.pop()
		if g == nil {
			return p.l.grant(ctx)
		}
		if g.remaining(p.l.o.Clock()) >= (g.ttl-g.margin)/2 {
			return g, nil
		}
		p.l.revokeBehind(g.id)
	}
}

func (p *pool) pop() *grant {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) == 0 {
		return nil
	}
	g := p.idle[0]
	p.idle = p.idle[1:]
	return g
}

func (p *pool) kick() {
	select {
	case p.kicked <- struct{}{}:
	default:
	}
}

// run fills the pool after each use, and keeps its leases fresh. It starts to
// work with the first use, and ends with ctx.
func (p *pool) run(ctx context.Context) {
	var renew <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.kicked:
			if renew == nil {
				tick := time.NewTicker(p.l.o.TTL / 3)
				defer tick.Stop()
				renew = tick.C
			}
		case <-renew:
			p.refresh(ctx)
		}
		p.fill(ctx)
	}
}

func (p *pool) fill(ctx context.Context) {
	for p.len() < poolSize {
		g, err := p.l.grant(ctx)
		if err != nil {
			return // The next use grants in line, and reports the error.
		}
		p.put(g)
	}
}

func (p *pool) refresh(ctx context.Context) {
	for range p.len() {
		g := p.pop()
		if g == nil {
			return
		}
		if err := p.l.keepAlive(ctx, g); err != nil {
			p.l.revokeBehind(g.id)
			continue
		}
		p.put(g)
	}
}

func (p *pool) put(g *grant) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, g)
}

func (p *pool) len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.idle)
}

// grant asks etcd for a lease. Its deadline counts from when it was asked for.
func (l *Locker) grant(ctx context.Context) (*grant, error) {
	ctx, cancel := l.bounded(ctx)
	defer cancel()
	sent := l.o.Clock()
	resp, err := l.cli.Grant(ctx, int64(l.o.TTL/time.Second))
	if err != nil {
		return nil, fmt.Errorf("grant a lease: %w", err)
	}
	g := &grant{id: resp.ID, ttl: time.Duration(resp.TTL) * time.Second, deadline: deadline{margin: l.o.Margin}}
	g.extend(sent, g.ttl, l.o.Clock())
	return g, nil
}

// keepAlive renews a lease once. The client's own KeepAlive is not used, because
// it counts from the receipt of the answer; its KeepAliveOnce spins while there is no connection.
func (l *Locker) keepAlive(ctx context.Context, g *grant) error {
	ctx, cancel := context.WithTimeout(ctx, l.o.TTL/3)
	defer cancel()
	stream, err := clientv3.RetryLeaseClient(l.cli).LeaseKeepAlive(ctx)
	if err != nil {
		return fmt.Errorf("renew: %w", err)
	}
	sent := l.o.Clock()
	if err := stream.Send(&etcdserverpb.LeaseKeepAliveRequest{ID: int64(g.id)}); err != nil {
		return fmt.Errorf("renew: %w", err)
	}
	resp, err := stream.Recv()
	if err != nil {
		return fmt.Errorf("renew: %w", err)
	}
	_ = stream.CloseSend() // The answer is here; cancel ends what is left.
	if resp.TTL <= 0 {
		return rpctypes.ErrLeaseNotFound
	}
	g.extend(sent, time.Duration(resp.TTL)*time.Second, l.o.Clock())
	return nil
}

// revoke ends a lease and deletes its keys; one that is gone already is fine.
func (l *Locker) revoke(ctx context.Context, id clientv3.LeaseID) error {
	ctx, cancel := l.bounded(ctx)
	defer cancel()
	_, err := l.cli.Revoke(ctx, id)
	if err != nil && !errors.Is(err, rpctypes.ErrLeaseNotFound) {
		return fmt.Errorf("revoke lease %x: %w", int64(id), err)
	}
	return nil
}

// revokeBehind ends a lease off the critical path. Where it fails, or the Locker is closed, the TTL does it.
func (l *Locker) revokeBehind(id clientv3.LeaseID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.behind.Go(func() { _ = l.revoke(context.Background(), id) })
	}
}
