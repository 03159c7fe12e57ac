// Package server is what others on the network see of runs: so far their
// metrics, folded from the events of the journal and served to Prometheus.
//
// It stands at the end of the flow and only reads: whatever it shows was in the
// journal first, so that it cannot disagree with what a run prints or records.
//
// What it refuses: labels that grow without bound (actions and fluents appear by
// the names in the model, never with their objects), metrics outside of the
// registry it is given, and to outlive whoever closes it.
package server
