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
			"500 words for a ticket, also while the run goes on. -o jsonl exports every event, a line each, and after them what\n" +
			"`fettle replay --file` needs besides, as lines of the kind body. --follow goes on until the run ends or waits, and where\n" +
			"no process drives it says so.\n\n" +
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
				return a.showRun(cmd.Context(), s, path, args[0], format)
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

// heads returns the runs, the newest first, and apart from them those that cannot
// be read.
func heads(ctx context.Context, s *store) (all []executor.Head, damaged []journal.Head, err error) {
	raw, err := s.journal.Runs(ctx)
	if err != nil {
		return nil, nil, err
	}
	all = make([]executor.Head, 0, len(raw))
	for _, rec := range raw {
		h := executor.Head{}
		if rec.Damaged == nil {
			if err := json.Unmarshal(rec.Data, &h); err != nil {
				rec.Damaged = fmt.Errorf("its head cannot be read: %w", err)
			}
		}
		if rec.Damaged != nil {
			damaged = append(damaged, rec)
			continue
		}
		h.Run, h.Started = rec.Run, rec.Started
		all = append(all, h)
	}
	return all, damaged, nil
}

func (a *app) showRun(ctx context.Context, s *store, path, name, format string) error {
	id, err := findRun(ctx, s, name)
	if err != nil {
		return err
	}
	switch format {
	case "markdown":
		return a.reportRun(ctx, s, path, id)
	case "text":
		return a.tellRun(ctx, s, id)
	case "jsonl":
		return a.exportRun(ctx, s, id)
	}
	to := a.shower(id, format)
	if err := each(s.journal.Events(ctx, id), to.event); err != nil {
		return err
	}
	return to.end()
}

// tellRun tells a person of a run. What is told of one that is not over ends with
// what it is at or waits for.
func (a *app) tellRun(ctx context.Context, s *store, id string) error {
	gates, _, err := a.gatesOf(ctx, s, id)
	if err != nil {
		return err
	}
	r := newRenderer(a.out, id)
	r.answered = isAnswered(gates)
	if err := each(s.journal.Events(ctx, id), r.event); err != nil || len(gates) == 0 {
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
	all, damaged, err := heads(ctx, s)
	if err != nil {
		return "", err
	}
	if name == "last" {
		s.passOver(damaged) // The last that can be read is meant.
		if len(all) > 0 {
			return all[0].Run, nil
		}
	}
	var found []string
	is := func(id string) bool { return name != "" && strings.HasPrefix(id, strings.ToUpper(name)) }
	for _, h := range all {
		if is(h.Run) {
			found = append(found, h.Run)
		}
	}
	err = nil
	for _, rec := range damaged {
		if is(rec.Run) {
			found, err = append(found, rec.Run), fmt.Errorf("run %s cannot be read: %s", rec.Run, whyDamaged(rec))
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("there is no run %q; `fettle runs` lists them", name)
	case 1:
		return found[0], err
	}
	return "", fmt.Errorf("%q is the beginning of %d runs: %s", name, len(found), strings.Join(found, ", "))
}

// headOf reads the head of one run.
func headOf(ctx context.Context, s *store, id string) (executor.Head, error) {
	all, _, err := heads(ctx, s)
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
