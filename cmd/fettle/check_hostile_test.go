package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever lies where a model should be, check answers with one message, with
// its place where it has one, and the right exit code.
func TestCheckAnswersWhateverLiesThere(t *testing.T) {
	const start = "type \"service\" { objects = [\"api\"] }\nfluent \"up\" { params = { s = service } }\n"
	text := func(s string) func(string) error {
		return func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "m.fettle.hcl"), []byte(s), 0o600)
		}
	}
	goal := func(c string) func(string) error { return text(start + "goal \"g\" { condition = [\"" + c + "\"] }\n") }
	link := func(to string) func(string) error {
		return func(dir string) error { return os.Symlink(to, filepath.Join(dir, "m.fettle.hcl")) }
	}
	for _, tt := range []struct {
		name string
		make func(dir string) error
		code int
		want string // part of the one message
	}{
		{"nothing", func(string) error { return nil }, 1, "Error: Cannot read the model: read nothing: there is no file that ends in .fettle.hcl"},
		{"folder", func(dir string) error { return os.Mkdir(filepath.Join(dir, "x.fettle.hcl"), 0o700) }, 1, "read folder/x.fettle.hcl: it is a folder"},
		{"loop", link("m.fettle.hcl"), 1, "loop/m.fettle.hcl: too many levels of symbolic links"},
		{"dangling", link("nowhere"), 1, "dangling/m.fettle.hcl: no such file or directory"},
		// Not even root reads at the start of its own memory.
		{"unreadable", link("/proc/self/mem"), 1, "read unreadable/m.fettle.hcl: input/output error"},
		{"huge", text(start + "# " + strings.Repeat("x", 17<<20)), 1, "read huge/m.fettle.hcl: larger than 16 MiB"},
		{"large comment", text(start + "# " + strings.Repeat("x", 10<<20)), 0, "fine: 1 fluent, 1 type"},
		{"large line", text(start + "goal \"g\" { condition = [\"up(apj)\"] } # " + strings.Repeat("x", 10<<20)), 2, "line 3"},
		{"parentheses", goal(strings.Repeat("(", 1e5) + "up(api)" + strings.Repeat(")", 1e5)), 2, "at most 4096 bytes"},
		{"parentheses that fit", goal(strings.Repeat("(", 2000) + "up(api)" + strings.Repeat(")", 2000)), 0, "fine: "},
		{"parentheses in HCL", text("locals { a = " + strings.Repeat("(", 1e5) + "1" + strings.Repeat(")", 1e5) + " }\n"), 2, "line 1"},
		{"brackets", text("locals { a = " + strings.Repeat("[", 1e5) + strings.Repeat("]", 1e5) + " }\n"), 2, "Nested too deeply"},
		{"open brackets", text("locals { a = " + strings.Repeat("[", 1e5)), 2, "Nested too deeply"},
		{"blocks", text(strings.Repeat("a {\n", 1e5)), 2, "line 1001"},
		{"templates", text("locals { a = " + strings.Repeat(`"${`, 1e5) + "1" + strings.Repeat(`}"`, 1e5) + " }\n"), 2, "Nested too deeply"},
		{"negations", goal(strings.Repeat("!", 4000) + "up(api)"), 2, "at most 500 parts"},
		{"4 KiB", goal("up(api)" + strings.Repeat(" ", 4096-len("up(api)"))), 0, "fine: "},
		{"4 KiB and a byte", goal("up(api)" + strings.Repeat(" ", 4097-len("up(api)"))), 2, "at most 4096 bytes"},
		{"binary", text("\x7fELF\x02\x01\x01\x00\x00" + strings.Repeat("\x00\xff", 1<<16)), 2, "Not a text file"},
		{"100000 objects", text(objects(1e5, "")), 0, "fine: 1 type"},
		{"100000 objects and one twice", text(objects(1e5, `"o77",`)), 2, `Duplicate object "o77"`},
		{"unicode", text("type \"service\" { objects = [\"größe\", \"日本\"] }\nfluent \"up\" { params = { s = service } }\ngoal \"g\" { condition = [\"up('größe') && up('日本')\"] }\n"), 0, "fine: "},
		{"unicode name", text("fluent \"größe\" {}\n"), 2, `The name "größe" of a fluent must be letters`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			dir := strings.ReplaceAll(tt.name, " ", "-")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := tt.make(dir); err != nil {
				t.Fatal(err)
			}
			code, out := check(dir)
			if n := strings.Count(out, "Error: "); code != tt.code || !strings.Contains(out, tt.want) || n != min(code, 1) || len(out) > 4096 {
				t.Errorf("exit %d, want %d, with %d messages of %d bytes: %.600s\nwant one with %q", code, tt.code, n, len(out), out, tt.want)
			}
		})
	}
}

func check(args ...string) (int, string) {
	var out bytes.Buffer
	code := run(context.Background(), append([]string{"check"}, args...), nil, &out, &out)
	return code, out.String()
}

func objects(n int, more string) string {
	var b strings.Builder
	b.WriteString("type \"service\" {\n  objects = [\n")
	for i := range n {
		fmt.Fprintf(&b, "    \"o%d\",\n", i)
	}
	return b.String() + more + "  ]\n}\n"
}

// A file full of mistakes is told of at its start, and the rest is counted.
func TestAFileFullOfMistakesIsNotPrintedInFull(t *testing.T) {
	t.Chdir(t.TempDir())
	var b strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&b, "goal \"g%d\" { condition = [\"bogus%d\"] }\n", i, i)
	}
	if err := os.WriteFile("m.fettle.hcl", []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out := check("m.fettle.hcl")
	if n := strings.Count(out, "Error: "); code != exitNo || n != maxPrinted {
		t.Errorf("exit %d with %d messages", code, n)
	}
	if want := "\n… and 19000 more; mend these first.\n\n20000 errors\n"; !strings.HasSuffix(out, want) {
		t.Errorf("ends with %q, want %q", out[len(out)-80:], want)
	}
	if want := "line 1000, in goal \"g999\":\n1000: goal \"g999\" { condition = [\"bogus999\"] }\n"; !strings.Contains(out, want) {
		t.Errorf("no %q", want)
	}
}
