package etcd

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// mounted opens the etcd of a state directory that is a file system of its own,
// in a process with mounts of its own, and returns what that said.
func mounted(t *testing.T, flags uintptr, options string) string {
	t.Helper()
	inUserNamespace := &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	var denied error
	for _, attr := range []*syscall.SysProcAttr{inUserNamespace, {Cloneflags: unix.CLONE_NEWNS}} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestAStateDirectoryThatIsAFileSystemOfItsOwn$", "-test.v=false")
		cmd.Env = append(os.Environ(), "MOUNT_DIR="+t.TempDir(), fmt.Sprintf("MOUNT_FLAGS=%d", flags), "MOUNT_OPTIONS="+options)
		cmd.SysProcAttr = attr
		out, err := cmd.CombinedOutput()
		switch {
		case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EINVAL): // No such namespace for this user.
			denied = err
		case err != nil:
			t.Fatalf("%v: %s", err, out)
		default:
			said, _, _ := strings.Cut(string(out), "\n")
			return said
		}
	}
	t.Fatalf("this test needs mounts of its own, as root or in a user namespace: %v", denied)
	return ""
}

func TestAStateDirectoryThatIsAFileSystemOfItsOwn(t *testing.T) {
	if dir := os.Getenv("MOUNT_DIR"); dir != "" { // The other process of mounted.
		flags, err := strconv.ParseUint(os.Getenv("MOUNT_FLAGS"), 10, 64)
		if err == nil {
			err = unix.Mount("none", dir, "tmpfs", uintptr(flags), os.Getenv("MOUNT_OPTIONS"))
		}
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(strings.ReplaceAll(openError(t, Config{StateDir: dir}), dir, "DIR"))
		return
	}
	for name, c := range map[string]struct {
		flags         uintptr
		options, want string
	}{
		"read-only":          {unix.MS_RDONLY, "mode=700", "state directory DIR cannot be written: open DIR/etcd.lock: read-only file system; make it writable or name another with --state-dir"},
		"read-only, for all": {unix.MS_RDONLY, "mode=777", "state directory DIR cannot be written: chmod DIR: read-only file system; make it writable or name another with --state-dir"},
		"full":               {0, "mode=700,size=1m", "state directory DIR is full: 1 MiB free, 64 needed: no space left on device; free some space (nothing was deleted)"},
		"full to the last":   {0, "mode=700,nr_inodes=1", "state directory DIR is full: open DIR/etcd.lock: no space left on device; free some space (nothing was deleted)"},
		"nearly full":        {0, "mode=700,size=63m", "state directory DIR is full: 63 MiB free, 64 needed: no space left on device; free some space (nothing was deleted)"},
	} {
		if got := mounted(t, c.flags, c.options); got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", name, got, c.want)
		}
	}
}

func TestAStateDirectoryOfAnotherUserIsRefused(t *testing.T) {
	dir, owner := "/usr", 0
	if os.Geteuid() == 0 {
		dir, owner = filepath.Join(t.TempDir(), "theirs"), 12345
		must(t, os.Mkdir(dir, 0o777))
		must(t, os.Chown(dir, owner, -1))
	}
	want := fmt.Sprintf("state directory %s belongs to user %d, not to this user %d; name another with --state-dir", dir, owner, os.Geteuid())
	if got := openError(t, Config{StateDir: dir}); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
