package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// desk is a model of which a person says much: its action ends in doubt, for it
// takes away what would tell of it.
const desk = `
model { redact = ["corp-[A-Za-z0-9]+"] }
variable "given" { sensitive = true }
fluent "done" {
  observe "exec" {
    command = ["./look"]
    value   = "exit_code == 0"
  }
}
action "work" {
  effect { add = ["done"] }
  timeout = "300ms"
  settle { timeout = "100ms" }
  run "exec" { command = ["sh", "-c", "rm look; exec sleep 30"] }
}
goal "worked" { condition = ["done"] }
policy {
  mode                 = "approve"
  max_rounds           = 1
  max_attempts         = 1
  max_actions          = 1
  deadline             = "5m"
  max_repeats          = 1
  same_failure_retries = 1
  no_evidence_rounds   = 1
  max_errors           = 1
}
`

// only returns the one thing that a command lists as JSON.
func only[T any](v *vaulted, args ...string) T {
	v.Helper()
	var all []T
	out, err := v.command(append(args, "-o", "json")...).Output()
	must(v.T, err)
	must(v.T, json.Unmarshal(out, &all))
	if len(all) != 1 {
		v.Fatalf("fettle %v: %s", args, out)
	}
	return all[0]
}

// look makes the program that observes.
func (v *vaulted) look() {
	v.Helper()
	must(v.T, os.WriteFile(filepath.Join(v.folder, "look"), []byte("#!/bin/sh\ntest -e done\n"), 0o700)) //nolint:gosec // It is run.
}

// held runs a command under a lease until the lease is broken, with secrets as its arguments.
func (v *vaulted) held(said string) {
	v.Helper()
	holder := v.command("lease", "done", "--reason", said)
	holder.Args = append(holder.Args, "--", "sh", "-c", "echo held; exec sleep 300", "x", said, "--password", cores["what looks like a key"])
	out, err := holder.StdoutPipe()
	must(v.T, err)
	must(v.T, holder.Start())
	v.Cleanup(func() { _ = holder.Process.Kill() }) // It is gone, if all went well.
	v.ran[holder.Process.Pid] = true
	_, err = bufio.NewReader(out).ReadString('\n')
	must(v.T, err) // The command runs, so the lease is held.
	token := only[leaseJSON](v, "leases").Token
	v.run("(sensitive)", "leases")
	v.run("(redacted)", "leases", "-o", "json")
	v.run("broken", "leases", "break", "done", "--token", fmt.Sprint(token), "--reason", said)
	_ = holder.Wait() // Its lease is lost.
}

// TestWhatPeopleSayIsKeptWithoutSecrets promises that whatever text a person
// gives is stored and shown without the values of sensitive variables, and
// without what looks like a secret. It is not parallel, for what it has on its
// command lines is what another test looks for in those of all processes.
func TestWhatPeopleSayIsKeptWithoutSecrets(t *testing.T) {
	v := newVault(t)
	must(t, os.WriteFile(filepath.Join(v.folder, "vault.fettle.hcl"), []byte(desk), 0o600))
	said := fmt.Sprintf("it is %s, password: %s, corp-%s", planted(cores["--var"]), cores["what looks like a key"], cores["a pattern of the model"])
	v.held(said)
	v.run("paused", "pause", "--reason", said)
	v.run("already paused", "pause", "--reason", said)
	v.run("it is (sensitive), password: (redacted), (redacted)", "unpause", "--reason", said)
	v.look()
	v.run("in doubt", "run", "--approve") // It put out the eye of whoever looks.
	v.look()
	v.run("resolved", "intents", "resolve", only[intentJSON](v, "intents").ID, "--as", "not-applied", "--reason", said)
	v.run("reset", "breaker", "reset", "worked", "--reason", said)
	v.run("Waiting", "run")
	v.run("approved", "approve", "last", "--reason", said)
	v.run("cancelled", "cancel", "last", "--reason", said)
	v.run("Waiting", "run")
	v.run("reject", "reject", "last", "--feedback", said)
	v.run("(redacted)", "leases", "--audit")
	v.run("(sensitive)", "leases", "--audit", "-o", "json")
	v.run("", "intents", "-o", "json")
	v.run("", "breaker")
	v.run("", "breaker", "-o", "json")
	v.run("", "runs", "-o", "json")
	v.run("", "audit")
	for _, format := range []string{"text", "json", "jsonl", "markdown"} {
		v.run("work", "show", "last", "-o", format)
	}
	v.files()
	v.leaks()
}
