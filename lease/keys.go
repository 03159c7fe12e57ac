package lease

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Keys is the layout of the keys of one scope; its value is their prefix,
// "<prefix>/v1/<scope>/". Names are escaped, so that none can collide with
// another or reach out of its range. The mode comes before the instance, because
// a range over mixed readers and writers cannot be told apart.
type Keys string

func (k Keys) fluent(f string) string       { return string(k) + "k/" + url.PathEscape(f) + "/" }
func (k Keys) exclusives(f string) string   { return k.fluent(f) + "x/" }
func (k Keys) exclusive(f, i string) string { return k.exclusives(f) + url.PathEscape(i) + "/" }
func (k Keys) shared(f, i string) string    { return k.fluent(f) + "s/" + url.PathEscape(i) + "/" }

// Exclusive returns the key of the exclusive holder of an instance.
func (k Keys) Exclusive(fluent, instance string) string { return k.exclusive(fluent, instance) + "l" }

// Shared returns the key of one shared holder of an instance.
func (k Keys) Shared(fluent, instance string, id clientv3.LeaseID) string {
	return k.shared(fluent, instance) + leaseName(id)
}

// Mark returns the key that marks an instance as in doubt. It has no TTL; its value is the id of the intent.
func (k Keys) Mark(fluent, instance string) string { return k.exclusive(fluent, instance) + "d" }

// Queue returns the prefix of the tickets of those who wait for a fluent.
func (k Keys) Queue(fluent string) string { return string(k) + "q/" + url.PathEscape(fluent) + "/" }

// Ticket returns the key of one ticket.
func (k Keys) Ticket(fluent string, id clientv3.LeaseID) string {
	return k.Queue(fluent) + leaseName(id)
}

// Intent returns the key of the record of an armed action.
func (k Keys) Intent(id string) string { return k.intents() + url.PathEscape(id) }

func (k Keys) intents() string { return string(k) + "intent/" }

// RunOwner returns the key that says which process drives a run.
func (k Keys) RunOwner(run string) string { return string(k) + "run/" + url.PathEscape(run) + "/owner" }

// Belief returns the key of the value of a belief fluent's atom.
func (k Keys) Belief(atom string) string { return string(k) + "belief/" + url.PathEscape(atom) }

// Pause returns the key of the kill switch: while it exists nothing is armed.
func (k Keys) Pause() string { return string(k) + "pause" }

// Approval returns the key of an approval.
func (k Keys) Approval(id string) string { return string(k) + "approval/" + url.PathEscape(id) }

// Deeds is the prefix of the keys of the actions that were begun, in the order of time.
func (k Keys) Deeds() string { return string(k) + "deed/" }

// Deed returns the key of an action that was begun at a time.
func (k Keys) Deed(id string, at time.Time) string { return k.DeedsFrom(at) + "-" + url.PathEscape(id) }

// DeedsFrom returns where the keys of the actions begin that were begun at a time or later.
func (k Keys) DeedsFrom(at time.Time) string {
	return fmt.Sprintf("%s%013d", k.Deeds(), max(0, at.UnixMilli()))
}

// DeedCount returns the key that changes with every action that is begun.
func (k Keys) DeedCount() string { return string(k) + "deeds" }

// Goals is the prefix of the keys of the runs towards goals.
func (k Keys) Goals() string { return string(k) + "goal/" }

// Goal returns the key of the runs towards a goal, which is named as a ground atom.
func (k Keys) Goal(goal string) string { return k.Goals() + url.PathEscape(goal) }

// Audit returns the key of the record of what a person did to the leases.
func (k Keys) Audit(ulid string) string { return string(k) + "audit/" + url.PathEscape(ulid) }

// NotPaused is a condition for Arm: nobody pulled the kill switch.
func (k Keys) NotPaused() clientv3.Cmp {
	if Without(PauseCheck) {
		return always(k.Pause())
	}
	return absent(k.Pause())
}

// OwnsRun is a condition for Arm: the run's owner is still the one whose key was created at the revision.
func (k Keys) OwnsRun(run string, revision int64) clientv3.Cmp {
	if Without(RunOwned) {
		return always(k.RunOwner(run))
	}
	return created(k.RunOwner(run), revision)
}

// StillArmed is a condition that an action is as Arm wrote it at the revision: neither ended nor taken over.
func (k Keys) StillArmed(id string, revision int64) clientv3.Cmp {
	return unchanged(k.Intent(id), revision)
}

// ApprovalStands is a condition for Arm: the approval is still the one that was read at the revision.
func (k Keys) ApprovalStands(id string, modRevision int64) clientv3.Cmp {
	if Without(RunOwned) { // The approval is the run's.
		return always(k.Approval(id))
	}
	return unchanged(k.Approval(id), modRevision)
}

func leaseName(id clientv3.LeaseID) string { return fmt.Sprintf("%016x", uint64(id)) }

// lockKey is what a key below "k/" stands for.
type lockKey struct {
	Resource
	lease clientv3.LeaseID // Of a shared holder.
	mark  bool
}

// parse reads a key below "k/" back; false for any other.
func (k Keys) parse(key string) (lockKey, bool) {
	rest, ok := strings.CutPrefix(key, string(k)+"k/")
	parts := strings.Split(rest, "/")
	if !ok || len(parts) != 4 {
		return lockKey{}, false
	}
	fluent, err1 := url.PathUnescape(parts[0])
	instance, err2 := url.PathUnescape(parts[2])
	if err1 != nil || err2 != nil {
		return lockKey{}, false
	}
	out := lockKey{Resource: Resource{Fluent: fluent, Instance: instance, Exclusive: parts[1] == "x"}}
	if out.Exclusive {
		out.mark = parts[3] == "d"
		return out, out.mark || parts[3] == "l"
	}
	id, err := strconv.ParseUint(parts[3], 16, 64)
	out.lease = clientv3.LeaseID(id)
	return out, err == nil && parts[1] == "s"
}

func absent(key string) clientv3.Cmp { return created(key, 0) }

func created(key string, revision int64) clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(key), "=", revision)
}

// always is a condition that holds whatever the key is.
func always(key string) clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(key), ">", -1)
}

func unchanged(key string, modRevision int64) clientv3.Cmp {
	return clientv3.Compare(clientv3.ModRevision(key), "=", modRevision)
}

// queueOf returns the fluent that a ticket is for, empty for any other key.
func (k Keys) queueOf(key string) string {
	rest, _ := strings.CutPrefix(key, string(k)+"q/")
	name, _, _ := strings.Cut(rest, "/")
	fluent, _ := url.PathUnescape(name)
	return fluent
}
