package main

import (
	"context"
	"fmt"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/model/load"
	"github.com/fettleops/fettle/server/notify"
	"github.com/fettleops/fettle/world"
)

// notifySettings reads the notify blocks of a model. What is wrong with one is
// found here before a run begins.
func notifySettings(l *load.Loaded) ([]notify.Settings, hcl.Diagnostics) {
	var all []notify.Settings
	var diags hcl.Diagnostics
	for _, b := range l.Notifies {
		s, d := notify.Decode(b.Kind, b.Name, b.Body, l.Eval, l.Folder)
		all, diags = append(all, s), append(diags, d...)
	}
	return all, diags
}

// notifyMistakes are those of the notify blocks that only their own package finds.
func notifyMistakes(l *load.Loaded) hcl.Diagnostics {
	_, diags := notifySettings(l)
	return diags
}

// notified has the model's notifiers follow a run, from what it has done before
// on, and returns what ends that. It waits for them, within their bounds.
func (a *app) notified(ctx context.Context, l *loaded, s *store, c *executor.Config, id string) (func(), error) {
	settings, diags := notifySettings(l.Loaded)
	if diags.HasErrors() {
		return nil, diags
	}
	n := notify.New(settings, a.notifyOptions(l))
	done := func() {
		ctx, stop := signal.NotifyContext(context.Background(), stopSignals...) // One that comes from now on.
		defer stop()
		n.Close(ctx)
	}
	if n == nil {
		return done, nil
	}
	if err := each(s.journal.Events(ctx, id), n.CatchUp); err != nil {
		done()
		return nil, fmt.Errorf("tell the notifiers of what the run did before: %w", err)
	}
	c.OnEvent = inOrder(c.OnEvent, n.Event)
	c.OnUnwritten = inOrder(c.OnUnwritten, n.Event)
	return done, nil
}

func (a *app) notifyOptions(l *loaded) notify.Options {
	where := a.whereabouts(l.Loaded)
	return notify.Options{
		Secrets: world.Forms(l.Secrets), Agent: "fettle/" + version(),
		Warn: func(text string) { fmt.Fprintln(a.err, "Warning:", plain(l.redact(text))) },
		OnWait: func(most time.Duration) {
			fmt.Fprintf(a.err, "the run is over; whoever is to be told of it is waited for, for at most %s; a signal ends that\n", most)
		},
		Next: func(m notify.Message) []string {
			doubt := len(m.InDoubt) > 0
			return nextCommands(m.Run, m.Status, m.Reason, doubt, where)
		},
	}
}

// whereabouts are the flags that make a command find the model and its store
// from any folder of this host.
func (a *app) whereabouts(l *load.Loaded) string {
	flags := " --model " + shellWord(absolute(l.Folder))
	if a.stateDir != "" {
		flags += " --state-dir " + shellWord(absolute(a.stateDir))
	}
	return flags
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// shellWord quotes a word where a shell would take it apart.
func shellWord(s string) string {
	const fine = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:@%+=,"
	if s != "" && strings.Trim(s, fine) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// nextCommands are what a person may type about a run, the most useful first.
func nextCommands(run, status, reason string, doubt bool, where string) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)+where) }
	switch waits := status == executor.WaitingStatus; {
	case reason == gateApproval:
		add("fettle show %s", run)
		add("fettle approve %s", run)
		add("fettle reject %s", run)
		if waits {
			add("fettle resume %s", run)
		}
	case waits && reason == gatePaused:
		add("fettle unpause")
		add("fettle resume %s", run)
	case waits:
		add("fettle resume %s", run)
		add("fettle show %s", run)
	case status == executor.Running:
		add("fettle runs --active")
		add("fettle show %s --follow", run)
	default:
		add("fettle show %s", run)
	}
	if doubt {
		add("fettle intents")
	}
	return out
}
