package journal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestADamagedFileCostsNoOtherRun: whatever has become of one file of the archive,
// the others are listed and read; the damaged one is listed as such.
func TestADamagedFileCostsNoOtherRun(t *testing.T) {
	for what, damage := range map[string]func(path string) error{
		"empty":          func(path string) error { return os.Truncate(path, 0) },
		"cut short":      func(path string) error { return os.Truncate(path, 20) },
		"no JSON":        func(path string) error { return os.WriteFile(path, []byte("<html>"), 0o600) },
		"without a head": func(path string) error { return os.WriteFile(path, []byte(`{"lines":1}`), 0o600) },
		"of another run": func(path string) error { return os.WriteFile(path, []byte(`{"head":{"run":"other"}}`), 0o600) },
		"a folder": func(path string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.Mkdir(path, 0o700)
		},
	} {
		t.Run(what, func(t *testing.T) {
			j, dir, ids, _ := withArchive(t)
			_, err := j.Archive(testCtx(t), dir, Archiving{Before: before(14), Finished: finished})
			must(t, err)
			files, err := filepath.Glob(filepath.Join(dir, "archive", "*", "*.jsonl"))
			must(t, err)
			if len(files) != 2 {
				t.Fatalf("%d files", len(files))
			}
			must(t, damage(j.archived(ids[0])))
			heads, err := j.Runs(testCtx(t))
			must(t, err)
			if len(heads) != 3 {
				t.Fatalf("%d runs", len(heads))
			}
			for _, h := range heads {
				if damaged := h.Damaged != nil; damaged != (h.Run == ids[0]) {
					t.Errorf("run %s: %v", h.Run, h.Damaged)
				}
				if h.Damaged != nil && !strings.Contains(h.Damaged.Error(), j.archived(h.Run)) {
					t.Errorf("the file is not named: %v", h.Damaged)
				}
			}
			if got := kinds(t, j, ids[2]); len(got) != 2 {
				t.Errorf("events of another archived run: %q", got)
			}
		})
	}
}
