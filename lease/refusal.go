package lease

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// RefusedError says that a transaction did not happen because a condition given by the caller does not hold.
type RefusedError struct {
	Exists   bool         // An intent of that id exists.
	Paused   *PauseRecord // Somebody paused everything.
	NotOwner bool         // The run is driven by another process, or by none.
	Approval bool         // The approval is gone, or another.
	Keys     []string     // Of all conditions that do not hold.
}

func (e *RefusedError) Error() string {
	switch {
	case e.Exists:
		return "lease: not armed: an intent of this id exists"
	case e.Paused != nil:
		return "lease: refused: " + e.Paused.String()
	case e.NotOwner:
		return "lease: refused: this process no longer drives the run"
	case e.Approval:
		return "lease: refused: the approval no longer stands"
	case len(e.Keys) > 0:
		return "lease: refused: changed meanwhile: " + strings.Join(e.Keys, ", ")
	}
	return "lease: refused: a condition did not hold, and does again by now"
}

// conditionKeys reads what conditions are about, for the case that they do not hold.
func conditionKeys(cmps []clientv3.Cmp) []clientv3.Op {
	out := make([]clientv3.Op, 0, len(cmps))
	for _, c := range cmps {
		var opts []clientv3.OpOption
		if end := c.GetCompare().GetRangeEnd(); len(end) > 0 {
			opts = append(opts, clientv3.WithRange(string(end)), clientv3.WithLimit(1))
		}
		out = append(out, clientv3.OpGet(string(c.KeyBytes()), opts...))
	}
	return out
}

// refusal says which of the conditions do not hold, from what conditionKeys read at the place given.
func (l *Locker) refusal(cmps []clientv3.Cmp, resp *clientv3.TxnResponse, from int) *RefusedError {
	e := &RefusedError{}
	for i, c := range cmps {
		kv := answer(resp, from+i)
		if holds(c, kv) {
			continue
		}
		key := string(c.KeyBytes())
		e.Keys = append(e.Keys, key)
		switch {
		case key == l.keys.Pause():
			e.Paused = decodePause(kv)
		case strings.HasPrefix(key, string(l.keys)+"run/") && strings.HasSuffix(key, "/owner"):
			e.NotOwner = true
		case strings.HasPrefix(key, l.keys.Approval("")):
			e.Approval = true
		}
	}
	return e
}

// holds evaluates a condition as etcd does, on one key or the first of a range.
func holds(c clientv3.Cmp, kv *mvccpb.KeyValue) bool {
	missing := kv == nil
	if missing {
		kv = &mvccpb.KeyValue{}
	}
	order := 0
	switch want := c.GetCompare().GetTargetUnion().(type) {
	case *etcdserverpb.Compare_CreateRevision:
		order = cmp.Compare(kv.CreateRevision, want.CreateRevision)
	case *etcdserverpb.Compare_ModRevision:
		order = cmp.Compare(kv.ModRevision, want.ModRevision)
	case *etcdserverpb.Compare_Version:
		order = cmp.Compare(kv.Version, want.Version)
	case *etcdserverpb.Compare_Lease:
		order = cmp.Compare(kv.Lease, want.Lease)
	case *etcdserverpb.Compare_Value:
		if missing {
			return false
		}
		order = bytes.Compare(kv.Value, want.Value)
	}
	switch c.GetCompare().GetResult() {
	case etcdserverpb.Compare_EQUAL:
		return order == 0
	case etcdserverpb.Compare_NOT_EQUAL:
		return order != 0
	case etcdserverpb.Compare_GREATER:
		return order > 0
	}
	return order < 0
}

func decodePause(kv *mvccpb.KeyValue) *PauseRecord {
	rec := &PauseRecord{}
	if kv == nil || json.Unmarshal(kv.Value, rec) != nil {
		return &PauseRecord{} // Written by hand: it counts all the same.
	}
	return rec
}
