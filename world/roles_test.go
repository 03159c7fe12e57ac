package world

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
)

// play is what the test binary does when it stands in for a program.
func play(role string, args []string) int {
	switch role {
	case "print": // prints its arguments as lines, to stderr those behind "!"
		for _, a := range args {
			if rest, ok := strings.CutPrefix(a, "!"); ok {
				fmt.Fprintln(os.Stderr, rest)
				continue
			}
			fmt.Println(a)
		}
	case "exit": // CODE [TEXT…]
		for _, a := range args[1:] {
			fmt.Println(a)
		}
		code, _ := strconv.Atoi(args[0])
		return code
	case "run on": // prints a text to stdout and one to stderr, neither with the end of its line
		fmt.Print(args[0])
		fmt.Fprint(os.Stderr, args[1])
	case "fail": // prints its arguments to stdout, then as many to stderr, and fails
		fmt.Println(strings.Join(args, "\n"))
		fmt.Fprintln(os.Stderr, strings.Join(args, "\n"))
		return 3
	case "around": // SECRET: a flood whose kept head ends within the secret, and whose tail begins within it
		pad := strings.Repeat(".", headSize-len(args[0])/2)
		fmt.Print(pad, args[0], strings.Repeat(".", tailSize), args[0], strings.Repeat(".", tailSize-len(args[0])/2))
	case "env":
		fmt.Println(strings.Join(os.Environ(), "\n"))
	case "dump":
		if err := os.WriteFile(args[0], []byte(strings.Join(os.Environ(), "\n")), 0o600); err != nil {
			return 1
		}
	case "where":
		dir, _ := os.Getwd()
		in, _ := io.ReadAll(os.Stdin)
		fmt.Printf("%s %q %q\n", dir, os.Args[1:], in)
	case "flood": // BYTES, numbered lines
		n, _ := strconv.Atoi(args[0])
		var b bytes.Buffer
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, "line %d\n", i)
		}
		_, _ = os.Stdout.Write(b.Bytes())
	case "gush": // BYTES, as long as somebody takes them
		n, _ := strconv.Atoi(args[0])
		chunk := bytes.Repeat([]byte("x"), 1<<20)
		for ; n > 0; n -= len(chunk) {
			if _, err := os.Stdout.Write(chunk); err != nil {
				return 1
			}
		}
	case "signal": // ends by one
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "close": // TEXT [hang]: says it, and closes its stdout and stderr before it ends
		signal.Ignore(syscall.SIGTERM)
		fmt.Println(args[0])
		_, _ = os.Stdout.Close(), os.Stderr.Close()
		if len(args) > 1 {
			select {}
		}
	case "family": // PIDFILE: waits for a child that ignores SIGTERM and keeps stdout open
		return family(args[0], os.Stdout, true)
	case "quiet family": // PIDFILE: the same, but the child writes to nowhere
		return family(args[0], nil, true)
	case "leave": // PIDFILE: ends at once, its child lives on and keeps stdout open
		return family(args[0], os.Stdout, false)
	case "hang":
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("hanging")
		if file := os.Getenv("WORLD_TEST_PIDFILE"); file != "" {
			if err := writePID(file); err != nil {
				return 1
			}
			_ = os.NewFile(3, "ready").Close()
		}
		select {}
	case "polite": // ends well when told to stop
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM)
		if err := os.WriteFile(args[0], []byte("ready"), 0o600); err != nil {
			return 1
		}
		<-c
	default:
		fmt.Fprintln(os.Stderr, "no such role:", role)
		return 99
	}
	return 0
}

func family(pidFile string, out *os.File, wait bool) int {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "WORLD_TEST_ROLE=hang", "WORLD_TEST_PIDFILE="+pidFile)
	if out != nil {
		child.Stdout = out
	}
	said, ready, err := os.Pipe()
	if err != nil {
		return 1
	}
	child.ExtraFiles = []*os.File{ready}
	if err := child.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if wait {
		_ = child.Wait()
		return 0
	}
	_ = ready.Close()
	_, _ = io.Copy(io.Discard, said) // ends when the child is ready
	return 0
}

// writePID writes the process's id, all of it at once.
func writePID(file string) error {
	if err := os.WriteFile(file+".tmp", []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		return err
	}
	return os.Rename(file+".tmp", file)
}
