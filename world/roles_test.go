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
	case "family": // PIDFILE: a child that ignores SIGTERM and keeps stdout open
		return family(args[0], true)
	case "leave": // PIDFILE: ends at once, its child lives on and keeps stdout open
		return family(args[0], false)
	case "hang":
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("hanging")
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

func family(pidFile string, wait bool) int {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "WORLD_TEST_ROLE=hang")
	child.Stdout = os.Stdout
	if err := child.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := os.WriteFile(pidFile+".tmp", []byte(strconv.Itoa(child.Process.Pid)), 0o600); err != nil {
		return 1
	}
	if err := os.Rename(pidFile+".tmp", pidFile); err != nil {
		return 1
	}
	if wait {
		_ = child.Wait()
	}
	return 0
}
