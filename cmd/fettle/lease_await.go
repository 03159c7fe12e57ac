package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/fettleops/fettle/lease"
)

// endsWait are the signals that end the wait for a lease. Others that the
// command would get, such as the word that a terminal has another size, are
// nobody's while there is no command.
var endsWait = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// ownerOf tells others who find the lease held what for: the command and the
// reason, without what is secret in them.
func (l *loaded) ownerOf(argv []string, reason string) lease.Owner {
	told := make([]string, len(argv))
	for i, arg := range argv {
		told[i] = l.withoutSecrets(arg) // One by one, too: a secret may begin or end with a space.
	}
	return lease.Owner{Action: "fettle lease: " + l.withoutSecrets(strings.Join(told, " ")), Reason: l.withoutSecrets(reason)}
}

// awaitLease takes the lease, waiting its turn as long as it may.
func (a *app) awaitLease(
	ctx context.Context, k *lease.Locker, res lease.Resource, key string, owner lease.Owner, f leaseFlags, signals <-chan os.Signal,
) (*lease.Held, error) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	heard := listen(signals, func(s os.Signal) { cancel(&interrupted{s}) })
	defer heard()
	if f.bounded && f.wait > 0 {
		defer time.AfterFunc(f.wait, func() { cancel(errNotFree) }).Stop()
	}
	tell := func(busy *lease.BusyError) {
		if f.bounded && f.wait <= 0 {
			cancel(errNotFree)
			return
		}
		fmt.Fprintf(a.err, "waiting for %s: %s\n", plain(key), plain(inTheWay(busy)))
	}
	held, err := k.AcquireWait(ctx, owner, []lease.Resource{res}, lease.Wait{OnBusy: tell})
	if err == nil && heard() { // One came while the lease was taken.
		err = context.Cause(ctx)
		_ = a.giveBack(context.WithoutCancel(ctx), held, key) // Lost or not, nothing ran under it.
	}
	if err != nil {
		return nil, notHad(key, context.Cause(ctx), err)
	}
	return held, nil
}

// listen calls end with the first signal that ends a wait. What it returns stops
// it, and tells whether one came; it may be called again.
func listen(signals <-chan os.Signal, end func(os.Signal)) (stop func() (came bool)) {
	over, ended := make(chan struct{}), make(chan bool, 1)
	go func() {
		for {
			select {
			case s := <-signals:
				if slices.Contains(endsWait, s) {
					end(s)
					ended <- true
					return
				}
			case <-over:
				ended <- false
				return
			}
		}
	}()
	return sync.OnceValue(func() bool {
		close(over)
		return <-ended
	})
}

// notHad says why the lease could not be had; the cause is that of the wait's end.
func notHad(key string, cause, err error) error {
	var doubt *lease.InDoubtError
	var busy *lease.BusyError
	var sig *interrupted
	switch {
	case errors.As(err, &doubt):
		return inDoubt(key, doubt)
	case errors.As(cause, &sig):
		return &exitError{code: sig.status(), err: fmt.Errorf("ended by a signal while waiting for %s; the command was not started", key)}
	case errors.Is(cause, errNotFree) && errors.As(err, &busy):
		return &exitError{code: exitWaiting, err: fmt.Errorf("the command was not started: %w", busy)}
	case errors.Is(cause, errNotFree):
		return &exitError{code: exitWaiting, err: fmt.Errorf("the command was not started: %w", err)}
	}
	return err
}

// inDoubt says which actions may have written what is wanted, and how that ends.
func inDoubt(key string, doubt *lease.InDoubtError) error {
	lines := make([]string, 0, len(doubt.Intents))
	for _, in := range doubt.Intents {
		lines = append(lines, plain(fmt.Sprintf("  %s (%s) of run %s, since %s", in.Owner.Action, in.ID, in.Owner.Run, in.Since.Local().Format(time.DateTime))))
	}
	return fmt.Errorf("the command was not started: whether these wrote %s is unknown\n%s\n"+
		"a run that needs it looks; or look yourself, and say what you found with `fettle intents resolve`", plain(key), strings.Join(lines, "\n"))
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
