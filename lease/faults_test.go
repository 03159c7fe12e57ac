//go:build faults && linux

package lease

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestProtectionsAreNeeded runs tests in a process of their own with a protection taken away: they must fail.
func TestProtectionsAreNeeded(t *testing.T) {
	for _, c := range []struct {
		without Protection
		test    string
	}{
		{Locks, "TestBusySaysWhoHoldsWhatAndSinceWhen|TestWriteSkewIsExcludedByTheReadsOfInvariants"},
		{Deadline, "TestHolderCutOffFromEtcdStopsBeforeItsKeysExpire"},
		{ArmCompare, "TestOneBrokenLockLosesAllOfThem|TestAdoptedNameIsNoLongerTheOldProcess"},
		{Marks, "TestDoubtEndsTheWaitAtOnce"},
		{RevokeFirst, "TestArmThatArrivesAfterTheLookDoesNotHappen"},
		{RunOwned, "TestEmbeddedConforms"},
		{PauseCheck, "TestPauseStopsArmingUntilUnpaused"},
		{Tickets, "TestEmbeddedConforms"},
	} {
		t.Run(string(c.without), func(t *testing.T) {
			for _, fault := range []string{"", "no-" + string(c.without)} {
				cmd := exec.Command(os.Args[0], "-test.run", "^("+c.test+")", "-test.timeout", "10s")
				cmd.Env = append(os.Environ(), "FETTLE_FAULT="+fault)
				out, err := cmd.CombinedOutput()
				if (err != nil) != (fault != "") {
					t.Errorf("with FETTLE_FAULT=%q: %v\n%s", fault, err, out)
				}
				if fault == "" && strings.Contains(string(out), "no tests to run") {
					t.Errorf("%s: no such test", c.test)
				}
			}
		})
	}
}

// TestPointsStopAndKill runs itself as a process that passes points.
func TestPointsStopAndKill(t *testing.T) {
	if os.Getenv("POINTS") != "" {
		for i := range 3 {
			Point("armed")
			fmt.Println("passed", i)
		}
		return
	}
	file := filepath.Join(t.TempDir(), "points")
	var out bytes.Buffer
	cmd := exec.Command(os.Args[0], "-test.run", "^TestPointsStopAndKill$")
	cmd.Env = append(os.Environ(), "POINTS=1", "FETTLE_PAUSE_AT=armed", "FETTLE_KILL_AT=armed:3", "FETTLE_PAUSE_FILE="+file)
	cmd.Stdout = &out
	must(t, cmd.Start())
	var status unix.WaitStatus
	_, err := unix.Wait4(cmd.Process.Pid, &status, unix.WUNTRACED, nil)
	must(t, err)
	if !status.Stopped() || out.Len() != 0 {
		t.Errorf("status %v, output %q; want stopped at the first point", status, out.String())
	}
	raw, err := os.ReadFile(file)
	if want := fmt.Sprintf("armed %d\n", cmd.Process.Pid); err != nil || string(raw) != want {
		t.Errorf("file %q, %v; want %q", raw, err, want)
	}
	must(t, cmd.Process.Signal(unix.SIGCONT))
	dead := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
	defer dead.Stop()
	if err := cmd.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("ended with %v", err)
	}
	if got := out.String(); !strings.HasSuffix(got, "passed 1\n") {
		t.Errorf("output %q; want the second point passed, the third not", got)
	}
}
