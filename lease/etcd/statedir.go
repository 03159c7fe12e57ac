package etcd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/sys/unix"
)

// stateDir is the folder of the embedded etcd.
type stateDir string

func (d stateDir) data() string     { return filepath.Join(string(d), "etcd") }
func (d stateDir) lock() string     { return filepath.Join(string(d), "etcd.lock") }
func (d stateDir) log() string      { return filepath.Join(string(d), "etcd.log") }
func (d stateDir) sockets() string  { return filepath.Join(string(d), "etcd.sockets") }
func (d stateDir) endpoint() string { return filepath.Join(string(d), "etcd.endpoint") }

// minFree is the space below which the embedded etcd is not started: its log is preallocated, and it
// must never be stopped by a full disk in the middle of an action.
const minFree = 64 << 20

// openStateDir makes the folder where absent, and sees to it that only this user can enter it.
func openStateDir(path string) (stateDir, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("state directory %s: %w", path, err)
	}
	if err := os.MkdirAll(abs, 0o700); err != nil {
		return "", mendable(abs, err)
	}
	if err := private(abs); err != nil {
		return "", err
	}
	return stateDir(abs), nil
}

// private takes away the rights of others, and refuses a folder that belongs to another user.
func private(path string) error {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return mendable(path, err)
	}
	if st.Mode&unix.S_IFMT == unix.S_IFLNK {
		if err := unix.Stat(path, &st); err != nil {
			return mendable(path, err)
		}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return fmt.Errorf("state directory %s is not a folder; name another with --state-dir", path)
	}
	if int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("state directory %s belongs to user %d, not to this user %d; name another with --state-dir", path, st.Uid, os.Geteuid())
	}
	if st.Mode&0o077 == 0 {
		return nil
	}
	if err := os.Chmod(path, 0o700); err != nil {
		return mendable(path, err)
	}
	return nil
}

// mendable says what to do about an error of the file system.
func mendable(path string, err error) error {
	switch {
	case errors.Is(err, unix.EROFS), errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("state directory %s cannot be written: %w; make it writable or name another with --state-dir", path, err)
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return fmt.Errorf("state directory %s is full: %w; free some space (nothing was deleted)", path, err)
	case errors.Is(err, unix.ENOTDIR), errors.Is(err, fs.ErrExist):
		return fmt.Errorf("state directory %s is not a folder: %w; name another with --state-dir", path, err)
	}
	return fmt.Errorf("state directory %s: %w", path, err)
}

func checkSpace(dir stateDir) error {
	var st unix.Statfs_t
	if err := unix.Statfs(string(dir), &st); err != nil {
		return mendable(string(dir), err)
	}
	return enough(string(dir), uint64(st.Bavail)*uint64(st.Bsize))
}

func enough(path string, free uint64) error {
	if free < minFree {
		return mendable(path, fmt.Errorf("%d MiB free, %d needed: %w", free>>20, minFree>>20, unix.ENOSPC))
	}
	return nil
}

// tryLock takes the lock of the host process, making its file where how is
// os.O_CREATE. It answers false where another process has it.
// The lock is the kernel's: it ends with the process, however that ends.
func tryLock(path string, how int) (*os.File, bool, error) {
	f, err := os.OpenFile(path, os.O_RDWR|how, 0o600)
	if err != nil {
		return nil, false, mendable(filepath.Dir(path), err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	here, statErr := os.Stat(path)
	mine, ownErr := f.Stat()
	switch {
	case err == nil && statErr == nil && ownErr == nil && os.SameFile(here, mine):
		return f, true, nil
	case err == nil, errors.Is(err, unix.EWOULDBLOCK): // Removed since it was opened, or another's.
		return nil, false, f.Close()
	}
	return nil, false, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
}

// plainPath matches what needs no escape in a URL. The kernel's limit of a socket's path is 108 bytes.
var plainPath = regexp.MustCompile(`^[A-Za-z0-9_./-]{1,80}$`)

// socketDir returns a private folder whose path is short and plain enough for a
// socket: the state directory itself, or one in the temporary folder, which is
// recorded in the state directory and used again.
func (d stateDir) socketDir() (string, error) {
	if plainPath.MatchString(string(d)) {
		return string(d), nil
	}
	if old, err := os.ReadFile(d.sockets()); err == nil {
		dir := strings.TrimSpace(string(old))
		if private(dir) == nil {
			return dir, nil
		}
	}
	dir, err := os.MkdirTemp(shortTemp(), "fettle-")
	if err != nil {
		return "", fmt.Errorf("a folder for the sockets of the embedded etcd: %w", err)
	}
	if err := os.WriteFile(d.sockets(), []byte(dir+"\n"), 0o600); err != nil {
		return "", mendable(string(d), errors.Join(err, os.Remove(dir)))
	}
	return dir, nil
}

func shortTemp() string {
	if t := os.TempDir(); len(t) < 50 && plainPath.MatchString(t) {
		return t
	}
	return "/tmp"
}
