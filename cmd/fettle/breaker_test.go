package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fettleops/fettle/executor/ledger"
	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/policy"
)

// oneDoor is a model whose controllers share limits.
const oneDoor = `
type "door" { objects = ["front"] }
fluent "open" {
  params  = { d = door }
  initial = false
}
action "unlock" {
  params = { d = door }
  effect { add = ["open(d)"] }
  run "exec" { command = ["true"] }
}
goal "entry" {
  params    = { d = door }
  condition = ["open(d)"]
}
policy {
  max_rounds           = 1
  max_attempts         = 1
  max_actions          = 1
  deadline             = "1m"
  max_repeats          = 1
  same_failure_retries = 1
  no_evidence_rounds   = 1
  max_errors           = 1
  shared {
    window         = "1h"
    max_per_object = 2
    max_total      = 9
    breaker        = 2
    ineffective    = "30m"
  }
}
`

// book is the model in a folder of its own, with what its controllers did.
type book struct {
	*testing.T
	dir string
}

// tell runs a command on it, and returns what it says on stdout and on stderr.
func (b *book) tell(code int, args ...string) (stdout, stderr string) {
	b.Helper()
	var out, err bytes.Buffer
	a := &app{in: strings.NewReader(""), out: &out, err: &err, restore: func() {}}
	if got := a.command(b.Context(), append(args, "--model", b.dir)); got != code {
		b.Errorf("fettle %v: exit status %d, want %d\n%s%s", args, got, code, &out, &err)
	}
	return out.String(), err.String()
}

// write lets controllers do something.
func (b *book) write(do func(*ledger.Ledger, *store) error) {
	b.Helper()
	a := &app{out: &bytes.Buffer{}, err: &bytes.Buffer{}}
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	l, err := a.load(b.dir)
	must(err)
	defer l.world.Close()
	s, err := a.openStore(b.Context(), l.Loaded)
	must(err)
	must(do(ledger.New(s.Client(), lease.Keys(s.scope), nil), s))
	must(s.Close())
}

// count counts an action as arming it does.
func (b *book) count(g *ledger.Ledger, s *store, id string) error {
	d := policy.Deed{ID: id, Run: "r1", Goal: "entry(front)", Action: "unlock", Objects: []string{"front"}, Ground: "unlock(front)"}
	t, _, err := g.Reserve(b.Context(), policy.Shared{}, d)
	if err == nil {
		_, err = s.Client().Txn(b.Context()).Then(t.Ops...).Commit()
	}
	return err
}

// TestBreakerIsShownAndReset follows a goal from the first run to a person's word.
func TestBreakerIsShownAndReset(t *testing.T) {
	b := &book{t, t.TempDir()}
	if err := os.WriteFile(filepath.Join(b.dir, "doors.fettle.hcl"), []byte(oneDoor), 0o600); err != nil {
		t.Fatal(err)
	}
	b.matches(`^$`, `^no controller has begun anything: .*\.fettle does not exist`, exitDone, "breaker")
	b.matches(`^\{\n  "limits": \[\],\n  "goals": \[\]\n\}\n$`, `^$`, exitDone, "breaker", "-o", "json")
	b.matches(`^$`, `^Error: no controller has begun anything: .*does not exist`, exitFailed, "breaker", "reset", "entry(front)", "--reason", "x")

	b.write(func(g *ledger.Ledger, s *store) error {
		for _, o := range []policy.RunOutcome{{Run: "r1", Status: "failed", Reason: "error", Acted: true}, {Run: "r2", Status: "succeeded", Acted: true}} {
			if err := g.Ended(t.Context(), "entry(front)", o); err != nil {
				return err
			}
		}
		return b.count(g, s, "r1-001")
	})
	const when = `\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`
	b.matches("^max_total              1 of 9 in 1h\nmax_per_object  front  1 of 2 in 1h\n"+
		"goal entry\\(front\\)  closed  0 of 2 runs in a row without success\n"+
		"    run r2 reached it; it has to last until "+when+"\n    `fettle breaker reset 'entry\\(front\\)' --reason …` begins the count anew\n$", `^$`, exitDone, "breaker")

	b.write(func(g *ledger.Ledger, s *store) error {
		for _, run := range []string{"r3", "r4"} {
			if err := g.Ended(t.Context(), "entry(front)", policy.RunOutcome{Run: run, Status: "escalated", Reason: "rounds"}); err != nil {
				return err
			}
		}
		return b.count(g, s, "r1-002")
	})
	b.matches("\nmax_per_object  front  2 of 2 in 1h  full, room from "+when+"\n"+
		"goal entry\\(front\\)  open since "+when+"  2 of 2 runs in a row without success\n    r3 escalated \\(rounds\\)\n    r4 escalated \\(rounds\\)\n", `^$`, exitDone, "breaker")
	b.isOpen()
	b.reset()
}

// matches holds what a command says to patterns.
func (b *book) matches(stdout, stderr string, code int, args ...string) {
	b.Helper()
	out, err := b.tell(code, args...)
	if !regexp.MustCompile(stdout).MatchString(out) || !regexp.MustCompile(stderr).MatchString(err) {
		b.Errorf("fettle %v says\n%s%s\nwant\n%s\n%s", args, out, err, stdout, stderr)
	}
}

// isOpen reads the same as JSON.
func (b *book) isOpen() {
	b.Helper()
	out, _ := b.tell(exitDone, "breaker", "-o", "json")
	var got struct {
		Limits []struct{ Limit, Of, Frees string }
		Goals  []struct {
			Goal string
			Open bool
			Row  []struct{ Run string }
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		b.Fatal(err)
	}
	if len(got.Goals) != 1 || !got.Goals[0].Open || len(got.Goals[0].Row) != 2 || got.Goals[0].Row[1].Run != "r4" || len(got.Limits) != 2 {
		b.Fatalf("as JSON: %s", out)
	}
	if at, err := time.Parse(time.RFC3339, got.Limits[1].Frees); err != nil || time.Until(at) > time.Hour {
		b.Errorf("frees at %s", got.Limits[1].Frees)
	}
}

// reset says that the count begins anew, which is written down.
func (b *book) reset() {
	b.Helper()
	b.matches(`^$`, `^Error: required flag\(s\) "reason" not set`, exitFailed, "breaker", "reset", "entry(front)")
	b.matches(`^$`, "^Error: no run towards entry\\(back\\) counts against it; `fettle breaker` lists the goals\n$", exitFailed, "breaker", "reset", "entry(back)", "--reason", "x")
	b.matches("^reset: runs towards entry\\(front\\) begin again\n    no longer counts: r3 escalated \\(rounds\\)\n    no longer counts: r4 escalated \\(rounds\\)\n$", `^$`,
		exitDone, "breaker", "reset", "entry( front )", "--reason", "the lock is oiled")
	b.matches("  closed  0 of 2 runs in a row without success\n$", `^$`, exitDone, "breaker")
	b.matches("  reset the breaker of goal entry\\(front\\)\n    reason: the lock is oiled\n$", `^$`, exitDone, "leases", "--audit")
}
