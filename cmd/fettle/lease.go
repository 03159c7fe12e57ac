package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/model"
)

func newLeaseCommand(a *app) *cobra.Command {
	var path string
	var f leaseFlags
	cmd := &cobra.Command{
		Use:   "lease KEY -- CMD [ARG…]",
		Short: "Run a command under a lease, so that people and scripts join the protocol",
		Long: "Waits its turn for the lease of KEY, runs the command, and gives the lease back however that ends. While it lasts, no run\n" +
			"carries out an action that needs KEY. KEY is a ground atom (\"in_lb(api)\"), a fluent (\"in_lb\": all of it), or a name\n" +
			"that actions lock.\n\n" +
			"The command finds the fencing token in FETTLE_FENCE, and gets every signal that fettle gets. Where the lease is lost it is\n" +
			"told to end by SIGTERM, and by SIGKILL soon after.\n\n" + whenKilled + "\n\n" +
			"While it waits, SIGINT, SIGTERM, SIGHUP and SIGQUIT end fettle; other signals do nothing.\n\n" +
			"Exit status: the command's, 128+N where signal N ended it, 127 where it was not found, 126 where it could not be started,\n" +
			"4 where the lease was not free within --wait, 1 where the lease could not be had or was lost.",
		Example:     "  fettle lease deploy -- ./deploy.sh\n  fettle lease \"in_lb(api)\" --wait 5m --model examples/fleet -- ./drain-by-hand.sh api",
		Args:        cobra.MinimumNArgs(1),
		Annotations: map[string]string{guarded: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if n := cmd.ArgsLenAtDash(); n != 1 || len(args) < 2 {
				return errors.New("write the key, then --, then the command: fettle lease deploy -- ./deploy.sh")
			}
			f.bounded = cmd.Flags().Changed("wait")
			return a.withLocker(cmd.Context(), path, a.openStore, func(l *loaded, _ *store, k *lease.Locker) error {
				return a.underLease(cmd.Context(), l, k, args[0], args[1:], f)
			})
		},
	}
	modelFlag(cmd, &path)
	cmd.Flags().DurationVar(&f.wait, "wait", 0, "how long to wait at most for others that hold it; 0 does not wait (default: until it is free)")
	cmd.Flags().BoolVar(&f.shared, "shared", false, "keep others from changing it, but not from reading it as well")
	cmd.Flags().StringVar(&f.reason, "reason", "", "what for, for those who find it held")
	a.stateDirFlag(cmd)
	a.leaseTTLFlag(cmd)
	return cmd
}

// leaseFlags are the flags of lease.
type leaseFlags struct {
	wait    time.Duration
	bounded bool // --wait was given
	shared  bool
	reason  string
}

func (a *app) underLease(ctx context.Context, l *loaded, k *lease.Locker, key string, argv []string, f leaseFlags) error {
	res, err := resourceOf(l, model.NewUniverse(l.Model), key)
	if err != nil {
		return err
	}
	res.Exclusive = !f.shared
	// From here on signals are the command's; until it runs they end the wait.
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, passedOn...)
	defer signal.Stop(signals)
	if ctx.Err() != nil { // One came before.
		return &exitError{code: signalled + int(syscall.SIGINT), err: fmt.Errorf("ended by a signal before the lease of %s was taken", key)}
	}
	held, err := a.awaitLease(ctx, k, res, key, l.ownerOf(argv, f.reason), f, signals)
	if err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	_, margin := k.Times()
	status, err := (&child{key: key, argv: argv, fence: held.Fence(), grace: margin, lost: held.Lost(), signals: signals}).run(a)
	if lost := a.giveBack(ctx, held, key); lost != nil && err == nil {
		status, err = max(status, exitFailed), fmt.Errorf("the lease of %s was lost while the command ran: %w", key, lost)
	}
	if err != nil || status != exitDone {
		return &exitError{code: status, err: err}
	}
	return nil
}

// giveBack ends the lease, and returns why it was lost before, if it was.
func (a *app) giveBack(ctx context.Context, held *lease.Held, key string) error {
	lost := held.Err()
	err := held.Release(ctx)
	var gone *lease.LostError
	switch {
	case lost != nil: // What is left of it, if anything, is given back or expires.
		return lost
	case errors.As(err, &gone): // Lost at the last moment.
		return gone.Cause
	case err != nil:
		fmt.Fprintf(a.err, "Warning: the lease of %s was not given back: %s; what is left of it expires\n", plain(key), plain(spoken(err)))
	}
	return nil
}
