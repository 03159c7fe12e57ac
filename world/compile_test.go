package world

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Each pair of files in the archive is a source and what Compile says of it.
func TestCompileNamesEveryMistake(t *testing.T) {
	const golden = "testdata/compile.txtar"
	a, err := txtar.ParseFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	var out []txtar.File
	for _, f := range a.Files {
		name, isSource := strings.CutSuffix(f.Name, ".hcl")
		if !isSource {
			continue
		}
		m := newTestModel(t)
		m.vars["at"] = cty.StringVal("http://127.0.0.1:7000")
		_, diags := m.compile(t, t.TempDir(), string(f.Data))
		got := txtar.File{Name: name + ".txt", Data: []byte(showDiagnostics(string(f.Data), diags))}
		out = append(out, f, got)
		for _, want := range a.Files {
			if want.Name == got.Name && !*update && string(want.Data) != string(got.Data) {
				t.Errorf("%s: got\n%swant\n%s", name, got.Data, want.Data)
			}
		}
		if len(diags) == 0 && name != "fine" {
			t.Errorf("%s: no mistake was found", name)
		}
	}
	if *update {
		a.Files = out
		if err := os.WriteFile(golden, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func showDiagnostics(src string, diags hcl.Diagnostics) string {
	var b strings.Builder
	for _, d := range diags {
		severity := "error"
		if d.Severity == hcl.DiagWarning {
			severity = "warning"
		}
		at := d.Subject
		fmt.Fprintf(&b, "%s: %s\n  %d,%d-%d: %s\n  %s\n", severity, d.Summary, at.Start.Line, at.Start.Column, at.End.Column,
			src[at.Start.Byte:at.End.Byte], d.Detail)
	}
	return b.String()
}
