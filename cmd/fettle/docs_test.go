package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// documents are the kinds of fences whose text is put into the file that they
// name; a file that is named again grows.
var documents = []string{"hcl", "json", "text", "pddl", "python"}

// TestLanguageReference promises that whoever follows docs/language.md from its
// first line to its last, writing what it writes and typing what it types, sees
// what it shows. No fence goes unchecked, and whatever a fence writes is looked
// at by a command after it.
func TestLanguageReference(t *testing.T) { follow(t, "../../docs/language.md") }

// TestPlannersGuide promises the same of docs/planners.md.
func TestPlannersGuide(t *testing.T) { follow(t, "../../docs/planners.md") }

func follow(t *testing.T, guide string) {
	t.Helper()
	raw, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Base(guide)
	r := &docReader{t: t, name: name, dir: t.TempDir(), unread: map[string]int{}, models: map[string]bool{}, env: readerEnv(t)}
	lines := strings.SplitAfter(string(raw), "\n")
	var out strings.Builder
	for i := 0; i < len(lines); i++ {
		out.WriteString(lines[i])
		info, opens := strings.CutPrefix(lines[i], "```")
		if !opens {
			if mark := strings.TrimSpace(lines[i]); strings.HasPrefix(mark, "```") || strings.HasPrefix(mark, "~~~") {
				t.Errorf("%s:%d: a fence begins its line with ```", name, i+1)
			}
			continue
		}
		end := i + 1
		for end < len(lines) && !strings.HasPrefix(lines[end], "```") {
			end++
		}
		if end == len(lines) {
			t.Fatalf("%s:%d: the fence is not closed", name, i+1)
		}
		out.WriteString(r.fence(i+1, strings.TrimSpace(info), strings.Join(lines[i+1:end], "")))
		out.WriteString(lines[end])
		i = end
	}
	r.laidOut()
	for dir, line := range r.unread {
		t.Errorf("%s:%d: nothing looks at what is written into %s", name, line, dir)
	}
	if *update && out.String() != string(raw) {
		if err := os.WriteFile(guide, []byte(out.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// readerEnv is an environment in which this very test binary is fettle, and no
// language model has a key.
func readerEnv(t *testing.T) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "fettle")); err != nil {
		t.Fatal(err)
	}
	return append(os.Environ(), "OPENAI_API_KEY=", "ANTHROPIC_API_KEY=", "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0")
}

// docReader follows the reference.
type docReader struct {
	t      *testing.T
	name   string // of the document
	dir    string
	env    []string
	unread map[string]int  // folders written into since a command ran there, with the line
	models map[string]bool // folders with a model
}

// fence does what a fence says and returns its text, with what is seen now
// where that is asked for.
func (r *docReader) fence(line int, info, text string) string {
	kind, rest, _ := strings.Cut(info, " ")
	where, given := strings.CutPrefix(rest, "file=")
	if slices.Contains(documents, kind) && given {
		r.write(line, where, text)
		return text
	}
	where, given = strings.CutPrefix(rest, "dir=")
	if kind == "console" && given {
		delete(r.unread, where)
		return r.console(line, filepath.Join(r.dir, where), text)
	}
	r.t.Errorf("%s:%d: a fence is one of %v with file=FOLDER/NAME, or console with dir=FOLDER, not %q", r.name, line, documents, info)
	return text
}

func (r *docReader) write(line int, name, text string) {
	path := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		r.t.Fatal(err)
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		r.t.Fatal(err)
	}
	r.unread[filepath.Dir(name)] = line
	if strings.HasSuffix(name, ".hcl") {
		r.models[filepath.Dir(name)] = true
	}
}

// laidOut promises that every model of the reference is laid out as fmt would.
func (r *docReader) laidOut() {
	for dir := range r.models {
		if out := r.run(filepath.Join(r.dir, dir), "fettle fmt --diff --check"); out != "" {
			r.t.Errorf("%s: %s is not laid out as fmt would:\n%s", r.name, dir, out)
		}
	}
}

// console runs the lines that begin with $ and compares what they print with
// what stands behind them.
func (r *docReader) console(line int, dir, text string) string {
	if !strings.HasPrefix(text, "$ ") {
		r.t.Errorf("%s:%d: a console begins with a command, as in $ fettle check", r.name, line)
		return text
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		r.t.Fatal(err)
	}
	var seen strings.Builder
	for _, part := range strings.Split(text[2:], "\n$ ") {
		command, want, _ := strings.Cut(part, "\n")
		got := r.run(dir, command)
		want = strings.TrimRight(want, "\n")
		if docShows(want, got) {
			got = want
		} else if !*update {
			r.t.Errorf("%s:%d: $ %s\nshows\n%s\nnot\n%s", r.name, line, command, got, want)
		}
		fmt.Fprintf(&seen, "$ %s\n", command)
		if got != "" {
			seen.WriteString(got + "\n")
		}
	}
	return seen.String()
}

// run returns what a person at a terminal sees of a command, and its exit
// status where that is not 0.
func (r *docReader) run(dir, command string) string {
	var out bytes.Buffer
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, r.env, &out, &out
	err := cmd.Run()
	var status *exec.ExitError
	switch {
	case errors.As(err, &status):
		fmt.Fprintf(&out, "(exit status %d)\n", status.ExitCode())
	case err != nil:
		r.t.Fatal(err)
	}
	return strings.TrimRight(out.String(), "\n")
}

// docShows tells whether an output is what is shown. In what is shown, […] on a
// line of its own stands for any lines, and within a line for any text.
func docShows(want, got string) bool {
	pattern := regexp.QuoteMeta(want)
	pattern = regexp.MustCompile(`(?m)^\\\[…\\\]\n`).ReplaceAllString(pattern, `(?:.*\n)*`)
	pattern = regexp.MustCompile(`\n\\\[…\\\]$`).ReplaceAllString(pattern, `(?:\n.*)*`)
	pattern = strings.ReplaceAll(pattern, `\[…\]`, `.+`)
	return regexp.MustCompile(`\A` + pattern + `\z`).MatchString(got)
}
