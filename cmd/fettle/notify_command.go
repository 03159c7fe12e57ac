package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/spf13/cobra"

	"github.com/fettleops/fettle/server/notify"
)

func newNotifyCommand(a *app) *cobra.Command {
	var path, format string
	cmd := &cobra.Command{
		Use:   "notify [NAME…]",
		Short: "Send a test message to whom the model notifies",
		Long: "Sends a message that says it is a test to each notify block of the model, or to those named, and tells which of them\n" +
			"took it. Nothing is run, and no store is needed.\n\n" +
			"Exit status: 0 all took it, 1 one did not.",
		Example: "  fettle notify --model examples/fleet\n  fettle notify pager",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("-o", format, "text", "json"); err != nil {
				return err
			}
			return a.tryNotifiers(cmd.Context(), path, args, format)
		},
	}
	modelFlag(cmd, &path)
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text or json")
	return cmd
}

// tried is what came of a test message.
type tried struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	Took  bool   `json:"took"`
	Error string `json:"error,omitempty"`
}

func (a *app) tryNotifiers(ctx context.Context, path string, names []string, format string) error {
	l, err := a.load(path)
	if err != nil {
		return err
	}
	defer l.world.Close()
	all, _ := notifySettings(l.Loaded) // A mistake was told when the model was loaded.
	var known []string
	for _, s := range all {
		known = append(known, s.Name)
	}
	for _, n := range names {
		if !slices.Contains(known, n) {
			return unknownName("notify", n, known)
		}
	}
	if len(all) == 0 {
		return errors.New("the model has no notify block, so nobody is told of a run")
	}
	out := []tried{}
	for _, s := range all {
		if len(names) == 0 || slices.Contains(names, s.Name) {
			out = append(out, a.tryNotifier(ctx, l, s))
		}
	}
	return a.showTried(out, format)
}

func (a *app) tryNotifier(ctx context.Context, l *loaded, s notify.Settings) tried {
	now := time.Now().UTC()
	m := notify.Message{
		ID: "test-" + ulid.MustNew(ulid.Now(), rand.Reader).String(), Scope: l.Scope, Status: "test", Started: now, Since: now, Time: now, PID: os.Getpid(),
		Text: fmt.Sprintf("fettle: %s: a test of notify %q; nothing has happened", l.Scope, s.Name),
	}
	m.Host, _ = os.Hostname() // A name for people; none is no reason to fail.
	t := tried{Kind: s.Kind, Name: s.Name, Took: true}
	if err := notify.Test(ctx, s, a.notifyOptions(l), m); err != nil {
		t.Took, t.Error = false, err.Error()
	}
	return t
}

func (a *app) showTried(all []tried, format string) error {
	code := exitDone
	p := newPaint(a.out)
	var lines []string
	for _, t := range all {
		line := fmt.Sprintf("%s  %s  %s", p.good("✓"), t.Kind, plain(t.Name))
		if !t.Took {
			code = exitFailed
			line = fmt.Sprintf("%s  %s  %s: %s", p.bad("✗"), t.Kind, plain(t.Name), plain(t.Error))
		}
		lines = append(lines, line)
	}
	if format == "json" {
		if err := writeJSON(a.out, all); err != nil {
			return err
		}
		return answer(code)
	}
	fmt.Fprintln(a.out, strings.Join(lines, "\n"))
	return answer(code)
}
