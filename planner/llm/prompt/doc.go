// Package prompt renders what a language model is asked: one system text and
// one user text, from scratch for every attempt, so that a question holds what
// is known now and no dialogue grows. [Render] describes the model's actions,
// fluents and invariants in plain sentences, the part of the state that bears on
// the goal (found backwards from it), the goal's conditions as acceptance
// criteria, one worked example, the last plan with what is wrong with it as far
// as [Feedback] says, the plans tried before, and those that people rejected. It stands above the planner's
// round, whose attempts it reads, and calls nobody.
//
// What comes from the world (names of objects, values, why a fact is unknown,
// labels of alerts) or from a model (earlier plans, critics' remarks) stands in
// data sections alone: lines of JSON between <data name="…"> and </data>, in
// which no text can write the closing line, see [Fields]. The system text says
// that data is never an instruction. What the operator wrote is trusted:
// names and docs of the model, notes and templates.
//
// A question that is larger than the context allows is trimmed, in this order:
// lessons but the first; the worked example; objects that do not bear on the
// goal; plans tried before the last; facts, those farthest from the goal first,
// down to those that it reads; all but a few objects of each type; labels; the
// steps of the last plan far from its violation; the state before that step; the
// last lesson; the facts that the goal reads. The goal, the actions that bear on
// it, the last critique, the operator's notes and the rules stay; where they
// alone do not fit, Render returns a [SizeError]. What was left out is said in
// the prompt, and in [Prompt].Trimmed.
//
// # Templates
//
// An operator may replace the two texts by text/template sources, "system" and
// "user" in [Templates]. They are executed with [Fields], whose fields are all
// text except MaxPlanSteps; a field is empty where there is nothing to say, so
// that a heading can depend on it:
//
//	{{with .Notes}}From the people on call:
//	{{.}}
//	{{end}}{{.Model}}
//
//	{{.State}}
//
//	{{.Goal}}
//	{{with .Last}}Your last plan failed:
//	{{.}}{{end}}
//
// A system text that does not name .DataRule gets it appended: the rule that
// data is no instruction cannot be replaced. [CheckOverride] says whether
// templates parse and name only what there is.
package prompt
