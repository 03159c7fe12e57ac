package main

import (
	"os/exec"
	"slices"
	"syscall"
	"testing"
)

func TestAGroupIsLivingUntilItsLastMemberHasEnded(t *testing.T) {
	cmd := exec.Command("sh", "-c", "sleep 60 & echo started; wait")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	t.Cleanup(func() { _ = syscall.Kill(-pid, syscall.SIGKILL) })
	if _, err := out.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	if got := living([]int{pid}, nil); !slices.Equal(got, []int{pid}) {
		t.Fatalf("living: %v, want %d", got, pid)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if got := living(nil, []int{pid}); len(got) != 1 || got[0] == pid {
		t.Fatalf("living: %v, want the orphan alone", got)
	}
	st := &stage{groups: []int{pid}}
	if err := syscall.Kill(-pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if left := st.endAll(); left != nil {
		t.Fatalf("left: %q", left)
	}
}
