package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/fettleops/fettle/model/load"
)

// firstModel is the model that init writes.
//
//go:embed first.fettle.hcl
var firstModel []byte

// firstModelName is the file that it writes it to.
const firstModelName = "main.fettle.hcl"

func newInitCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write a small commented model that runs as it stands",
		Long: `Writes main.fettle.hcl into the folder, which is made where it does not exist: a
small model with every common block explained. It observes and changes nothing
but files in a folder of its own. An existing model is never overwritten.`,
		Example: `  fettle init demo
  fettle check demo
  fettle plan demo
  fettle run demo`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.init(modelPath(args)) },
	}
}

func (a *app) init(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if found, err := load.Files(dir); err == nil {
		return fmt.Errorf("there is a model already: %s; name another folder", found[0])
	}
	name := filepath.Join(dir, firstModelName)
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already and is left as it is", name)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(firstModel)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "wrote %s\n", name)
	fmt.Fprintf(a.err, "next: fettle check %[1]s, fettle plan %[1]s, fettle run %[1]s\n", dir)
	return nil
}
