// Package modeltest runs the tests of an action model: the test blocks of its
// *.fettletest.hcl files. A test starts from a state (one of the model's, one
// written out, or what observations gave), takes a plan or asks the search for
// one, and holds what the validator says of it against what is expected.
//
// It stands above the loader, which checks the blocks, and the validator, whose
// verdicts it compares; the search is passed in as a [Search]. [Cover] tells
// which parts of the model the tests exercise, and [Mutate] which parts could
// be left out without any test noticing. It reads no files, knows no clock, and
// never touches the world.
//
// The language of a test:
//
//	test "drain needs the capacity" {
//	  state = "fault"                        # or facts, values, unknown; or observed
//	  goal  = "healthy"                      # with arguments: "restored(api)"
//	  plan  = ["drain(api)", "drain(db)"]    # or text; none: the search plans
//	  expect {
//	    step       = 2
//	    kind       = "precondition"
//	    conditions = ["capacity"]
//	  }
//	}
//
// A state written with facts, values and unknown is closed, as in a state
// block: a bool that is not listed is false. One given as observed is open:
// what is not listed is unknown. A test that gives neither starts from the
// model's one state. Objects of discovered types are those that the state and
// the goal name. With a plan, a test that names no goal asks only whether the
// plan can be carried out; without one, it plans for the model's one goal.
//
// Of expect at least one is given, and all that is given must hold:
//
//	valid        the plan is valid, or (false) violates something
//	step         the number of the violating step, from 1
//	kind         the kind of the violation
//	conditions   all conjuncts that fail, in any order, as a critique names them
//	steps, max_steps   the length of the plan, or a bound of it
//	cost, max_cost     the cost of the plan, or a bound of it
//	state, unknown     facts of the final state, or of the one before the violating step
//	unsolvable   the search proves that there is no plan
//	unobservable the search proves that no plan is sure while facts are unknown
//
// Where neither a violation nor an unsolvable goal is expected, the plan must be
// valid, whatever else is.
package modeltest
