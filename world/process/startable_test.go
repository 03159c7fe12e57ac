package process

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A process that is told to be startable is started by the system, and one that
// is not, is not.
func TestWhatIsStartableIsWhatTheSystemStarts(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("good", "#!/bin/sh\nexit 0\n", 0o700)
	write("spaced", "#! /usr/bin/env sh\nexit 0\n", 0o700)
	write("plain", "#!/bin/sh\n", 0o600)
	write("lost", "#!/no/such/interpreter -x\n", 0o700)
	write("folderly", "#!"+dir+"\n", 0o700)
	if err := os.Symlink("nowhere", filepath.Join(dir, "dangling")); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, c := range []struct{ program, in, want string }{
		{at("good"), "", ""},
		{at("good"), dir, ""},
		{at("spaced"), "", ""},
		{"true", "", ""},
		{at("plain"), "", "DIR/plain is not executable; chmod +x makes it so"},
		{at("absent"), "", "there is no file DIR/absent"},
		{at("dangling"), "", "there is no file DIR/dangling"},
		{dir, "", "DIR is a folder"},
		{at("lost"), "", "DIR/lost names an interpreter in its first line, and there is no file /no/such/interpreter"},
		{at("folderly"), "", "DIR/folderly names an interpreter in its first line, and DIR is a folder"},
		{at("good") + "/below", "", "DIR/good/below: not a directory"},
		{"no-such-program-here", "", "there is no program no-such-program-here in PATH"},
		{at("good"), at("absent"), "its directory: DIR/absent: no such file or directory"},
		{at("good"), at("plain"), "its directory DIR/plain is a file"},
	} {
		p := Process{Argv: []string{c.program}, Dir: c.in, Env: Environment(nil)}
		got := ""
		if err := p.Startable(); err != nil {
			got = strings.ReplaceAll(err.Error(), dir, "DIR")
		}
		if got != c.want {
			t.Errorf("%s in %q: %q, want %q", c.program, c.in, got, c.want)
		}
		if x := p.Run(t.Context(), nil, nil); x.Started != (got == "") {
			t.Errorf("%s in %q: started %v, %v, and it was told %q", c.program, c.in, x.Started, x.Err, got)
		}
	}
}

// What env is to look for is told too; the system starts env, which fails.
func TestAnInterpreterThatEnvDoesNotFindIsTold(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plan")
	if err := os.WriteFile(file, []byte("#!/usr/bin/env no-such-python\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	p := Process{Argv: []string{file}, Env: Environment(nil)}
	want := file + " names an interpreter in its first line, and there is no program no-such-python in PATH"
	if err := p.Startable(); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if x := p.Run(t.Context(), nil, nil); x.Code != 127 || errors.Is(x.Err, os.ErrNotExist) {
		t.Errorf("%+v", x)
	}
}
