package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/user"
	"strings"

	"golang.org/x/term"

	"github.com/fettleops/fettle/executor"
)

// asker asks a person on the terminal, as Terraform does: only "yes" is yes.
// --approve answers for every plan of the run beforehand.
func (a *app) asker(ctx context.Context, f runFlags, show *renderer) func(context.Context, executor.Question) (executor.Answer, error) {
	var lines chan string
	return func(_ context.Context, q executor.Question) (executor.Answer, error) {
		if f.approve && q.Step == nil {
			return executor.Answer{Asked: true, Yes: true, By: "--approve"}, nil
		}
		if !isTerminal(a.in) {
			return executor.Answer{}, nil
		}
		if lines == nil {
			lines = readLines(a.in)
		}
		fmt.Fprint(a.err, question(q, show))
		select {
		case line := <-lines:
			return executor.Answer{Asked: true, Yes: strings.TrimSpace(line) == "yes", By: userName()}, nil
		case <-ctx.Done():
			fmt.Fprintln(a.err)
			return executor.Answer{Asked: true}, nil
		}
	}
}

func question(q executor.Question, show *renderer) string {
	if q.Step != nil {
		return fmt.Sprintf(`Carry out step %d, %s? Only "yes" is accepted: `, q.Step.Step, plain(q.Step.Action))
	}
	s := `Carry out this plan? Only "yes" is accepted: `
	for _, st := range q.Plan.Steps {
		if st.Unprotected {
			return "Steps marked unprotected may act late if this process is paused; the actuator would not notice.\n" + s
		}
	}
	_ = show
	return s
}

// readLines reads lines for as long as the process lives: a pending read of a
// terminal cannot be cancelled. It ends with the input; a closed channel is no.
func readLines(in any) chan string {
	lines := make(chan string)
	f, ok := in.(*os.File)
	if !ok {
		close(lines)
		return lines
	}
	go func() {
		defer close(lines)
		sc := bufio.NewScanner(f)
		for sc.Scan() {
			lines <- sc.Text()
		}
	}()
	return lines
}

func isTerminal(in any) bool {
	f, ok := in.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return fmt.Sprintf("uid %d", os.Getuid())
}
