package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// doubted is what an example shows check to find: the classic model toggles a
// counter, as the literature does.
var doubted = map[string]string{"classic": `Warning: Fluent "capacity" could be derived`}

// wanted names the goal that an example with several is planned for.
var wanted = map[string]string{"node-reboot": "patched", "postgres-failover": "primary_serving"}

// TestExamples promises that every example has a README, checks without any
// finding but what it is to show, is laid out as fmt would, and can be planned from its states.
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
			want := "fine: "
			if doubt := doubted[filepath.Base(dir)]; doubt != "" {
				want = doubt
			}
			if out := call(t, exitDone, "check", dir); !strings.HasPrefix(out, want) || strings.Count(out, "Warning:") != strings.Count(want, "Warning:") {
				t.Errorf("check: %s", out)
			}
			call(t, exitDone, "fmt", "--check", dir)
			goal := []string{dir}
			if name := wanted[filepath.Base(dir)]; name != "" {
				goal = append(goal, "--goal", name)
			}
			plan := call(t, exitDone, append([]string{"plan"}, goal...)...)
			file := filepath.Join(t.TempDir(), "plan")
			if err := os.WriteFile(file, []byte(plan), 0o600); err != nil {
				t.Fatal(err)
			}
			if out := call(t, exitDone, append([]string{"validate", "--plan", file}, goal...)...); !strings.HasPrefix(out, "valid: ") {
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
