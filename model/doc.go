// Package model holds the one semantics of fettle: types and their objects,
// fluents, actions, conditions in three-valued logic, effects, invariants,
// goals and states. Everything that decides (the validator, the search, the
// executor's guards) evaluates conditions and applies effects through this
// package, so that a dry run and a real run cannot disagree.
//
// It is the first floor of the program and imports none of the others. It does
// no I/O, reads no clock, draws no random number, writes no log and knows
// nothing of HCL: package load builds a [Model] from files, a [Universe] joins
// it with the objects of one round, a [State] assigns values to its ground
// fluents.
//
// Unknown is a value. Conditions follow Kleene's three-valued logic, numbers
// are intervals while anything in them is unknown, and a condition that is not
// definitely true does not hold.
package model
