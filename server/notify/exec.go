package notify

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/fettleops/fettle/world/process"
)

// run delivers a message by a program: as a line of JSON on its stdin, with the most
// important of it in its environment. What it prints is read and dropped, but
// for the end of stderr, which a warning shows.
func (s Settings) run(ctx context.Context, m Message, raw []byte) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.Timeout, fmt.Errorf("it did not end within its timeout of %s", s.Timeout))
	defer cancel()
	env := process.Environment(
		s.Env, "FETTLE_RUN="+m.Run, "FETTLE_SCOPE="+m.Scope, "FETTLE_GOAL="+m.Goal, "FETTLE_STATUS="+m.Status, "FETTLE_REASON="+m.Reason,
		"FETTLE_OCCASIONS="+words(m.Occasions), "FETTLE_TEXT="+m.Text, "FETTLE_NOTIFY_ID="+m.ID,
	)
	said := &tail{}
	x := process.Process{Argv: s.Command, Env: env, Dir: s.Dir, Stdin: string(raw) + "\n"}.Run(ctx, &tail{}, said)
	switch {
	case !x.Started:
		return x.Err
	case x.Killed:
		return fmt.Errorf("%w%s", context.Cause(ctx), said)
	case x.Err != nil:
		return fmt.Errorf("%w%s", x.Err, said)
	case x.Code != 0:
		return errors.New("its program ended with " + x.Text + said.String())
	}
	return nil
}

// tail keeps the last of what is written.
type tail struct{ b []byte }

const tailSize = 4 << 10

func (t *tail) Write(b []byte) (int, error) {
	n := len(b)
	t.b = append(t.b, b[max(0, n-tailSize):]...)
	if over := len(t.b) - tailSize; over > 0 {
		t.b = append(t.b[:0], t.b[over:]...)
	}
	return n, nil
}

// String is the last line, for the end of a message.
func (t *tail) String() string {
	lines := strings.Split(strings.TrimSpace(string(t.b)), "\n")
	if last := clean(lines[len(lines)-1]); last != "" {
		return ": " + last
	}
	return ""
}
