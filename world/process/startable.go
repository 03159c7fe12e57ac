package process

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Startable tells why the process could not be started as things stand, nil
// where nothing is in the way: its program is there, a file that this user may
// execute, with an interpreter that is there, and its directory is one. Nothing
// is run.
func (p Process) Startable() error {
	if p.Dir != "" {
		if st, err := os.Stat(p.Dir); err != nil {
			return fmt.Errorf("its directory: %w", bare(err))
		} else if !st.IsDir() {
			return fmt.Errorf("its directory %s is a file", p.Dir)
		}
	}
	path, err := find(p.Argv[0])
	if err != nil {
		return err
	}
	if err := executable(path); err != nil {
		return err
	}
	return interpreter(path)
}

// find looks a program up, which need not be one that can be executed.
func find(program string) (string, error) {
	if strings.Contains(program, "/") {
		return program, nil
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return "", fmt.Errorf("there is no program %s in PATH", program)
	}
	return path, nil
}

func executable(path string) error {
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no file %s", path)
	case err != nil:
		return bare(err)
	case st.IsDir():
		return fmt.Errorf("%s is a folder", path)
	case !st.Mode().IsRegular():
		return fmt.Errorf("%s is no regular file", path)
	case unix.Access(path, unix.X_OK) != nil:
		return fmt.Errorf("%s is not executable; chmod +x makes it so", path)
	}
	return nil
}

// maxShebang is how much of a script's first line the kernel looks at.
const maxShebang = 256

// interpreter looks for what a script names in its first line. A program that
// may be executed and not read keeps its own counsel.
func interpreter(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return nil // It may be executed, which is all that is wanted.
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, maxShebang))
	if err != nil || !bytes.HasPrefix(head, []byte("#!")) {
		return nil // It is no script.
	}
	line, _, _ := strings.Cut(string(head[2:]), "\n")
	words := strings.Fields(line)
	if len(words) == 0 {
		return nil
	}
	if err := executable(words[0]); err != nil {
		return fmt.Errorf("%s names an interpreter in its first line, and %w", path, err)
	}
	if filepath.Base(words[0]) == "env" && len(words) > 1 && !strings.ContainsAny(words[1][:1], "-=") {
		if _, err := find(words[1]); err != nil {
			return fmt.Errorf("%s names an interpreter in its first line, and %w", path, err)
		}
	}
	return nil
}

// bare takes the system call off an error.
func bare(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return fmt.Errorf("%s: %w", path.Path, path.Err)
	}
	return err
}
