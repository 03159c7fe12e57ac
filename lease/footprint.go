package lease

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	// maxOps is etcd's limit of the largest of a transaction's three lists.
	maxOps = 128
	// reserve is kept free in each list for the conditions, beliefs and events of the caller.
	reserve = 24
)

// footprint is a normalised set of resources: sorted, each fluent and instance
// once, and nothing shared that an exclusive one covers.
type footprint []Resource

// nothing is the footprint of an action that reads and writes nothing. It is a
// key all the same: without one there is no token (a transaction that writes
// nothing has no revision of its own) and nothing to compare when arming.
var nothing = footprint{Resource{}}

// newFootprint merges the resources wanted, and coarsens fluents with many
// instances to the whole where the transactions would grow beyond etcd's limit.
// So many conditions more are spared.
func newFootprint(want []Resource, spare int) (footprint, error) {
	for _, r := range want {
		if r.Fluent == "" {
			return nil, errors.New("lease: a resource without a fluent")
		}
		if !utf8.ValidString(r.Fluent) || !utf8.ValidString(r.Instance) { // Records are JSON, which would change it.
			return nil, fmt.Errorf("lease: resource %q is not valid UTF-8", r)
		}
	}
	f := merge(want)
	if len(f) == 0 {
		return nothing, nil
	}
	for f.size()+spare > maxOps {
		fluent := f.costliest()
		if fluent == "" {
			return nil, fmt.Errorf("lease: a footprint of %d fluents is too large for one transaction; split the action", len(f.fluents()))
		}
		f = f.coarsen(fluent)
	}
	return f, nil
}

// merge sorts, joins shared and exclusive of the same, and drops what the whole fluent covers.
func merge(want []Resource) footprint {
	f := slices.Clone(want)
	slices.SortFunc(f, func(a, b Resource) int {
		return cmp.Or(cmp.Compare(a.Fluent, b.Fluent), cmp.Compare(a.Instance, b.Instance), order(b.Exclusive, a.Exclusive))
	})
	f = slices.CompactFunc(f, func(a, b Resource) bool { return a.Fluent == b.Fluent && a.Instance == b.Instance })
	whole := map[string]Resource{}
	for _, r := range f {
		if r.Instance == "" {
			whole[r.Fluent] = r
		}
	}
	return slices.DeleteFunc(f, func(r Resource) bool {
		w, ok := whole[r.Fluent]
		return ok && r.Instance != "" && (w.Exclusive || !r.Exclusive)
	})
}

func order(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// size is the longest list of any transaction that the footprint takes part in:
// the compares and puts of Acquire, the deletes of Finish.
func (f footprint) size() int {
	marks := 0
	for _, r := range f {
		if r.Exclusive {
			marks++
		}
	}
	acquire := len(f.free("")) + len(f.fluents())    // Their queues too.
	afterWait := len(f) + len(f.fluents()) + reserve // Locks put, tickets deleted.
	finish := len(f) + marks + 1 + reserve
	return max(acquire, afterWait, finish)
}

func (f footprint) fluents() []string {
	var out []string
	for _, r := range f {
		if len(out) == 0 || out[len(out)-1] != r.Fluent {
			out = append(out, r.Fluent)
		}
	}
	return out
}

func (f footprint) of(fluent string) []Resource {
	var out []Resource
	for _, r := range f {
		if r.Fluent == fluent {
			out = append(out, r)
		}
	}
	return out
}

// costliest returns the fluent whose instances take the most conditions and
// operations, empty where only whole fluents are left.
func (f footprint) costliest() (fluent string) {
	most := 0
	for _, name := range f.fluents() {
		rs := f.of(name)
		if len(rs) == 1 && rs[0].Instance == "" {
			continue
		}
		if n := len(rs) + len(freeFluent("", name, rs)); n > most {
			fluent, most = name, n
		}
	}
	return fluent
}

// coarsen replaces the instances of a fluent by the whole, exclusive if any of them was.
func (f footprint) coarsen(fluent string) footprint {
	whole := Resource{Fluent: fluent}
	for _, r := range f.of(fluent) {
		whole.Exclusive = whole.Exclusive || r.Exclusive
	}
	return merge(append(slices.Clone(f), whole)) // Covers all of them, being exclusive where one is.
}

// covering returns the exclusive resource that covers a write.
func (f footprint) covering(w Resource) (Resource, bool) {
	for _, r := range f {
		if r.Exclusive && r.Fluent == w.Fluent && (r.Instance == "" || r.Instance == w.Instance) {
			return r, true
		}
	}
	return Resource{}, false
}

// keyRange is the range [from, to) of keys.
type keyRange struct{ from, to string }

func prefixed(p string) keyRange { return keyRange{p, clientv3.GetPrefixRangeEnd(p)} }

func (r keyRange) empty() clientv3.Cmp { return absent(r.from).WithRange(r.to) }

// around returns what of the range lies between the keys, which are sorted.
func (r keyRange) around(keys []string) []keyRange {
	var out []keyRange
	for _, key := range keys {
		if key < r.from || key >= r.to {
			continue
		}
		if r.from < key {
			out = append(out, keyRange{r.from, key})
		}
		r.from = key + "\x00"
	}
	return append(out, r)
}

func (r keyRange) get(opts ...clientv3.OpOption) clientv3.Op {
	return clientv3.OpGet(r.from, append(opts, clientv3.WithRange(r.to))...)
}

// free returns the ranges that must be empty for the footprint to be taken. They
// are compared before anything is put, so own shared never blocks own exclusive.
//
//	exclusive instance a   F/x// F/s// F/x/a/ F/s/a/
//	shared instance a      F/x// F/x/a/
//	exclusive whole        F/
//	shared whole           F/x/
func (f footprint) free(k Keys) []keyRange {
	var out []keyRange
	for _, fluent := range f.fluents() {
		out = append(out, freeFluent(k, fluent, f.of(fluent))...)
	}
	return out
}

func freeFluent(k Keys, fluent string, rs []Resource) []keyRange {
	whole := rs[0].Instance == "" // Sorted first.
	if whole && rs[0].Exclusive {
		return []keyRange{prefixed(k.fluent(fluent))}
	}
	out := []keyRange{prefixed(k.exclusive(fluent, ""))}
	if whole {
		out[0] = prefixed(k.exclusives(fluent))
	}
	if slices.ContainsFunc(rs, func(r Resource) bool { return r.Exclusive }) {
		out = append(out, prefixed(k.shared(fluent, "")))
	}
	for _, r := range rs {
		if !whole {
			out = append(out, prefixed(k.exclusive(fluent, r.Instance)))
		}
		if r.Exclusive {
			out = append(out, prefixed(k.shared(fluent, r.Instance)))
		}
	}
	return out
}

// locks returns the keys to be put under a lease.
func (f footprint) locks(k Keys, id clientv3.LeaseID) []string {
	out := make([]string, 0, len(f))
	for _, r := range f {
		if r.Exclusive {
			out = append(out, k.Exclusive(r.Fluent, r.Instance))
		} else {
			out = append(out, k.Shared(r.Fluent, r.Instance, id))
		}
	}
	return out
}
