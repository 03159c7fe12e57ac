package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/policy"
	"github.com/fettleops/fettle/world"
)

// shortestInCluster is the shortest time that a lease may be kept in a cluster
// with etcd's usual election time-out of a second: three times that and the
// second that a request is given.
const shortestInCluster = 6 * time.Second

// tryTimes holds the times of the model against that of the leases.
func (a *app) tryTimes(l *loaded) []world.Trial {
	locker := lease.New(nil, "", lease.Options{TTL: a.leaseTTL})
	defer locker.Close()
	ttl, margin := locker.Times()
	t := world.Trial{Block: "time of leases", Says: fmt.Sprintf("kept for %s, of which a holder may use %s without a renewal", brief(ttl), brief(ttl-margin))}
	if l.Etcd != nil && ttl < shortestInCluster {
		t.Range, t.Wrong = l.Etcd.Range, "Leases too short"
		t.Mend = fmt.Sprintf("In a cluster with etcd's usual election time-out of 1s a lease should last for %s, three times an election and a request of 1s, so that a change of leader ends none. Give run --lease-ttl %s or more.",
			brief(shortestInCluster), brief(shortestInCluster))
	}
	return append([]world.Trial{t}, l.unprotected(ttl, margin)...)
}

// unprotected tells of actions that may act after their lease has passed to
// somebody else, with nothing that would notice.
func (l *loaded) unprotected(ttl, margin time.Duration) []world.Trial {
	var out []world.Trial
	for _, act := range l.Model.Actions {
		info := l.Actions[act]
		if info == nil || info.Run == nil || !l.world.Acts(act) || l.world.Fenced(act) || l.world.Timeout(act) <= ttl-margin {
			continue
		}
		out = append(out, world.Trial{
			Block: fmt.Sprintf("action %q", act.Name), Source: world.Source{Kind: info.Run.Kind}, Range: info.Run.Range,
			Says:  fmt.Sprintf("keeps no fence and may take %s, and a lease is good for %s without a renewal", l.world.Timeout(act), brief(ttl-margin)),
			Wrong: "Unprotected action",
			Mend:  fmt.Sprintf("Where this process is paused for longer, the action may act late, on what is somebody else's by then. Give it a fence block, a timeout of at most %s, or run --lease-ttl more.%s", brief(ttl-margin), l.undoes(act)),
		})
	}
	return out
}

// undoes says of which actions one is the undo that a run would go by itself.
func (l *loaded) undoes(undo *model.Action) string {
	if l.policy == nil || l.policy.OnStop != policy.Restore {
		return ""
	}
	var of []string
	for _, act := range l.Model.Actions {
		if info := l.Actions[act]; info != nil && info.Undo != "" {
			if name, _, err := model.ParseAtom(info.Undo); err == nil && name == undo.Name {
				of = append(of, act.Name)
			}
		}
	}
	if len(of) == 0 {
		return ""
	}
	return fmt.Sprintf(" It is the undo of %s: although on_stop = \"restore\", a run is not carried out without a person's approval of going back by it.", strings.Join(of, ", "))
}
