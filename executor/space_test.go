package executor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/lease/etcd"
)

// newCramped returns a rig on an etcd of its own with little space, which is watched.
func newCramped(t *testing.T) (*rig, *etcd.Space) {
	t.Helper()
	own, err := etcd.Open(testCtx(t), etcd.Config{StateDir: t.TempDir(), OpenTimeout: 20 * time.Second, Quota: 32 << 20})
	must(t, err)
	t.Cleanup(func() { must(t, own.Close()) })
	w := own.WatchSpace(time.Millisecond)
	t.Cleanup(w.Close)
	r := newRig(t, setup{cli: own.Client()})
	r.config.Space = w
	r.yard.ok["api"] = false
	return r, w
}

const filler = "filler/"

// fill uses so much of the space that it is nearly full, even of a file without
// a free page, and not more: two such values fill eight pages, and what is put
// together leaves no free ones between.
func fill(r *rig, w *etcd.Space) {
	r.Helper()
	for i := range 117 { // 29.25 of 32 MiB.
		var puts []clientv3.Op
		for k := range 16 {
			puts = append(puts, clientv3.OpPut(fmt.Sprintf("%s%d/%d", filler, i, k), string(make([]byte, 16000))))
		}
		_, err := r.cli.Txn(testCtx(r)).Then(puts...).Commit()
		must(r, err)
	}
	for end := testCtx(r); !w.Low(); {
		must(r, end.Err())
	}
}

// idle checks that nothing of a run is left: no lock, no ticket, no owner, and nothing armed.
func (r *rig) idle() {
	r.Helper()
	for _, below := range []string{"k/", "q/", "run/" + r.events[0].Run + "/owner"} {
		resp, err := r.cli.Get(testCtx(r), string(r.keys)+below, clientv3.WithPrefix(), clientv3.WithKeysOnly())
		must(r, err)
		if len(resp.Kvs) > 0 {
			r.Errorf("left in etcd: %v", resp.Kvs)
		}
	}
	if in, err := r.config.Locker.Intents(testCtx(r)); err != nil || len(in) > 0 {
		r.Errorf("left in doubt: %v, %v", in, err)
	}
}

func (r *rig) fullAt(end Ended) {
	r.Helper()
	r.ends(end, WaitingStatus, "busy")
	if want := "there is no room left to record more: etcd is nearly full: "; !strings.HasPrefix(end.Message, want) ||
		!strings.HasSuffix(end.Message, ", then go on with fettle resume") {
		r.Errorf("message %q", end.Message)
	}
	r.idle()
}

func TestARunStopsInOrderBeforeItsStoreIsFullAndGoesOnOnceThereIsRoom(t *testing.T) {
	r, w := newCramped(t)
	r.see = func(kind string, e journalEvent) {
		if kind == StepFinished && decoded[Finished](r, e).Action == "stop(api)" {
			fill(r, w)
		}
	}
	end := r.run()
	r.fullAt(end)
	r.did("stop(api)")

	r.see = nil
	_, err := r.cli.Delete(testCtx(r), filler, clientv3.WithPrefix())
	must(r, err)
	r.ends(r.resume(r.events[0].Run), Succeeded, "")
	r.did("stop(api)", "mend(api)", "start(api)")
	r.idle()
}

func TestNoRoundBeginsWhereTheStoreIsNearlyFull(t *testing.T) {
	r, w := newCramped(t)
	fill(r, w)
	end := r.run()
	r.fullAt(end)
	r.did()
	if end.Rounds != 0 {
		t.Errorf("%d rounds", end.Rounds)
	}
}

func TestNothingIsArmedWhereRoomRunsShortWhileAStepIsPrepared(t *testing.T) {
	r, w := newCramped(t)
	r.see = func(kind string, _ journalEvent) {
		if kind == StepAcquired {
			fill(r, w)
		}
	}
	r.fullAt(r.run())
	r.did()
	if f := one[Refused](r, StepRefused); f.Reason != "nothing was done: the store is nearly full" {
		t.Errorf("refused %+v", f)
	}
	if n := len(all[Armed](r, StepArmed)); n != 0 {
		t.Errorf("%d actions were armed", n)
	}
}

// That room was short is forgotten once there is some: the run goes on by itself.
func TestRoomIsMadeOfHistoryBetweenActions(t *testing.T) {
	r, w := newCramped(t)
	r.see = func(kind string, e journalEvent) {
		if kind != StepFinished || decoded[Finished](r, e).Action != "stop(api)" {
			return
		}
		fill(r, w)
		_, err := r.cli.Delete(testCtx(r), filler, clientv3.WithPrefix())
		must(r, err)
	}
	r.ends(r.run(), Succeeded, "")
	r.did("stop(api)", "mend(api)", "start(api)")
	if w.Low() {
		t.Error("room is still short")
	}
}
