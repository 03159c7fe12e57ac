// Package executor runs the bounded loop: observe, plan, ask, act under guard,
// compare effects, replan from what was observed, and stop within the limits of
// the policy.
//
// It stands above everything that knows something (model, validator, planner,
// policy, lease, world) and joins them; it decides nothing that they decide.
// Every decision, observation and outcome of a run is an event of its journal,
// see the catalogue in events.go, and whatever shows a run reads those events.
//
// It refuses to act on what it did not observe itself under lease, on a plan
// whose rest no longer validates from there, and when it cannot record what it
// is about to do.
package executor
