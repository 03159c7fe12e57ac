package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExampleTestsHoldEveryPart promises that every example has tests, that
// they pass and exercise each action, each conditional effect, each conjunct of
// a precondition and a goal, and that no part of it can be left out unnoticed.
// An invariant that no plan can break is explained beside the tests.
func TestExampleTestsHoldEveryPart(t *testing.T) {
	dirs, err := filepath.Glob("../../examples/*")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			var doc testsDoc
			if err := json.Unmarshal([]byte(call(t, exitDone, "test", "--cover", "--mutate", "-o", "json", dir)), &doc); err != nil {
				t.Fatal(err)
			}
			if doc.Passed == 0 || doc.Mutation == nil || doc.Mutation.Mutants == 0 || len(doc.Coverage) != 5 {
				t.Fatalf("nothing was tried: %+v", doc)
			}
			for _, g := range doc.Coverage {
				for _, gap := range g.Missed {
					if g.Name != "invariants" || !explained(t, dir, gap.What) {
						t.Errorf("%s:%d: %s", gap.File, gap.Line, gap.What)
					}
				}
			}
			for _, gap := range doc.Mutation.Survived {
				t.Errorf("%s:%d: survived: %s", gap.File, gap.Line, gap.What)
			}
		})
	}
}

// explained tells whether a remark beside the tests speaks of an invariant.
func explained(t *testing.T, dir, gap string) bool {
	t.Helper()
	name, _, _ := strings.Cut(gap, ":")
	files, err := filepath.Glob(filepath.Join(dir, "*.fettletest.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			if strings.HasPrefix(line, "#") && strings.Contains(line, name) {
				return true
			}
		}
	}
	return false
}
