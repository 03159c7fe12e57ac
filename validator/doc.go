// Package validator simulates a whole plan and answers with its first
// violation: what fails, which facts make it fail, since which step, which
// actions would mend it, and the smallest change of one step that makes the
// whole plan valid, where one is found within bounded work. The same call is the
// offline dry run, the gate on every proposal of a planner, and the check on the
// rest of a plan while it is carried out.
//
// It is a pure function over package model, streams the plan in one pass and
// grounds nothing that the plan does not name, so that its cost follows the
// length of the plan and not the number of objects. A bad plan is data, a
// [Report], never an error. It does no I/O but for [ReadPlan], which reads
// plans from a reader, and never changes the state it starts from.
package validator
