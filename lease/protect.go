package lease

// Protection names one of the protections of the protocol. In a build with the
// tag "faults" each of them can be taken away, to show that a test fails
// without it; in any other build none can.
type Protection string

// The protections that Without asks for. Those of the last line belong to the executor.
const (
	Locks       Protection = "locks"        // Nothing is taken that others hold or that is in doubt.
	Deadline    Protection = "deadline"     // Its own deadline, before the keys expire; without it, it never stops believing.
	ArmCompare  Protection = "arm-compare"  // Arm and Finish compare that the locks are ours.
	Marks       Protection = "mark-check"   // What may have been written is marked as in doubt.
	RevokeFirst Protection = "revoke-first" // After a lost answer the lease is revoked before anything is read.
	RunOwned    Protection = "run-owner"    // Arm compares that the run is still driven by this process.
	RunClaim    Protection = "run-claim"    // Only one process at a time claims a run.
	PauseCheck  Protection = "pause-check"  // Arm compares that nothing is paused.
	Tickets     Protection = "tickets"      // Those who wait stand in a queue.

	Fencing   Protection = "fence"      // Fences are raised, and acts carry the token.
	LastCheck Protection = "last-check" // The last look at the own deadline.
	DoubtWait Protection = "doubt-wait" // The wait for unfenced actions in doubt.
)
