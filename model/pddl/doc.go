// Package pddl reads a planning task in PDDL, a domain and a problem, into the
// same model, universe, state and goal that package load builds from HCL, so
// that everything behind them works alike on both, and so that thirty years of
// benchmarks and their validator can judge fettle's semantics.
//
// It stands beside package load and imports the model alone. It reads types
// with either, constants, equality, negative, disjunctive, existential and
// universal conditions, conditional effects, numeric fluents, action costs,
// derived predicates that are not recursive, and metrics that are minimised.
// Whatever the requirements say is passed over: real domains declare them
// wrongly. Durative actions, timed initial literals, preferences, constraints,
// object fluents and recursive derived predicates are refused by name and line.
//
// Names are case-insensitive and become lower case. Mistakes are HCL
// diagnostics, as those of package load are.
package pddl
