package main

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// hangs is a seed whose third service hangs: it cannot be scraped any more, and
// only its absence tells.
const hangs = 4

// TestFettleRepairsTheFleetThroughAPrometheus plays the whole demo with fettle
// itself, which sees the fleet only through a real Prometheus that scrapes it.
func TestFettleRepairsTheFleetThroughAPrometheus(t *testing.T) {
	prometheus := realPrometheus(t)
	fleet := buildFleet(t)
	fettle := filepath.Join(t.TempDir(), "fettle")
	if out, err := exec.Command("go", "build", "-o", fettle, "../../../cmd/fettle").CombinedOutput(); err != nil {
		t.Fatalf("build fettle: %v\n%s", err, out)
	}
	if s := drawSurprise(hangs); s.fault != "hang" {
		t.Fatalf("seed %d no longer brings a hang, but %s", hangs, s)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	err := demo(ctx, options{fettle: fettle, fleet: fleet, model: "../prometheus", prometheus: prometheus, seed: hangs})
	if err != nil {
		t.Fatal(err)
	}
}

// realPrometheus finds the program that a user would use.
func realPrometheus(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("prometheus")
	if err != nil {
		t.Fatalf("this test looks through a real Prometheus, and there is none: run it by make test, or install Debian's package prometheus: %v", err)
	}
	return program
}

// TestAPrometheusThatCannotStartIsToldAndLeavesNothing promises a clear end.
func TestAPrometheusThatCannotStartIsToldAndLeavesNothing(t *testing.T) {
	fleet := buildFleet(t)
	for program, says := range map[string]string{
		"no-such-prometheus": "there is no Prometheus to look through",
		"false":              "it ended at once",
	} {
		err := demo(context.Background(), options{fettle: "unused", fleet: fleet, model: "../prometheus", prometheus: program, seed: 1})
		if err == nil || errors.Is(err, errChecks) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", program, err)
		}
	}
}
