package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/fettleops/fettle/examples/fleet/accesslog"
)

const (
	leaks   = "api" // The two that are broken before fettle starts.
	misruns = "db"
)

// stage is a fresh folder, the fleet that runs in it, and how to run fettle.
type stage struct {
	options
	dir     string
	logFile string
	fleet   *fleetClient
	process *exec.Cmd // The fleet.
	prom    *scraper  // Nil: fettle looks itself.
	pids    []int     // Every process of the fleet that was seen; to be gone at the end.
	groups  []int     // Process groups of which nobody may be left.
	cleared bool
}

func setStage(ctx context.Context, o options) (*stage, error) {
	dir, err := freshFolder(o.keep)
	if err != nil {
		return nil, err
	}
	st := &stage{options: o, dir: dir, logFile: filepath.Join(dir, "access.jsonl")}
	if err := st.startFleet(ctx); err != nil {
		st.clear()
		return nil, err
	}
	if o.prometheus != "" {
		if err := st.startPrometheus(ctx); err != nil {
			st.clear()
			return nil, err
		}
	}
	return st, nil
}

// freshFolder makes the folder to keep, which must be new or empty: what an
// earlier demo left would be taken for this one's. Without a name it is temporary.
func freshFolder(keep string) (string, error) {
	if keep == "" {
		dir, err := os.MkdirTemp("", "fleet")
		if err != nil {
			return "", fmt.Errorf("fresh folder: %w", err)
		}
		return dir, nil
	}
	if err := os.MkdirAll(keep, 0o700); err != nil {
		return "", fmt.Errorf("fresh folder: %w", err)
	}
	if entries, err := os.ReadDir(keep); err != nil || len(entries) > 0 {
		return "", fmt.Errorf("the folder %s to keep things in is not empty", keep)
	}
	return keep, nil
}

func (st *stage) startFleet(ctx context.Context) error {
	if err := st.copyModel(); err != nil {
		return err
	}
	addressFile := filepath.Join(st.dir, "address")
	st.process = exec.Command(st.options.fleet, "up", "--listen", "127.0.0.1:0", "--address-file", addressFile,
		"--log", st.logFile, "--state", filepath.Join(st.dir, "fleet"), "--warmup", warmup.String())
	st.process.Stderr = os.Stderr
	st.process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := st.process.Start(); err != nil {
		st.process = nil
		return fmt.Errorf("start the fleet: %w", err)
	}
	st.groups = append(st.groups, st.process.Process.Pid)
	var address []byte
	err := poll(ctx, 20*time.Second, func() (ok bool, err error) {
		address, err = os.ReadFile(addressFile)
		return err == nil, nil
	})
	if err != nil {
		return fmt.Errorf("the fleet did not come up: %w", err)
	}
	st.fleet = newFleetClient("http://" + strings.TrimSpace(string(address)))
	return nil
}

// copyModel takes only the model's files, so that fettle's run sees what a
// person's would and leaves nothing beside the original.
func (st *stage) copyModel() error {
	to := filepath.Join(st.dir, "model")
	if err := os.MkdirAll(to, 0o700); err != nil {
		return fmt.Errorf("copy the model: %w", err)
	}
	files, err := filepath.Glob(filepath.Join(st.model, "*.fettle.hcl"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no *.fettle.hcl in %s", st.model)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("copy the model: %w", err)
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(file)), text, 0o600); err != nil {
			return fmt.Errorf("copy the model: %w", err)
		}
	}
	return nil
}

func (st *stage) stateDir() string { return filepath.Join(st.dir, "state") }

func (st *stage) breakTwo(ctx context.Context) error {
	if err := st.notePIDs(ctx); err != nil {
		return err
	}
	if err := st.fleet.fault(ctx, leaks, "leak"); err != nil {
		return err
	}
	return st.fleet.fault(ctx, misruns, "bad_version")
}

// notePIDs remembers the processes of the fleet as they are now.
func (st *stage) notePIDs(ctx context.Context) error {
	services, err := st.fleet.services(ctx)
	for _, s := range services {
		if s.PID != 0 {
			st.pids = append(st.pids, s.PID)
		}
	}
	return err
}

func (st *stage) entries() ([]accesslog.Entry, error) {
	text, err := os.ReadFile(st.logFile)
	if err != nil {
		return nil, fmt.Errorf("read the access log: %w", err)
	}
	return accesslog.Read(bytes.NewReader(text))
}

// clear ends the fleet, waits for every process that was seen to be gone, and
// removes the folder. It returns what is left; a second call does nothing.
func (st *stage) clear() []string {
	if st.cleared {
		return nil
	}
	st.cleared = true
	if st.prom != nil {
		st.prom.end()
	}
	if st.process != nil {
		stopKill := endGroup(st.process)
		_ = st.process.Wait()
		stopKill()
	}
	left := st.endAll()
	if st.keep == "" {
		if err := os.RemoveAll(st.dir); err != nil {
			left = append(left, err.Error())
		}
	}
	return left
}

// poll asks ok again and again until it says yes, fails, or time is up.
func poll(ctx context.Context, limit time.Duration, ok func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if yes, err := ok(); yes || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
