package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fettleops/fettle/examples/fleet/accesslog"
)

// TestMain lets the test binary be the fleet: "up" and "service" run it.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "up" || os.Args[1] == "service") {
		main()
		return
	}
	os.Exit(m.Run())
}

// running is a fleet of real processes.
type running struct {
	t    *testing.T
	cmd  *exec.Cmd
	base string
	log  string
}

func startFleet(t *testing.T) *running {
	t.Helper()
	dir := t.TempDir()
	f := &running{t: t, log: filepath.Join(dir, "access.jsonl")}
	f.cmd = exec.Command(os.Args[0], "up", "--listen", "127.0.0.1:0", "--address-file", filepath.Join(dir, "address"),
		"--log", f.log, "--state", filepath.Join(dir, "state"), "--warmup", "50ms")
	f.cmd.Stderr = os.Stderr
	f.cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0") // Under -race each exit would take a second.
	f.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	says, err := f.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.stop)
	line, err := bufio.NewReader(says).ReadString('\n')
	if err != nil {
		t.Fatal("the fleet did not come up")
	}
	f.base = strings.TrimSpace(strings.TrimPrefix(line, "fleet: ready at "))
	written, err := os.ReadFile(filepath.Join(dir, "address"))
	if err != nil || "http://"+strings.TrimSpace(string(written)) != f.base {
		t.Fatalf("address file: %q, %v; want %s", written, err, f.base)
	}
	return f
}

func (f *running) stop() {
	_ = f.cmd.Process.Signal(syscall.SIGTERM)
	_ = f.cmd.Wait()
}

// patience is how long a test waits for anything.
const patience = 30 * time.Second

// eventually looks again and again: nothing tells when the memory of a process
// has grown.
func (f *running) eventually(what string, ok func() bool) {
	f.t.Helper()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	late := time.After(patience)
	for !ok() {
		select {
		case <-again.C:
		case <-late:
			f.t.Fatalf("waited in vain until %s", what)
		}
	}
}

// call makes a control request; headers come in pairs.
func (f *running) call(method, path, body string, headers ...string) (int, string) {
	f.t.Helper()
	req, err := http.NewRequest(method, f.base+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return resp.StatusCode, strings.TrimSpace(string(text))
}

func (f *running) must(method, path, body string, headers ...string) string {
	f.t.Helper()
	status, text := f.call(method, path, body, headers...)
	if status != http.StatusOK {
		f.t.Fatalf("%s %s: %d %s", method, path, status, text)
	}
	return text
}

func (f *running) service(name string) view {
	f.t.Helper()
	var v view
	if err := json.Unmarshal([]byte(f.must("GET", "/services/"+name, "")), &v); err != nil {
		f.t.Fatal(err)
	}
	return v
}

func (f *running) entries() []accesslog.Entry {
	f.t.Helper()
	text, err := os.ReadFile(f.log)
	if err != nil {
		f.t.Fatal(err)
	}
	entries, err := accesslog.Read(bytes.NewReader(text))
	if err != nil {
		f.t.Fatal(err)
	}
	return entries
}

// endOf returns what waits for the end of a process that is running now, whosever child it is.
func (f *running) endOf(pid int) func() error {
	f.t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = unix.Close(fd) })
	return func() error {
		late := time.Now().Add(patience)
		for {
			n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(time.Until(late).Milliseconds()))
			switch {
			case errors.Is(err, unix.EINTR) && time.Now().Before(late):
			case err != nil:
				return err
			case n == 0:
				return fmt.Errorf("process %d still runs after %s", pid, patience)
			default:
				return nil
			}
		}
	}
}
