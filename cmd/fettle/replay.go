package main

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/spf13/cobra"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/journal"
)

// replayFlags are the flags of replay.
type replayFlags struct {
	model, file, with, format string
}

func newReplayCommand(a *app) *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay RUN",
		Short: "Derive every deterministic decision of a run again from its journal",
		Long: "Derives the decisions of a run again from its journal and the model that it was driven with: the answers of the policy\n" +
			"and the progress they rest on, the verdicts on proposals, the plans and what their steps change, which leases a step\n" +
			"needs, that a step could be armed or why it was refused, the outcomes of actions from what was seen, why rounds ended,\n" +
			"and how the run did. It names the first that comes out otherwise. What the world, planners, people and etcd answered\n" +
			"is taken as recorded, and counted. Nothing is observed, asked or done.\n\n" +
			"RUN is its id, the beginning of one, or \"last\"; --file takes an export (`fettle show RUN -o jsonl`) or a file of the\n" +
			"archive in its place. The model is the one that the journal keeps, which an export has in it; of a run or an export of\n" +
			"an older version it is that of --model, as it was then.\n\n" +
			"--with asks what another model, or the same one with another policy, would have decided at each point on the way that\n" +
			"the run went, and lists the first 20 differences.\n\n" +
			"Exit status: 0 every decision comes out the same, 2 one does not, 1 the run or its model cannot be read.",
		Example: "  fettle replay last --model examples/fleet\n  fettle replay --file run.jsonl --model examples/fleet\n" +
			"  fettle replay last --with stricter",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("-o", f.format, "text", "json"); err != nil {
				return err
			}
			if (len(args) == 1) == (f.file != "") {
				return errors.New("name a run, or a file of one with --file; `fettle runs` lists the runs")
			}
			return a.replay(cmd.Context(), f, args)
		},
	}
	modelFlag(cmd, &f.model)
	fl := cmd.Flags()
	fl.StringVar(&f.file, "file", "", "replay the run in this file: an export, or one of the archive")
	fl.StringVar(&f.with, "with", "", "ask what the model in this folder or file would have decided")
	fl.StringVarP(&f.format, "output", "o", "text", "text or json")
	a.stateDirFlag(cmd)
	return cmd
}

func (a *app) replay(ctx context.Context, f replayFlags, args []string) error {
	if f.file != "" {
		rec, err := readRecord(f.file)
		if err != nil {
			return err
		}
		return a.replayed(ctx, f, rec.each(), rec.body())
	}
	return a.withStore(ctx, f.model, func(s *store) error {
		id, err := findRun(ctx, s, args[0])
		if err != nil {
			return err
		}
		body := func(sum string) ([]byte, error) { return s.journal.Blob(ctx, id, sum) }
		return a.replayed(ctx, f, s.journal.Events(ctx, id), body)
	})
}

// maxDiffering is how many differences to another model are listed.
const maxDiffering = 20

func (a *app) replayed(ctx context.Context, f replayFlags, events iter.Seq2[journal.Event, error], body func(string) ([]byte, error)) error {
	models := &replayModels{app: a, flags: f, body: body}
	src := executor.ReplaySource{Events: events, Body: body, Model: models.find, Version: version()}
	if f.with != "" {
		src.Other, src.All = true, maxDiffering
	}
	out, err := executor.Replay(ctx, src)
	if err != nil {
		return fmt.Errorf("the run cannot be replayed: %w", err)
	}
	for _, note := range models.notes {
		a.say([]string{"Note: " + note})
	}
	if f.format == "json" {
		err = writeJSON(a.out, out)
	} else {
		a.printReplay(out, f.with)
	}
	if err == nil && len(out.Differs) > 0 {
		err = answer(exitNo)
	}
	return err
}
