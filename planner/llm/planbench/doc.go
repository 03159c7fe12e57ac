// Package planbench measures what critiques are worth, with a simulated
// language model: the examples' models and several starts of each, the real
// round, validator, prompt, caller and reply parser, and a [Generator] in place
// of a provider's client. Each degree of feedback gets the same number of calls
// and meets the same first plans; the built-in search stands beside them.
//
// The generator is given what a model would be given, the text of the question,
// and reads back from it which actions and objects there are, what its last plan
// was, and what the critique says. What a model brings along is replaced by a
// plan that is right, of which it writes copies with mistakes. It follows from a
// [Model] of four numbers, and from the seed: the same seed gives the same
// table.
//
// It is no language model. It says how far a critique's content can carry whoever
// takes it up, not how often any model does; docs/benchmarks/planner.md says
// more of what it shows and what it cannot.
package planbench
