package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

func newImportCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import",
		Short: "Write a model from what another tool describes",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newImportPDDLCommand(a))
	return cmd
}

// importedFile is the file that import writes into the folder of --out.
const importedFile = "model.fettle.hcl"

func newImportPDDLCommand(a *app) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "pddl DOMAIN PROBLEM",
		Short: "Write a PDDL task as a readable model",
		Long: `Write a PDDL domain and problem as a model: its types with their objects, fluents,
actions, the initial state as the state "start", and the goal. Names that the model
language cannot have are changed, as the head of the model says.

The model goes to stdout, or into ` + importedFile + ` in the folder of --out, which must
not have one. Exit status 0: written. 2: the task has mistakes. 1: a file could not be
read or written.`,
		Example: `  $ fettle import pddl blocks.pddl blocks-4-0.pddl --out blocks
  $ fettle plan blocks | fettle validate --plan - blocks
  valid: 6 steps, cost 6, goal blocks-4-0 reached`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error { return a.importPDDL(args, out) },
	}
	cmd.Flags().StringVar(&out, "out", "", "the folder to write into; made where it is not there")
	return cmd
}

func (a *app) importPDDL(args []string, out string) error {
	if _, err := pddlFiles(args); err != nil {
		return err
	}
	t, err := a.loadTask(args)
	if err != nil {
		return err
	}
	text := t.Export().Text
	if out == "" {
		_, err := a.out.Write(text)
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	file := filepath.Join(out, importedFile)
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already: name another folder with --out", file)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write the model: %w", err)
	}
	fmt.Fprintln(a.err, "wrote", file)
	return nil
}
