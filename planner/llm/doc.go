// Package llm asks language models for plans, and for opinions on plans. A
// [Planner] renders the question, makes the call, reads the reply and proposes
// what it says; the round above it validates and gives the critique back.
//
// The clients below it ([Client]) make one request each and never try again on
// their own. Everything that decides about calls lives in [Caller], once for
// all of them: the budget is asked before each, failures that pass are tried
// again after a pause, a provider that fails again and again is left alone for
// a while, and a server without structured output is asked for plain JSON.
//
// Nothing that a model writes is believed: a plan is validated, a claim that
// there is none is put to the search, and no reply can change actions, objects,
// limits or approvals.
package llm
