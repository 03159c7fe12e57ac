package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEveryExampleReplays promises that each decision of a run of each example
// comes out the same when it is derived again: from the store, and where the
// model has changed since from the one that the journal keeps.
func TestEveryExampleReplays(t *testing.T) {
	t.Parallel()
	none := func(*scripted) {}
	failing := func(s *scripted) {
		s.set("nodes/w2/boot_seconds", "0")
		s.set("surprise-cordon-cp1", "put cp2 etcd false")
	}
	silent := func(s *scripted) {
		s.set("surprise-promote-pg3", "put pg3 alive false; die 'pg3: server closed the connection unexpectedly'")
	}
	resumed := func(s *scripted) { // With another model, which the journal keeps too.
		s.append("postgres-failover.fettle.hcl", "\n# Changed while it waited.\n")
		s.fettle(exitDone, "resume", "last", "--approve")
	}
	for _, tt := range []struct {
		name, example string
		set           func(*scripted)
		exit          int
		run           []string
		then          func(*scripted)
	}{
		{"a rejected proposal", "coordinated", none, exitDone, []string{"--approve"}, none},
		{"a goal for discovered objects", "node-reboot", none, exitDone, []string{"--approve", "--goal", "rebooted(w1)"}, none},
		{"another round", "node-reboot", failing, exitDone, []string{"--approve", "--goal", "patched"}, none},
		{"an outcome that nobody knows", "postgres-failover", silent, exitEscalated, []string{"--approve", "--goal", "primary_serving"}, none},
		{"a run that waited", "postgres-failover", none, exitWaiting, []string{"--goal", "primary_serving"}, resumed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newScripted(t, tt.example)
			tt.set(s)
			s.fettle(tt.exit, append([]string{"run"}, tt.run...)...)
			tt.then(s)
			first := s.fettle(exitDone, "replay", "last")
			s.says(first, " decisions re-derived, all equal")
			if again := s.fettle(exitDone, "replay", "last"); again != first {
				t.Errorf("a second replay says\n%s\nthe first\n%s", again, first)
			}
			s.append(tt.example+".fettle.hcl", "\n# Changed since.\n")
			if again := s.fettle(exitDone, "replay", "last"); again != first {
				t.Errorf("with the recorded model it says\n%s\nbefore\n%s", again, first)
			}
		})
	}
}

