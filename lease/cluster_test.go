package lease

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"

	"github.com/fettleops/fettle/lease/etcd"
)

// cluster is three embedded members, reached over their sockets.
type cluster struct {
	members []*embed.Etcd
	*etcd.Store
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir) // The members' own sockets have to be relative: their paths stand where URLs have a host.
	socket := func(i int, name string) url.URL {
		if name == "p" {
			return url.URL{Scheme: "unix", Host: fmt.Sprint("localhost:", i)}
		}
		return url.URL{Scheme: "unix", Path: filepath.Join(dir, fmt.Sprint(i, name))}
	}
	var all, endpoints []string
	for i := range 3 {
		peer, client := socket(i, "p"), socket(i, "c")
		all = append(all, fmt.Sprintf("m%d=%s", i, peer.String()))
		endpoints = append(endpoints, client.String())
	}
	c := &cluster{}
	for i := range 3 {
		cfg := embed.NewConfig()
		cfg.Name, cfg.Dir = fmt.Sprint("m", i), filepath.Join(dir, fmt.Sprint("data", i))
		client, peer := socket(i, "c"), socket(i, "p")
		cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
		cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
		cfg.InitialCluster = strings.Join(all, ",")
		cfg.TickMs, cfg.ElectionMs = 20, 200
		cfg.EnableGRPCGateway = false
		cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
		m, err := embed.StartEtcd(cfg)
		must(t, err)
		c.members = append(c.members, m)
	}
	t.Cleanup(func() {
		for _, m := range c.members {
			m.Close()
		}
	})
	for _, m := range c.members {
		<-m.Server.ReadyNotify()
	}
	var err error
	c.Store, err = etcd.Open(testCtx(t), etcd.Config{Endpoints: endpoints, OpenTimeout: 20 * time.Second})
	must(t, err)
	t.Cleanup(func() { must(t, c.Close()) })
	return c
}

// stopLeader ends the member that leads.
func (c *cluster) stopLeader(t *testing.T) {
	t.Helper()
	for i, m := range c.members {
		if m.Server.Leader() == m.Server.MemberID() {
			c.members = slices.Delete(c.members, i, i+1)
			m.Close()
			return
		}
	}
	t.Fatal("no member leads")
}

func TestClusterConforms(t *testing.T) {
	c := newCluster(t)
	Suite(t, func(*testing.T) Store { return c })
	t.Run("the leader goes in mid-action", func(t *testing.T) { leaderGoes(t, c) })
	t.Run("with a member gone", func(t *testing.T) {
		Suite(t, func(*testing.T) Store { return c })
	})
}

// leaderGoes ends the leader while an action is armed, another one waits and a run is driven.
func leaderGoes(t *testing.T, c *cluster) {
	scope := newScope(t)
	a, b := newLocker(t, c.Client(), scope, Options{}), newLocker(t, c.Client(), scope, Options{})
	owner, err := a.ClaimRun(testCtx(t), "r", Owner{})
	must(t, err)
	h := acquire(t, a, x("f", "a"))
	must(t, h.Arm(testCtx(t), Intent{ID: "i"}, []clientv3.Cmp{owner.Cmp()}, nil))
	waiter := waits(t, b, "w", x("f", ""))
	c.stopLeader(t)
	finishOrRecover(t, a, h)
	next := <-waiter
	if next == nil || next.Fence() <= h.Fence() {
		t.Fatalf("the one who waited: %+v after %d", next, h.Fence())
	}
	if owner.Remaining() <= 0 {
		t.Errorf("the run's owner is lost: %v", owner.Err())
	}
	must(t, next.Release(testCtx(t)))
	must(t, owner.Release(testCtx(t)))
}

// finishOrRecover finishes, or does what a run does where the answer was lost.
func finishOrRecover(t *testing.T, l *Locker, h *Held) {
	t.Helper()
	err := h.Finish(testCtx(t), Outcome{Result: Applied}, nil)
	if err == nil {
		return
	}
	failsWith[*LostError](t, err)
	if err := h.Unknown(testCtx(t), Outcome{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(testCtx(t), 30*time.Second)
	defer cancel()
	for {
		in, _, err := l.Intent(ctx, h.Intent().ID)
		must(t, err)
		taken, err := l.TakeOver(ctx, Owner{}, in)
		var busy *BusyError
		if errors.As(err, &busy) {
			soon, cancel := context.WithTimeout(ctx, 100*time.Millisecond) // The change may have come before the look.
			if err, over := l.AwaitChange(soon, in.Marks), soon.Err() != nil; err != nil && !over {
				t.Fatal(err)
			}
			cancel()
			continue
		}
		must(t, err)
		must(t, taken.Resolve(ctx, Outcome{Result: Applied}, nil))
		return
	}
}
