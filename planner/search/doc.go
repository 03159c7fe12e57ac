// Package search is the built-in planner: it grounds a problem by relaxed
// reachability, compiles conditions and effects over compact states, and
// searches forward, first greedily for a short plan, then, where the plan has
// to be of least cost, by A*.
//
// It stands beside the proposers of the planning round and imports the model
// alone. What it compiles agrees with [model.Ground.Applicable],
// [model.Ground.Effects] and [model.Ground.Worsened]; every plan is simulated
// by those before it is returned.
//
// It is complete on finite models. It says [Unsolvable] only where the space
// was exhausted, nothing was left out unsoundly and no unknown fact bears on
// the goal; with such facts it says [Unobservable] and lists them; a limit that
// was reached ends as [Exhausted]. The same problem gives the same answer.
package search
