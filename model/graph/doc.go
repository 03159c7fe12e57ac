// Package graph tells which actions of a model enable and which threaten each
// other: who can make a precondition of whom true, and who can make it false.
// It reads a model and draws it as Graphviz or Mermaid text; it does no I/O and
// looks at no state.
//
// An edge says what can be, not what will be: an effect and a condition meet
// where their arguments can name the same objects. What a precondition demands
// besides is left out of account, so there may be an edge that no reachable
// state bears out, and none is missing. A number that no action changes and no
// state of the model puts below zero is taken for an amount, never below it.
package graph
