package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/fettleops/fettle/"

// allowed says which of our packages each package may depend on, directly or
// not. Data flows one way, and the imports show it.
var allowed = map[string][]string{
	"model":                 {},
	"model/load":            {"model"},
	"model/graph":           {"model"},
	"model/pddl":            {"model"},
	"policy":                {"model"},
	"validator":             {"model"},
	"validator/modeltest":   {"model", "model/load", "validator"},
	"planner/search":        {"model"},
	"planner":               {"model", "validator", "planner/search"},
	"planner/llm/prompt":    {"model", "validator", "planner", "planner/search"},
	"planner/llm/reply":     {"model", "validator"},
	"planner/llm":           {"model", "validator", "planner", "planner/search", "planner/llm/prompt", "planner/llm/reply"},
	"planner/llm/openai":    {"model", "validator", "planner", "planner/search", "planner/llm/prompt", "planner/llm/reply", "planner/llm"},
	"planner/llm/anthropic": {"model", "validator", "planner", "planner/search", "planner/llm/prompt", "planner/llm/reply", "planner/llm"},
	"planner/llm/program":   {"model", "validator", "planner", "planner/search", "planner/llm/prompt", "planner/llm/reply", "planner/llm", "world/process"},
	"planner/llm/llmtest":   {},
	"planner/llm/planbench": {"model", "model/load", "validator", "planner", "planner/search", "planner/llm/prompt", "planner/llm/reply", "planner/llm"},
	"docs":                  {},
	"lease":                 {},
	"lease/etcd":            {},
	"journal":               {"lease/etcd"},
	"world/process":         {},
	"world/redaction":       {},
	"world":                 {"model", "lease", "world/process", "world/redaction"},
	"executor/ledger":       {"model", "policy", "lease"},
	"executor":              {"model", "policy", "validator", "planner", "planner/search", "planner/llm/prompt", "lease", "journal", "world", "world/process", "world/redaction", "executor/ledger"},
	"executor/audit":        {"model", "policy", "validator", "planner", "planner/search", "planner/llm/prompt", "lease", "journal", "world", "world/process", "world/redaction", "executor/ledger", "executor"},
	"server":                {"model", "policy", "validator", "planner", "planner/search", "planner/llm/prompt", "lease", "journal", "world", "world/process", "world/redaction", "executor/ledger", "executor"},
	"server/notify":         {"model", "policy", "validator", "planner", "planner/search", "planner/llm/prompt", "lease", "journal", "world", "world/process", "world/redaction", "executor/ledger", "executor"},
}

// noIO lists what a package that does no I/O may not reach.
var noIO = []string{"net", "net/http", "os/exec", "go.etcd.io/etcd/client/v3", "google.golang.org/grpc"}

// TestImportsRunOneWay promises that no package depends on one above it, that
// nothing imports cmd or the server, and that what decides does no I/O.
func TestImportsRunOneWay(t *testing.T) {
	deps := packages(t)
	for name, may := range allowed {
		got, ok := deps[module+name]
		if !ok {
			t.Errorf("package %s is not there", name)
			continue
		}
		for _, d := range got {
			ours, is := strings.CutPrefix(d, module)
			if is && !slices.Contains(may, ours) {
				t.Errorf("%s must not depend on %s", name, ours)
			}
			if slices.Contains([]string{"model", "policy", "validator"}, name) && slices.Contains(noIO, d) {
				t.Errorf("%s must do no I/O, but depends on %s", name, d)
			}
		}
	}
	for name, got := range deps {
		ours, is := strings.CutPrefix(name, module)
		if !is || strings.HasPrefix(ours, "examples/") {
			continue
		}
		if _, ok := allowed[ours]; !ok && ours != "cmd/fettle" {
			t.Errorf("package %s has no place in the architecture: add it to this list", ours)
		}
		if ours != "cmd/fettle" && slices.Contains(got, module+"cmd/fettle") {
			t.Errorf("%s must not depend on cmd", ours)
		}
	}
}

// packages returns the dependencies of each of our packages.
func packages(t *testing.T) map[string][]string {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Deps", module+"...")
	out, err := cmd.Output()
	if err != nil {
		var e *exec.ExitError
		if errors.As(err, &e) {
			t.Fatalf("go list: %s", e.Stderr)
		}
		t.Fatal(err)
	}
	deps := map[string][]string{}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p struct {
			ImportPath string
			Deps       []string
		}
		switch err := dec.Decode(&p); {
		case errors.Is(err, io.EOF):
			return deps
		case err != nil:
			t.Fatal(err)
		}
		deps[p.ImportPath] = p.Deps
	}
}
