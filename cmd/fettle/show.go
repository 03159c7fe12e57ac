package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/journal"
)

func newShowCommand(a *app) *cobra.Command {
	var path, format string
	var follow bool
	cmd := &cobra.Command{
		Use:   "show RUN",
		Short: "Show one run in full, from its journal",
		Long: "Shows a run as `fettle run` showed it. RUN is its id, the beginning of one, or \"last\".\n" +
			"Of a run that is not over it ends with what it is at or waits for, and since when. -o markdown is a report of at most\n" +
			"500 words for a ticket, also while the run goes on. -o jsonl exports every event. --follow goes on until the run ends or\n" +
			"waits, and where no process drives it says so.\n\n" +
			"Exit status: 0, and with --follow 4 where the run has not ended and its process is gone: see `fettle resume`.",
		Example: "  fettle show last --model examples/fleet\n  fettle show last -o markdown\n  fettle show last -o jsonl > run.jsonl",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("-o", format, "text", "markdown", "json", "jsonl"); err != nil {
				return err
			}
			if follow {
				return a.followRun(cmd.Context(), path, args[0], format)
			}
			return a.withStore(cmd.Context(), path, func(s *store) error {
				return a.showRun(cmd.Context(), s, args[0], format)
			})
		},
	}
	modelFlag(cmd, &path)
	cmd.Flags().BoolVar(&follow, "follow", false, "go on until the run ends")
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text, markdown (a report), json (a list of events) or jsonl")
	a.stateDirFlag(cmd)
	return cmd
}

// withStore loads the model and opens its store for reading.
func (a *app) withStore(ctx context.Context, path string, use func(*store) error) error {
	l, err := a.load(path)
	if err != nil {
		return err
	}
	defer l.world.Close()
	s, err := a.existingStore(ctx, l.Loaded)
	if err != nil {
		return err
	}
	return errors.Join(use(s), s.Close())
}

// heads returns the runs, the newest first.
func heads(ctx context.Context, s *store) ([]executor.Head, error) {
	raw, err := s.journal.Runs(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]executor.Head, 0, len(raw))
	for _, rec := range raw {
		h := executor.Head{}
		if err := json.Unmarshal(rec.Data, &h); err != nil {
			return nil, fmt.Errorf("the head of run %s cannot be read: %w", rec.Run, err)
		}
		h.Run, h.Started = rec.Run, rec.Started
		out = append(out, h)
	}
	return out, nil
}

func (a *app) showRun(ctx context.Context, s *store, name, format string) error {
	id, err := findRun(ctx, s, name)
	if err != nil {
		return err
	}
	if format == "markdown" {
		return a.reportRun(ctx, s, id)
	}
	to := a.shower(id, format)
	if err := each(s.journal.Events(ctx, id), to.event); err != nil {
		return err
	}
	if err := to.end(); err != nil || format != "text" {
		return err
	}
	return a.showGates(ctx, s, id)
}

// showGates ends what is shown of a run that is not over with what it is at or waits for.
func (a *app) showGates(ctx context.Context, s *store, id string) error {
	gates, err := a.gatesOf(ctx, s, id)
	if err != nil || len(gates) == 0 {
		return err
	}
	fmt.Fprintln(a.out, "\nNow")
	tellGates(a.out, gates, time.Now(), "  ")
	return nil
}

// shower shows the events of a run in a format, and ends what it wrote.
type shower struct {
	event func(journal.Event) error
	end   func() error
}

func (a *app) shower(id, format string) shower {
	nothing := func() error { return nil }
	switch format {
	case "text":
		return shower{newRenderer(a.out, id).event, nothing}
	case "markdown":
		r := &report{run: id}
		return shower{r.event, func() error {
			_, err := fmt.Fprint(a.out, r.markdown(nil, time.Now()))
			return err
		}}
	case "jsonl":
		enc := json.NewEncoder(a.out)
		return shower{func(e journal.Event) error { return enc.Encode(e) }, nothing}
	}
	all := []journal.Event{}
	return shower{
		func(e journal.Event) error { all = append(all, e); return nil },
		func() error { return writeJSON(a.out, all) },
	}
}

// findRun looks a run up by its id, the beginning of one, or "last".
func findRun(ctx context.Context, s *store, name string) (string, error) {
	all, err := heads(ctx, s)
	if err != nil {
		return "", err
	}
	if name == "last" && len(all) > 0 {
		return all[0].Run, nil
	}
	var found []string
	for _, h := range all {
		if strings.HasPrefix(h.Run, strings.ToUpper(name)) && name != "" {
			found = append(found, h.Run)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("there is no run %q; `fettle runs` lists them", name)
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%q is the beginning of %d runs: %s", name, len(found), strings.Join(found, ", "))
}

// headOf reads the head of one run.
func headOf(ctx context.Context, s *store, id string) (executor.Head, error) {
	all, err := heads(ctx, s)
	for _, h := range all {
		if h.Run == id {
			return h, nil
		}
	}
	if err == nil {
		err = fmt.Errorf("run %s is gone", id)
	}
	return executor.Head{}, err
}

func each(events iter.Seq2[journal.Event, error], do func(journal.Event) error) error {
	for e, err := range events {
		if err != nil {
			return err
		}
		if err := do(e); err != nil {
			return err
		}
	}
	return nil
}

// writeJSON writes a document for people and programs to read.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
