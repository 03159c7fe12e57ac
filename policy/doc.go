// Package policy holds the limits of a run and decides by them: from the
// policy block of a model and the progress of a run it answers whether the run
// may go on, has to wait, or stops, and why. It is asked before every call of a
// language model, every execution of an action, every retry, and between
// rounds.
//
// By its rules it also answers whether a plan, or a step, is allowed, denied, or
// to be approved by a person: from [Facts] about them alone. Conditions of rules
// are compiled when they are decoded; what they look at is compared and never
// read as code, and what cannot be evaluated is not let pass.
//
// It stands beside the validator, above model. The executor feeds what
// happened into a [Tracker] and asks [Policy.Decide]; the planner gets its
// limits from here by way of the executor or the command line.
//
// It is pure: no I/O and no clock. Time and history are arguments, so that
// every decision can be derived again from the journal. It has no limit of its
// own: what the block does not say is not limited, and what must be limited the
// block must say.
package policy
