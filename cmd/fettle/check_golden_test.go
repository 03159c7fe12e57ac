package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestCheckPrints holds what check prints of whole models to the letter. In
// each archive of testdata/check the files CASE/NAME make a model, and
// CASE/want is the output; its first line is the exit code. Escapes stand in
// files whose name ends in .quoted, where text cannot hold the bytes.
func TestCheckPrints(t *testing.T) {
	archives, err := filepath.Glob("testdata/check/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	told := map[string]bool{}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) { checkArchive(t, name, told) })
	}
	for line := range told {
		if strings.HasPrefix(line, "  on ") {
			delete(told, line)
		}
	}
	if n := len(told); n < 140 {
		t.Errorf("only %d different diagnostics", n)
	}
}

// checkArchive checks each case of an archive, and notes the detail of each
// diagnostic that it prints.
func checkArchive(t *testing.T, name string, told map[string]bool) {
	ar, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	name, err = filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("NO_COLOR", "1")
	t.Chdir(t.TempDir())
	for i, f := range ar.Files {
		dir, base, _ := strings.Cut(f.Name, "/")
		switch {
		case base != "want":
			writeCase(t, f)
			continue
		case i == 0 || !strings.HasPrefix(ar.Files[i-1].Name, dir+"/"):
			t.Fatalf("%s wants something and is no model", dir)
		}
		code, out := check(dir)
		got := fmt.Sprintf("exit %d\n%s", code, out)
		for _, line := range strings.Split(got, "\n") {
			if detail.MatchString(line) {
				told[line] = true
			}
		}
		if *update {
			ar.Files[i].Data = []byte(got)
		} else if got != string(f.Data) {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s", dir, got, f.Data)
		}
	}
	if *update {
		if err := os.WriteFile(name, txtar.Format(ar), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// detail is a line that says what is wrong, and no place and no source line.
var detail = regexp.MustCompile(`^  [^ 0-9^]`)

var quoted = strings.NewReplacer(`\r`, "\r", `\t`, "\t", `\0`, "\x00", `\BOM`, "\ufeff", `\xe9`, "\xe9", `\xff\xfe`, "\xff\xfe")

func writeCase(t *testing.T, f txtar.File) {
	t.Helper()
	name, escaped := strings.CutSuffix(f.Name, ".quoted")
	data := f.Data
	if escaped {
		data = []byte(quoted.Replace(string(data)))
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
