package main

import (
	"encoding/json"
	"net/url"
	"strings"
)

// trace is etcd's history, read as the lease protocol.
type trace struct {
	intents map[string]*intentTrace // By action id.
	locks   []*lockTrace            // Exclusive holders, in the order of their creation.
	doubts  map[string]string       // Marks that nothing removed: key to value.
}

// intentTrace is the record of one armed action.
type intentTrace struct {
	armed   int64  // Revision of its first put.
	settled int64  // Revision of its first change or removal after that; 0: never.
	outcome string // The result last recorded in it, where it says.
}

// lockTrace is one exclusive lock, from its creation to its end.
type lockTrace struct {
	fluent, instance string // Empty instance: the whole fluent.
	created, ended   int64  // 0: never ended.
}

// readTrace finds the protocol's keys by the segments they end in:
// k/<fluent>/x/<instance>/l, k/<fluent>/x/<instance>/d and intent/<action id>.
func readTrace(history []change) trace {
	t := trace{intents: map[string]*intentTrace{}, doubts: map[string]string{}}
	held := map[string]*lockTrace{}
	for _, c := range history {
		seg := strings.Split(c.Key, "/")
		switch kind, lock := classify(seg); kind {
		case "intent":
			t.noteIntent(seg[len(seg)-1], c)
		case "mark":
			if c.Delete {
				delete(t.doubts, c.Key)
			} else {
				t.doubts[c.Key] = c.Value
			}
		case "lock":
			if l := held[c.Key]; c.Delete && l != nil {
				l.ended = c.Rev
				delete(held, c.Key)
			} else if !c.Delete && c.Create == c.Rev {
				lock.created = c.Rev
				held[c.Key] = &lock
				t.locks = append(t.locks, &lock)
			}
		}
	}
	return t
}

func classify(seg []string) (kind string, lock lockTrace) {
	n := len(seg)
	if n >= 2 && seg[n-2] == "intent" {
		return "intent", lock
	}
	if n < 5 || seg[n-5] != "k" || seg[n-3] != "x" {
		return "", lock
	}
	switch seg[n-1] {
	case "d":
		return "mark", lock
	case "l":
		return "lock", lockTrace{fluent: unescape(seg[n-4]), instance: unescape(seg[n-2])}
	}
	return "", lock
}

// unescape undoes the protocol's escaping of names in keys.
func unescape(segment string) string {
	name, err := url.PathUnescape(segment)
	if err != nil {
		return segment
	}
	return name
}

func (t *trace) noteIntent(id string, c change) {
	i := t.intents[id]
	switch {
	case i == nil && !c.Delete:
		t.intents[id] = &intentTrace{armed: c.Rev}
	case i != nil && i.settled == 0:
		i.settled = c.Rev
	}
	var record struct{ Outcome struct{ Result string } }
	if i != nil && json.Unmarshal([]byte(c.Value), &record) == nil && record.Outcome.Result != "" {
		i.outcome = record.Outcome.Result
	}
}

// takenAt lists the exclusive locks created at one revision.
func (t *trace) takenAt(rev int64) []*lockTrace {
	var out []*lockTrace
	for _, l := range t.locks {
		if l.created == rev {
			out = append(out, l)
		}
	}
	return out
}
