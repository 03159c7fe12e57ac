package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	endGrace  = 5 * time.Second // From SIGTERM to SIGKILL.
	goneGrace = 3 * time.Second // How long the orphans of an ended process may take to follow it.
)

// endGroup asks a process to end, and kills its whole group when the returned
// function, which the caller calls after it has reaped it, is late.
func endGroup(cmd *exec.Cmd) (stop func() bool) {
	pid := cmd.Process.Pid
	_ = cmd.Process.Signal(syscall.SIGTERM)
	return time.AfterFunc(endGrace, func() { _ = syscall.Kill(-pid, syscall.SIGKILL) }).Stop
}

// endAll waits until every process that was seen is gone, and kills and names
// those that stay.
func (st *stage) endAll() (left []string) {
	var remaining []int
	_ = poll(context.Background(), goneGrace, func() (bool, error) {
		remaining = living(st.pids, st.groups)
		return len(remaining) == 0, nil
	})
	for _, pid := range remaining {
		left = append(left, fmt.Sprintf("process %d is still there", pid))
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	return left
}

// living lists those of the pids, and of the members of the groups, that run.
// A zombie does not: where nothing reaps orphans it stays one.
func living(pids, groups []int) (out []int) {
	for _, pid := range pids {
		if state, _ := procStat(pid); state != "Z" && !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			out = append(out, pid)
		}
	}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range stats {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			continue
		}
		state, group := procStat(pid)
		for _, g := range groups {
			if group == g && state != "Z" {
				out = append(out, pid)
			}
		}
	}
	return out
}

// procStat reads a process's state and group; empty where /proc does not say.
func procStat(pid int) (state string, group int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", 0
	}
	// The command's name is in parentheses and may contain anything.
	fields := strings.Fields(string(text[strings.LastIndex(string(text), ")")+1:]))
	if len(fields) < 3 {
		return "", 0
	}
	group, err = strconv.Atoi(fields[2])
	if err != nil {
		return "", 0
	}
	return fields[0], group
}
