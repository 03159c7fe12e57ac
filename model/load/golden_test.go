package load

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestMistakesAreTold loads each model of testdata/mistakes. Its last file is
// what is said of the others: place, severity, summary, the text at the place,
// detail.
func TestMistakesAreTold(t *testing.T) {
	files, err := filepath.Glob("testdata/mistakes/*.txtar")
	if err != nil || len(files) < 40 {
		t.Fatalf("only %d golden files: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { golden(t, file) })
	}
}

func golden(t *testing.T, file string) {
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	last := &ar.Files[len(ar.Files)-1]
	if last.Name != "want" {
		ar.Files = append(ar.Files, txtar.File{Name: "want"})
		last = &ar.Files[len(ar.Files)-1]
	}
	dir := t.TempDir()
	o := Options{Vars: map[string]string{}, LookupEnv: func(string) (string, bool) { return "", false }}
	for _, f := range ar.Files[:len(ar.Files)-1] {
		if f.Name == "vars" {
			for _, line := range strings.Fields(string(f.Data)) {
				name, value, _ := strings.Cut(line, "=")
				o.Vars[name] = value
			}
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, diags := Model(dir, o)
	got := told(l, diags)
	if *update {
		last.Data = []byte(got)
		if err := os.WriteFile(file, txtar.Format(ar), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != string(last.Data) {
		t.Errorf("%s\ngot:\n%s\nwant:\n%s", bytes.TrimSpace(ar.Comment), got, last.Data)
	}
}

func told(l *Loaded, diags hcl.Diagnostics) string {
	var b strings.Builder
	for _, d := range diags {
		severity := "error"
		if d.Severity == hcl.DiagWarning {
			severity = "warning"
		}
		if s := d.Subject; s != nil {
			text := string(l.Files[s.Filename].Bytes[s.Start.Byte:s.End.Byte])
			text, _, _ = strings.Cut(text, "\n")
			fmt.Fprintf(&b, "%s:%d:%d: %s: %s: `%s`\n", filepath.Base(s.Filename), s.Start.Line, s.Start.Column, severity, d.Summary, text)
		} else {
			fmt.Fprintf(&b, "%s: %s\n", severity, d.Summary)
		}
		for _, line := range strings.Split(d.Detail, "\n") {
			b.WriteString(strings.TrimRight("  "+line, " ") + "\n")
		}
	}
	return b.String()
}
