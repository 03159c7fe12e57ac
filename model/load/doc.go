// Package load reads an action model: HCL files become a [model.Model] and
// everything around it that later floors need (the bodies of observe and run
// blocks, settings, variables).
//
// It stands between the files and package model, the only package of ours that
// it imports. HCL gives the structure; conditions are strings in expr-lang's
// syntax, of which only the parser is used: checking names, types and arity
// and lowering to [model.Expr] are done here, in one pass over its tree.
//
// Every mistake of the author's is reported, all in one run, as an
// [hcl.Diagnostic] at its exact place, inside condition strings too. What it
// refuses: whatever reads a clock, draws a random number or depends on the
// order of a map; unknown blocks, attributes and names; names that shadow each
// other. The bodies of observe, run, discover and policy blocks are kept
// undecoded for the packages that serve them; those of providers, planners,
// critics, triggers, notifications and tests are kept too, but checked here.
//
// [Loaded.Doubts] goes on where mistakes end: it warns of what is sound and most
// likely not meant, and only of what follows from the model itself.
package load
