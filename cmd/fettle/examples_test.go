package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExamples promises that every example has a README, checks without any
// finding, is laid out as fmt would, and can be planned from its states.
func TestExamples(t *testing.T) {
	dirs, err := filepath.Glob("../../examples/*")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	dirs = append(dirs, "../../examples/fleet/prometheus")
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			if _, err := os.Stat(filepath.Join(dir, "README.md")); err != nil {
				t.Error(err)
			}
			if out := call(t, exitDone, "check", dir); !strings.HasPrefix(out, "fine: ") {
				t.Errorf("check: %s", out)
			}
			call(t, exitDone, "fmt", "--check", dir)
			plan := call(t, exitDone, "plan", dir)
			file := filepath.Join(t.TempDir(), "plan")
			if err := os.WriteFile(file, []byte(plan), 0o600); err != nil {
				t.Fatal(err)
			}
			if out := call(t, exitDone, "validate", "--plan", file, dir); !strings.HasPrefix(out, "valid: ") {
				t.Errorf("validate: %s", out)
			}
		})
	}
}

// call runs one command line in this process and returns its stdout.
func call(t *testing.T, want int, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if got := run(context.Background(), args, strings.NewReader(""), &out, &errs); got != want {
		t.Errorf("fettle %s: exit %d, want %d\n%s%s", strings.Join(args, " "), got, want, &out, &errs)
	}
	return out.String()
}
