package main

import (
	"errors"
	"strings"

	"github.com/fettleops/fettle/lease"
)

// spoken is an error as a person reads it: without the name of the package that
// each of its causes begins with, and where it is who drives a run, or who is in
// the way, that alone.
func spoken(err error) string {
	text := err.Error()
	var owned *lease.OwnedError
	if errors.As(err, &owned) && strings.HasSuffix(text, owned.Error()) {
		return unprefixed(owned.Error())
	}
	for _, e := range causes(err) {
		told := unprefixed(e.Error())
		if busy, ok := e.(*lease.BusyError); ok { //nolint:errorlint // Each cause is looked at by itself.
			told = inTheWay(busy)
		}
		text = strings.Replace(text, e.Error(), told, 1)
	}
	return text
}

func unprefixed(text string) string { return strings.TrimPrefix(text, "lease: ") }

// causes lists an error and all that it wraps, the outer before the inner.
func causes(err error) []error {
	if err == nil {
		return nil
	}
	out := []error{err}
	switch e := err.(type) { //nolint:errorlint // The tree itself is walked.
	case interface{ Unwrap() error }:
		out = append(out, causes(e.Unwrap())...)
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			out = append(out, causes(one)...)
		}
	}
	return out
}

// inTheWay tells who holds what is wanted, and how many wait for it already.
func inTheWay(e *lease.BusyError) string {
	if len(e.Holders) == 0 {
		return "it was held, and is free again by now"
	}
	return strings.TrimPrefix(e.Error(), "lease: busy: ")
}