// append writes at the end of a file of the example.
func (s *scripted) append(file, text string) {
	s.t.Helper()
	name := filepath.Join(s.dir, file)
	old, err := os.ReadFile(name)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(name, append(old, text...), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// TestTheFleetReplays promises that what variables were set to when the run was
// started is in the journal: the replay is told of none.
func TestTheFleetReplays(t *testing.T) {
	t.Parallel()
	f := startFleet(t)
	f.fault("api", "leak")
	dir := f.model(startEtcd(t))
	at := []string{"--model", dir}
	for _, args := range [][]string{{"run", "--approve", "--var", "fleet=" + f.base, dir}, append([]string{"replay", "last"}, at...)} {
		out, err := fettle(t, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		if args[0] == "replay" && !strings.Contains(string(out), " decisions re-derived, all equal") {
			t.Errorf("it says\n%s", out)
		}
	}
}

// TestJournalsOfFormerVersionsAreRead promises that what a former version
// exported is replayed, with the model beside it, and shown.
func TestJournalsOfFormerVersionsAreRead(t *testing.T) {
	t.Parallel()
	const folder = "../../executor/testdata/journal-v1/"
	for name, model := range map[string]string{
		"coordinated": "coordinated", "reboot-again": "node-reboot", "failover-in-doubt": "postgres-failover", "failover-resumed": "postgres-failover",
	} {
		out, err := fettle(t, "replay", "--file", folder+name+".jsonl", "--model", folder+model).CombinedOutput()
		if err != nil || !strings.Contains(string(out), " decisions re-derived, all equal") {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		rec, err := readRecord(folder + name + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		var shown strings.Builder
		r := newRenderer(&shown, rec.events[0].Run)
		for _, e := range rec.events {
			if err := r.event(e); err != nil {
				t.Errorf("%s: event %d: %v", name, e.Seq, err)
			}
		}
		if !strings.Contains(shown.String(), "Observed ") || !strings.Contains(shown.String(), "fettle show "+rec.events[0].Run) {
			t.Errorf("%s is shown as\n%s", name, shown.String())
		}
	}
}

// TestReplayOfAnExport promises that an exported run is replayed with the model
// as it was, that no other stands in for it, and that what was changed in the
// file is named.
func TestReplayOfAnExport(t *testing.T) {
	t.Parallel()
	s := newScripted(t, "coordinated")
	s.fettle(exitDone, "run", "--approve")
	export := filepath.Join(t.TempDir(), "run.jsonl")
	events := s.fettle(exitDone, "show", "last", "-o", "jsonl")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(export, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(events)
	s.says(s.fettle(exitDone, "replay", "--file", export), " decisions re-derived, all equal")

	write(strings.Replace(events, `"steps":["drain(api)"`, `"steps":["drain(db)"`, 1))
	s.says(s.fettle(exitNo, "replay", "--file", export), "event 7, attempt: the verdict on attempt 1 of round 1, by main\n",
		"  recorded    step 4: drain(db) not applicable; missing capacity\n", "re-derived until the first that differs")

	write(events)
	s.append("coordinated.fettle.hcl", "\n# Changed since.\n")
	s.says(s.fettle(exitDone, "replay", "--file", export), " decisions re-derived, all equal")
	var bare []string
	for line := range strings.Lines(events) {
		if !strings.Contains(line, `"kind":"body"`) {
			bare = append(bare, line)
		}
	}
	write(strings.Join(bare, "")) // As older versions wrote it.
	s.says(s.fettle(exitFailed, "replay", "--file", export), "the file has no bodies, and so no model (`fettle show RUN -o jsonl` of this version writes them), and the one in . (with its variables) is not that of the run")
	s.says(s.fettle(exitDone, "replay", "--file", export, "--with", "."), "derived with ., all as in the run")
}

// TestReplayWithAnotherPolicy promises to list what other limits and rules would
// have decided of the run.
func TestReplayWithAnotherPolicy(t *testing.T) {
	t.Parallel()
	s := newScripted(t, "coordinated")
	s.fettle(exitDone, "run", "--approve")
	other := filepath.Join(t.TempDir(), "other")
	if err := os.CopyFS(other, os.DirFS(s.dir)); err != nil {
		t.Fatal(err)
	}
	(&scripted{t, other}).replace("coordinated.fettle.hcl", maxActions, `max_actions = 7
  rule "no_reverts" {
    effect = "deny"
    when   = "action == 'revert'"
    reason = "a revert is for people"
  }`)
	out := s.fettle(exitNo, "replay", "last", "--with", other)
	s.says(out, "event 13, decision: the policy's answer before an action\n", "denied by rule no_reverts: a revert is for people",
		"event 41, decision: the policy's answer before an action\n", "  recorded    continue: 7 of 20 actions used", "  derived     stop (budget): max_actions = 7 reached: 7 executed",
		" 2 otherwise")
}

var maxActions = regexp.MustCompile(`max_actions += \d+`)

// TestTheJournalKeepsNoSecretsOfTheModel promises that what a sensitive variable
// is set to, or defaults to, is not in the recorded model, and that a run with
// one replays.
func TestTheJournalKeepsNoSecretsOfTheModel(t *testing.T) {
	t.Parallel()
	s := newScripted(t, "coordinated")
	s.append("planner.fettle.hcl", `
variable "token" {
  sensitive = true
  default   = "pl\u0061nted-in-the-file"
}
variable "given" { sensitive = true }
variable "plain" { default = "x" }
`)
	s.replace("coordinated.fettle.hcl", maxActions, "max_actions = 20\n  retention = \"1ms\"")
	run := func(want int, args ...string) string {
		t.Helper()
		cmd := fettle(t, args...)
		cmd.Dir = s.dir
		cmd.Env = append(cmd.Env, "FETTLE_VAR_given=planted-from-outside", "FETTLE_VAR_plain=not-a-secret")
		return s.does(cmd, want)
	}
	run(exitDone, "run", "--approve")
	run(exitDone, "run", "--approve") // Which moves the one before to the archive.
	s.append("coordinated.fettle.hcl", "\n# Changed since.\n")
	archived, err := filepath.Glob(filepath.Join(s.dir, ".fettle/archive/*/01*.jsonl"))
	if err != nil || len(archived) != 1 {
		t.Fatalf("archived: %v, %v", archived, err)
	}
	id := strings.TrimSuffix(filepath.Base(archived[0]), ".jsonl")
	for _, args := range [][]string{{"replay", id}, {"replay", "--file", archived[0]}} {
		s.says(run(exitDone, args...), "8  outcome", "all equal", "Note: sensitive variables are not in the journal: given, token\n")
	}
	text := unpacked(t, archived[0])
	for _, secret := range []string{"planted-in-the-file", `pl\\u0061nted`, "planted-from-outside"} {
		if strings.Contains(text, secret) {
			t.Errorf("%s is in the recorded model", secret)
		}
	}
	s.says(text, `"plain":"not-a-secret"`, `"sensitive":["given","token"]`)
}

// unpacked is the recorded model in a file of the archive, as other programs
// unpack it.
func unpacked(t *testing.T, archived string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", `sed -n 's/.*"sha256":"[0-9a-f]*","body":"\(H4sI[^"]*\)".*/\1/p' "$1" | base64 -d | gzip -d`, "sh", archived)
	out, err := cmd.Output()
	if err != nil || len(out) == 0 {
		t.Fatalf("the recorded model in %s: %v, %d bytes", archived, err, len(out))
	}
	return string(out)
}

// replace rewrites a file of the example.
func (s *scripted) replace(file string, old *regexp.Regexp, by string) {
	s.t.Helper()
	name := filepath.Join(s.dir, file)
	text, err := os.ReadFile(name)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(name, old.ReplaceAll(text, []byte(by)), 0o600); err != nil {
		s.t.Fatal(err)
	}
}
