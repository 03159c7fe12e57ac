// Package planner runs the planning round: a proposer is asked for a plan, the
// validator simulates it, and its critique goes back with the next question,
// until a plan is valid or the limits are reached. Proposers are tried in
// order; the built-in search and a plan file are two of them.
//
// It stands above the validator and below the executor and the command line,
// which give it its limits (those of the policy) and a [Budget]. It decides
// nothing about a plan that the validator does not: an invalid plan never
// leaves its round, whoever proposed it, and only a complete search can say
// that there is no plan.
//
// A proposer proposes; it never acts.
package planner
