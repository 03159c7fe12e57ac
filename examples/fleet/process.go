package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

const (
	announceWithin = 10 * time.Second // How long a child may take to say where it listens.
	stopGrace      = time.Second      // From SIGTERM to SIGKILL.
)

// process is one running child with a process group of its own. Its standard
// input is a pipe whose other end only this process holds: when this process
// dies, even by SIGKILL, the child reads the end of it and goes too.
type process struct {
	cmd     *exec.Cmd
	stdin   io.Closer
	address string
	gone    chan struct{} // Closed when the child has been reaped.
}

func startProcess(output io.Writer, args ...string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find own program: %w", err)
	}
	cmd := exec.Command(self, append([]string{"service"}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stderr = output
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start service: %w", err)
	}
	said, say, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start service: %w", err)
	}
	defer said.Close()
	cmd.Stdout = say
	err = cmd.Start()
	say.Close()
	if err != nil {
		return nil, fmt.Errorf("start service: %w", err)
	}
	p := &process{cmd: cmd, stdin: stdin, gone: make(chan struct{})}
	go func() {
		_ = cmd.Wait()
		close(p.gone)
	}()
	if p.address, err = readAddress(said); err != nil {
		p.kill()
		return nil, err
	}
	return p, nil
}

func readAddress(said *os.File) (string, error) {
	if err := said.SetReadDeadline(time.Now().Add(announceWithin)); err != nil {
		return "", fmt.Errorf("start service: %w", err)
	}
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("service did not say where it listens: %w", err)
	}
	return strings.TrimSpace(line), nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

func (p *process) alive() bool {
	select {
	case <-p.gone:
		return false
	default:
		return true
	}
}

// stop asks the child to end, kills its whole group if it does not, and waits
// until it is reaped.
func (p *process) stop(ctx context.Context) {
	p.signal(syscall.SIGTERM)
	timer := time.NewTimer(stopGrace)
	defer timer.Stop()
	select {
	case <-p.gone:
	case <-timer.C:
	case <-ctx.Done():
	}
	p.kill()
}

// kill ends the child's whole group at once and waits until it is reaped.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.gone
	_ = p.stdin.Close()
}

// signal reaches the group only while its leader is not reaped: afterwards the
// number may belong to somebody else.
func (p *process) signal(sig syscall.Signal) {
	if p.alive() {
		_ = syscall.Kill(-p.pid(), sig)
	}
}
