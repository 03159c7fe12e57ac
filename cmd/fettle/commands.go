package main

import "github.com/spf13/cobra"

// commands lists every command. Each is in a file of its own.
func commands(a *app) []*cobra.Command {
	return []*cobra.Command{
		newInitCommand(a), newCheckCommand(a), newFmtCommand(a), newImportCommand(a), newGraphCommand(a), newValidateCommand(a), newPlanCommand(a),
		newTestCommand(a), newObserveCommand(a), newRunCommand(a), newRunsCommand(a), newShowCommand(a),
		newResumeCommand(a), newRestoreCommand(a), newApproveCommand(a), newRejectCommand(a), newCancelCommand(a), newPauseCommand(a), newUnpauseCommand(a), newBreakerCommand(a),
		newReplayCommand(a), newLeasesCommand(a), newLeaseCommand(a), newIntentsCommand(a), newNotifyCommand(a), newLessonsCommand(a), newAuditCommand(a), newVersionCommand(a),
	}
}
