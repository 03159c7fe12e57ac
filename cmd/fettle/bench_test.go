package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkStartup compares the start of fettle, with all that is linked into
// it, with that of an empty Go program, in turn in one run.
func BenchmarkStartup(b *testing.B) {
	dir := b.TempDir()
	src := filepath.Join(dir, "empty.go")
	if err := os.WriteFile(src, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	empty, ours := filepath.Join(dir, "empty"), filepath.Join(dir, "fettle")
	for bin, what := range map[string]string{empty: src, ours: "."} {
		if out, err := exec.Command("go", "build", "-o", bin, what).CombinedOutput(); err != nil {
			b.Fatalf("build %s: %v\n%s", what, err, out)
		}
	}
	var base, full time.Duration
	for b.Loop() {
		base += took(b, empty)
		full += took(b, ours, "version")
	}
	b.ReportMetric(float64(full)/float64(base), "ratio")
	b.ReportMetric(full.Seconds()*1000/float64(b.N), "ms/fettle")
	b.ReportMetric(base.Seconds()*1000/float64(b.N), "ms/empty")
}

func took(b *testing.B, bin string, args ...string) time.Duration {
	b.Helper()
	cmd := exec.Command(bin, args...)
	if err := cmd.Run(); err != nil {
		b.Fatal(err)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}
