package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/user"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/fettleops/fettle/executor"
)

// askingFlags add the flags that say who is asked, and when.
func (f *runFlags) askingFlags(fl *pflag.FlagSet, plans string) {
	fl.BoolVar(&f.approve, "approve", false, "answer yes beforehand to every plan "+plans)
	fl.BoolVar(&f.step, "step", false, "ask before each step too")
	fl.BoolVar(&f.wait, "wait", false, "where nobody can be asked here, wait for `fettle approve` or `fettle reject`, within the deadline and approval_expires")
}

// asking says how the run asks people: on the terminal, beforehand by --approve,
// or from elsewhere, for which --wait waits.
func (a *app) asking(ctx context.Context, f runFlags, c *executor.Config) {
	c.Ask, c.AskSteps, c.Wait = a.asker(ctx, f.format), f.step, f.wait
	if !isTerminal(a.in) {
		c.Ask = nil
	}
	if f.approve {
		c.Preapproved = "--approve"
	}
}

// asker asks a person on the terminal, as Terraform does: only "yes" is yes.
// Meanwhile the question can be answered from elsewhere.
func (a *app) asker(ctx context.Context, format string) func(context.Context, executor.Question) (executor.Answer, error) {
	var lines chan string
	return func(asked context.Context, q executor.Question) (executor.Answer, error) {
		if !isTerminal(a.in) {
			return executor.Answer{}, nil
		}
		if lines == nil {
			lines = readLines(a.in)
		}
		fmt.Fprint(a.err, question(q, format))
		select {
		case line := <-lines:
			return executor.Answer{Asked: true, Yes: strings.TrimSpace(line) == "yes", By: userName()}, nil
		case <-asked.Done(): // Answered elsewhere, expired, or the run is to end.
		case <-ctx.Done():
		}
		fmt.Fprintln(a.err)
		return executor.Answer{}, nil
	}
}

func question(q executor.Question, format string) string {
	if q.Step != nil {
		return fmt.Sprintf("%sCarry out step %d, %s? Only \"yes\" is accepted: ", because(q, format), q.Step.Step, plain(q.Step.Action))
	}
	s := because(q, format) + "Carry out this plan? Only \"yes\" is accepted: "
	if q.Restore {
		s = because(q, format) + "The run has stopped. Go back like this? Only \"yes\" is accepted: "
	}
	for _, st := range q.Plan.Steps {
		if st.Unprotected {
			return "Steps marked unprotected may act late if this process is paused; the actuator would not notice.\n" + s
		}
	}
	return s
}

// because says what the question is asked because of, where the text of the run
// does not tell it: that has it already.
func because(q executor.Question, format string) string {
	if format == "text" {
		return ""
	}
	var b strings.Builder
	for _, why := range q.Why {
		fmt.Fprintf(&b, "asked because of %s\n", plain(why))
	}
	return b.String()
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
