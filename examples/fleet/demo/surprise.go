package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/fettleops/fettle/examples/fleet/accesslog"
)

const (
	warmup   = 600 * time.Millisecond // How long a service takes to come up.
	maxDelay = warmup - 100*time.Millisecond
)

// surprise is the third failure: which service, how, and when.
type surprise struct {
	service, fault string
	afterAct       int           // It strikes when the balancer has answered this many acts,
	delay          time.Duration // and so much later.
}

// drawSurprise draws from the seed alone. Of the eight acts that repair the
// first two failures two are slow, the restart and the revert, and no order of
// them has both among the first five. So fettle is still in mid-run when the
// surprise comes at most maxDelay, less than a slow act takes, after the fifth.
func drawSurprise(seed uint64) surprise {
	r := rand.New(rand.NewPCG(seed, seed))
	return surprise{
		service:  []string{"web", "worker"}[r.IntN(2)],
		fault:    []string{"exit", "hang", "leak", "bad_version"}[r.IntN(4)],
		afterAct: 1 + r.IntN(5),
		delay:    time.Duration(r.Int64N(int64(maxDelay))),
	}
}

func (s surprise) String() string {
	return s.service + " " + map[string]string{
		"exit": "dies", "hang": "hangs", "leak": "starts to leak memory", "bad_version": "gets a bad deploy",
	}[s.fault]
}

// performance is what came of fettle's run.
type performance struct {
	surprise
	exit    int       // Exit code of fettle; -1: it could not be run to its end.
	exitErr error     // Why not.
	struck  time.Time // When the third service failed; zero: never.
	ended   time.Time
	missed  string // Why the surprise did not come off.
}

// perform runs fettle to its end, with the surprise on the way.
func (st *stage) perform(ctx context.Context, s surprise) performance {
	perf := performance{surprise: s, exit: -1}
	cmd := st.fettleCommand()
	if err := cmd.Start(); err != nil {
		perf.exitErr = err
		return perf
	}
	st.groups = append(st.groups, cmd.Process.Pid)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	struck := make(chan struct{})
	surpriseCtx, cancel := context.WithCancel(ctx)
	go func() {
		defer close(struck)
		perf.struck, perf.missed = st.strike(surpriseCtx, s)
	}()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		stopKill := endGroup(cmd)
		late := fmt.Sprint(<-ended)
		stopKill()
		err = fmt.Errorf("did not end in time: %w; it was stopped: %s", ctx.Err(), late)
	}
	perf.ended = time.Now()
	cancel()
	<-struck
	var exit *exec.ExitError
	switch {
	case err == nil:
		perf.exit = 0
	case errors.As(err, &exit) && exit.Exited():
		perf.exit = exit.ExitCode()
	default:
		perf.exitErr = err
	}
	return perf
}

// fettleCommand runs fettle as a person would, with their terminal.
func (st *stage) fettleCommand() *exec.Cmd {
	args := []string{"run", "--approve", "--state-dir", st.stateDir(), "--var", "fleet=" + st.fleet.base}
	if st.prom != nil {
		args = append(args, "--var", "prometheus="+st.prom.base)
	}
	cmd := exec.Command(st.fettle, append(args, filepath.Join(st.dir, "model"))...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// strike waits for its moment and injects the third failure.
func (st *stage) strike(ctx context.Context, s surprise) (at time.Time, missed string) {
	if err := st.awaitActs(ctx, s.afterAct); err != nil {
		return at, fmt.Sprintf("fettle made fewer than %d acts: %v", s.afterAct, err)
	}
	timer := time.NewTimer(s.delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return at, "fettle ended first"
	}
	_ = st.notePIDs(ctx) // A service that is being restarted is noted later.
	at = time.Now()
	if err := st.fleet.fault(ctx, s.service, s.fault); err != nil {
		return time.Time{}, err.Error()
	}
	fmt.Fprintf(os.Stdout, "\n  ⚡ %s, %d ms after act %d. fettle has not been told.\n\n", s, s.delay.Milliseconds(), s.afterAct)
	return at, ""
}

// awaitActs reads the access log as it grows until it shows n acts.
func (st *stage) awaitActs(ctx context.Context, n int) error {
	f, err := os.Open(st.logFile)
	if err != nil {
		return fmt.Errorf("read the access log: %w", err)
	}
	defer f.Close()
	return poll(ctx, st.runLimit(), func() (bool, error) {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return false, err
		}
		entries, err := accesslog.Read(f)
		acts := 0
		for _, e := range entries {
			if e.Kind == accesslog.Act {
				acts++
			}
		}
		return acts >= n, err
	})
}
