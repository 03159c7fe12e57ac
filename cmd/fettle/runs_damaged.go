package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/journal"
)

// damagedStatus is shown of a run whose file in the archive cannot be read.
const damagedStatus = "damaged"

// damagedHead is what can be said of such a run: its id, and the time in it.
func damagedHead(rec journal.Head) executor.Head {
	h := executor.Head{Run: rec.Run, Status: damagedStatus}
	if id, err := ulid.ParseStrict(rec.Run); err == nil {
		h.Started = ulid.Time(id.Time())
	}
	return h
}

// whyDamaged is what is wrong with its file.
func whyDamaged(rec journal.Head) string {
	return strings.TrimPrefix(rec.Damaged.Error(), "journal: archived run "+rec.Run+": ")
}

// passOver warns once of each run that cannot be read: whoever asked for others is
// answered without it.
func (s *store) passOver(damaged []journal.Head) {
	for _, rec := range damaged {
		if s.warned[rec.Run] {
			continue
		}
		if s.warned == nil {
			s.warned = map[string]bool{}
		}
		s.warned[rec.Run] = true
		fmt.Fprintf(s.warn, "Warning: run %s is passed over: %s; put the file back from a backup, or move it away\n", plain(rec.Run), plain(whyDamaged(rec)))
	}
}

// startedAt is when a run began, as far as it is known.
func startedAt(h executor.Head) string {
	if h.Started.IsZero() {
		return pad("-", len(time.DateTime))
	}
	return h.Started.Local().Format(time.DateTime)
}
