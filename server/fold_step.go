package server

import (
	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/world"
)

// diverged is the outcome of an action on which actuator and observation disagree.
const diverged = "diverged"

// How asking for leases ended.
const (
	granted = "granted"
	givenUp = "given_up"
)

func (m *Metrics) stepSkipped(_ journal.Event, s executor.Skipped) {
	m.actions.skipped.WithLabelValues(schema(s.Action)).Inc()
	m.held(s.HeldMS, false)
}

func (m *Metrics) stepWaiting(journal.Event, executor.Waiting) { m.leases.waits.Inc() }

func (m *Metrics) stepAcquired(_ journal.Event, s executor.Acquired) {
	m.leases.wait.WithLabelValues(granted).Observe(inSeconds(s.WaitMS))
}

// stepRefused counts the refusal. Without a fence the leases were never had,
// and the whole time went into asking for them.
func (m *Metrics) stepRefused(_ journal.Event, s executor.Refused) {
	m.actions.refused.WithLabelValues(schema(s.Action), s.Kind).Inc()
	if s.Fence == 0 {
		m.leases.wait.WithLabelValues(givenUp).Observe(inSeconds(s.MS))
	}
	m.held(s.HeldMS, s.Lost)
	m.landed(s.ActionID)
}

func (m *Metrics) stepArmed(e journal.Event, s executor.Armed) {
	m.flying[s.ActionID] = e.Run
	m.actions.inFlight.Set(float64(len(m.flying)))
}

func (m *Metrics) stepFinished(_ journal.Event, s executor.Finished) {
	action := schema(s.Action)
	m.actions.finished.WithLabelValues(action, s.Outcome).Inc()
	m.actions.took.WithLabelValues(action).Observe(inSeconds(s.ActMS))
	for _, e := range s.Seen {
		if e.Verified == "observed" {
			m.actions.delay.WithLabelValues(action).Observe(e.AfterS)
		}
	}
	if s.Outcome == diverged {
		m.divergence(action, s)
	}
	m.held(s.HeldMS, s.Lost)
	m.landed(s.ActionID)
}

// divergence counts the effects on which actuator and observation disagree:
// what an action did not do though it said it was done, or did though it said
// it failed.
func (m *Metrics) divergence(action string, s executor.Finished) {
	verified, direction := "observed", "unannounced"
	if s.Status == string(world.Done) {
		verified, direction = "no", "unseen"
	}
	for _, e := range s.Seen {
		if e.Verified == verified {
			m.actions.diverged.WithLabelValues(action, schema(e.Fluent), direction).Inc()
		}
	}
}

func (m *Metrics) doubtResolved(_ journal.Event, r executor.Resolved) {
	m.leases.resolved.WithLabelValues(schema(r.Action), r.Outcome).Inc()
	m.held(r.HeldMS, false)
	for _, known := range m.doubts {
		delete(known, r.ActionID)
	}
	m.countDoubts()
}

// held takes in how a step's leases ended. Without a time none were taken.
func (m *Metrics) held(ms float64, lost bool) {
	if ms > 0 {
		m.leases.hold.Observe(inSeconds(ms))
	}
	if lost {
		m.leases.lost.Inc()
	}
}

// landed notes that an action is no longer in flight, if it was.
func (m *Metrics) landed(id string) {
	delete(m.flying, id)
	m.actions.inFlight.Set(float64(len(m.flying)))
}

// doubtful takes in what a run knows to be in doubt, in place of what it knew
// before.
func (m *Metrics) doubtful(run string, ids []string) {
	delete(m.doubts, run)
	if len(ids) > 0 {
		m.doubts[run] = map[string]struct{}{}
	}
	for _, id := range ids {
		m.doubts[run][id] = struct{}{}
	}
	m.countDoubts()
}

// countDoubts counts each action once, however many runs know of it.
func (m *Metrics) countDoubts() {
	all := map[string]struct{}{}
	for _, known := range m.doubts {
		for id := range known {
			all[id] = struct{}{}
		}
	}
	m.leases.inDoubt.Set(float64(len(all)))
}
