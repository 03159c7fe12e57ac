package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestMain lets the test binary stand in for fettle: "run" is the controller.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "run" {
		if err := controllerMain(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func buildFleet(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "fleet")
	build := exec.Command("go", "build", "-o", program, "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the fleet: %v\n%s", err, out)
	}
	return program
}

// TestTheDemoTellsRightFromWrong plays the whole demo, with real processes and
// a real etcd, before a controller that keeps the protocol and ones that do not.
func TestTheDemoTellsRightFromWrong(t *testing.T) {
	fleet := buildFleet(t)
	for _, c := range []struct {
		fault string
		seed  uint64
		good  bool
	}{
		{"", 1, true},
		{"", 2, true},
		{"", 3, true},
		{"acts before observing", 1, false},
		{"never finishes", 1, false},
	} {
		t.Run(fmt.Sprintf("%s seed %d", c.fault, c.seed), func(t *testing.T) {
			t.Setenv("CONTROLLER_FAULT", c.fault)
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			defer cancel()
			err := demo(ctx, options{fettle: os.Args[0], fleet: fleet, model: "..", seed: c.seed})
			switch {
			case c.good && err != nil:
				t.Fatal(err)
			case !c.good && !errors.Is(err, errChecks):
				t.Fatalf("the demo did not object: %v", err)
			}
		})
	}
}
