package main

import (
	"errors"
	"fmt"
)

// noStoreError says that nothing was ever kept where it was looked for.
type noStoreError struct{ dir string }

func (e *noStoreError) Error() string {
	return fmt.Sprintf("there is no run yet: %s does not exist (name another with --state-dir)", e.dir)
}

// orNone answers a question about what there is where there is no store: there
// is none of it. That is an answer, and no error.
func (a *app) orNone(err error, format, none string) error {
	var no *noStoreError
	if !errors.As(err, &no) {
		return err
	}
	if format == "json" {
		return writeJSON(a.out, []struct{}{})
	}
	fmt.Fprintln(a.err, plain(without(err, none).Error()))
	return nil
}

// without says what there is none of, where there is no store.
func without(err error, none string) error {
	var no *noStoreError
	if !errors.As(err, &no) {
		return err
	}
	return fmt.Errorf("%s: %s does not exist (name another with --state-dir)", none, no.dir)
}
