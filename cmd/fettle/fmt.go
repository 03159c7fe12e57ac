package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/fettleops/fettle/model/load"
)

type fmtFlags struct{ check, diff bool }

func newFmtCommand(a *app) *cobra.Command {
	var f fmtFlags
	cmd := &cobra.Command{
		Use:   "fmt [MODEL]",
		Short: "Lay out the files of a model in the canonical form",
		Long: `Rewrites the model's files (*.fettle.hcl and *.fettletest.hcl) with canonical
indentation and alignment, and prints the names of those it changed. A file that
does not parse is left as it is, and reported.`,
		Example: `  fettle fmt
  fettle fmt --check --diff examples/fleet`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.format(modelPath(args), f) },
	}
	cmd.Flags().BoolVar(&f.check, "check", false, "write nothing; answer 2 where a file would change")
	cmd.Flags().BoolVar(&f.diff, "diff", false, "show the changes")
	return cmd
}

func (a *app) format(path string, f fmtFlags) error {
	names, err := load.Files(path)
	if err != nil {
		return err
	}
	changed, broken := false, false
	for _, name := range names {
		c, err := a.formatFile(name, f)
		var diags hcl.Diagnostics
		switch {
		case errors.As(err, &diags):
			broken = true
		case err != nil:
			return err
		}
		changed = changed || c
	}
	if broken || changed && f.check {
		return answer(exitNo)
	}
	return nil
}

// formatFile lays out one file; true where its text differs.
func (a *app) formatFile(name string, f fmtFlags) (bool, error) {
	old, err := os.ReadFile(name)
	if err != nil {
		return false, err
	}
	file, diags := load.Parse(name, old)
	if diags.HasErrors() {
		a.printDiagnostics(&load.Loaded{Files: map[string]*hcl.File{name: file}}, diags)
		return false, diags
	}
	formatted := hclwrite.Format(old)
	if bytes.Equal(old, formatted) {
		return false, nil
	}
	if _, diags := hclsyntax.ParseConfig(formatted, name, hcl.InitialPos); diags.HasErrors() {
		return false, fmt.Errorf("%s: its canonical form would not parse; it is left as it is", name)
	}
	if f.diff {
		if _, err := a.out.Write(diff.Diff(name, old, name+" (formatted)", formatted)); err != nil {
			return false, err
		}
	} else {
		fmt.Fprintln(a.out, name)
	}
	if f.check {
		return true, nil
	}
	return true, replaceFile(name, formatted)
}

// replaceFile puts new contents in place of a file in one step and keeps its
// mode. A symbolic link stays one.
func replaceFile(name string, data []byte) error {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	info, err := os.Stat(real)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(real), ".fettle-fmt-*")
	if err != nil {
		return err
	}
	err = writeAndClose(tmp, data, info.Mode().Perm())
	if err == nil {
		err = os.Rename(tmp.Name(), real)
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
	return err
}

func writeAndClose(f *os.File, data []byte, mode fs.FileMode) error {
	_, err := f.Write(data)
	return errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
}
