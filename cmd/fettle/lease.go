package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
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
			"told to end by SIGTERM, and by SIGKILL soon after.\n\n" +
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
	held, err := a.awaitLease(ctx, k, res, key, argv, f, signals)
	if err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	defer func() {
		if err := held.Release(ctx); err != nil {
			fmt.Fprintf(a.err, "Warning: the lease of %s was not given back: %v; what is left of it expires\n", plain(key), err)
		}
	}()
	_, margin := k.Times()
	status, err := (&child{argv: argv, fence: held.Fence(), grace: margin, lost: held.Lost(), signals: signals}).run(a)
	if err == nil && held.Err() != nil && !errors.Is(held.Err(), lease.ErrReleased) {
		err = fmt.Errorf("the lease of %s was lost while the command ran: %w", key, held.Err())
		status = max(status, exitFailed)
	}
	if err != nil || status != exitDone {
		return &exitError{code: status, err: err}
	}
	return nil
}

// awaitLease takes the lease, waiting its turn as long as it may.
func (a *app) awaitLease(
	ctx context.Context, k *lease.Locker, res lease.Resource, key string, argv []string, f leaseFlags, signals <-chan os.Signal,
) (*lease.Held, error) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	started := make(chan struct{})
	defer close(started)
	go func() {
		select {
		case s := <-signals:
			cancel(&interrupted{s})
		case <-started:
		}
	}()
	if f.bounded && f.wait > 0 {
		defer time.AfterFunc(f.wait, func() { cancel(errNotFree) }).Stop()
	}
	owner := lease.Owner{Action: "fettle lease: " + strings.Join(argv, " "), Reason: f.reason}
	tell := func(busy *lease.BusyError) {
		if f.bounded && f.wait <= 0 {
			cancel(errNotFree)
			return
		}
		fmt.Fprintf(a.err, "waiting for %s: %s\n", plain(key), plain(busy.Error()))
	}
	held, err := k.AcquireWait(ctx, owner, []lease.Resource{res}, lease.Wait{OnBusy: tell})
	if err == nil {
		return held, nil
	}
	var doubt *lease.InDoubtError
	var sig *interrupted
	switch cause := context.Cause(ctx); {
	case errors.As(err, &doubt):
		return nil, fmt.Errorf("%w; a run that needs it resolves that, or `fettle intents resolve`", err)
	case errors.As(cause, &sig):
		return nil, &exitError{code: sig.status(), err: fmt.Errorf("ended by a signal while waiting for %s; the command was not started", key)}
	case errors.Is(cause, errNotFree):
		return nil, &exitError{code: exitWaiting, err: fmt.Errorf("the command was not started: %w", err)}
	}
	return nil, err
}

// errNotFree says that the lease was not free within --wait.
var errNotFree = errors.New("the lease is not free")

// interrupted is the end of a wait by a signal.
type interrupted struct{ signal os.Signal }

func (i *interrupted) Error() string { return "interrupted by " + i.signal.String() }

func (i *interrupted) status() int {
	if s, ok := i.signal.(syscall.Signal); ok {
		return signalled + int(s)
	}
	return exitFailed
}
