package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettleops/fettle/planner/llm/llmtest"
)

// TestRecordingPlaysBack promises that what --record wrote is played back by a
// planner "replay" to the same attempts, without anybody being called, and that
// no secret is in it.
func TestRecordingPlaysBack(t *testing.T) {
	t.Parallel()
	const secret = "sk-very-secret"
	for _, kind := range []string{"openai", "anthropic"} {
		server := llmtest.Start(t, llmtest.Text(badReply), llmtest.Text(goodReply))
		dir := t.TempDir()
		tape := filepath.Join(dir, "tape")
		attributes := `notes = "The word is ` + secret + `."`
		text := strings.Replace(fmt.Sprintf(asked, kind, server.URL, attributes, 20), `"key"`, `"`+secret+`"`, 1)
		model := filepath.Join(dir, "door.fettle.hcl")
		must(t, os.WriteFile(model, []byte(text+"\nstate \"shut\" {}\n"), 0o600))

		live := planned(t, exitDone, "--record", tape, dir)
		if n := len(server.Seen()); n != 2 {
			t.Fatalf("%s: %d calls\n%s", kind, n, live)
		}
		files, err := filepath.Glob(filepath.Join(tape, "*.json"))
		must(t, err)
		if len(files) != 2 {
			t.Fatalf("%s: recorded %v", kind, files)
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			must(t, err)
			if s := string(raw); strings.Contains(s, secret) || !strings.Contains(s, "The word is (sensitive).") || !strings.Contains(s, `"model": "m"`) {
				t.Errorf("%s: %s", kind, s)
			}
		}
		if out := planned(t, exitFailed, "--record", tape, dir); !strings.Contains(out, "tape is not empty; name a new folder") {
			t.Errorf("%s: a second recording in the same folder: %s", kind, out)
		}

		before, _, _ := strings.Cut(text, "planner ")
		_, after, _ := strings.Cut(text, "policy {")
		text = before + "planner \"replay\" \"main\" { file = \"tape\" }\npolicy {" + after + "\nstate \"shut\" {}\n"
		must(t, os.WriteFile(model, []byte(text), 0o600))
		if played := planned(t, exitDone, dir); timeless(played) != timeless(live) {
			t.Errorf("%s: played\n%s\nlive\n%s", kind, played, live)
		}
		if n := len(server.Seen()); n != 2 {
			t.Errorf("%s: %d calls", kind, n)
		}
	}
}

// planned is what fettle plan says, on both its outputs.
func planned(t *testing.T, want int, args ...string) string {
	t.Helper()
	cmd := fettle(t, append([]string{"plan"}, args...)...)
	out, _ := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != want {
		t.Fatalf("exit status %d, want %d\n%s", got, want, out)
	}
	return string(out)
}

var models = strings.NewReplacer("(m)", "", "(replay)", "")

// timeless leaves out times, models, and money, of which a recording knows nothing.
func timeless(s string) string {
	var out []string
	for line := range strings.Lines(s) {
		line, _, _ = strings.Cut(strings.Join(strings.Fields(models.Replace(line)), " "), " (")
		line, _, _ = strings.Cut(line, ", $")
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// TestKeysAreNotRepeated: a server that repeats the key in its error does not
// get it onto a screen or into a journal.
func TestKeysAreNotRepeated(t *testing.T) {
	t.Parallel()
	server := llmtest.Start(t, llmtest.Page(401), llmtest.Page(401))
	dir := t.TempDir()
	// The page of the server stands for the key, so that it is what would be repeated.
	page := strings.TrimSpace(planned(t, exitFailed, modelAt(t, dir, server.URL, "other-key")))
	if !strings.Contains(page, "(HTTP 401): <html>") {
		t.Fatal(page)
	}
	if out := planned(t, exitFailed, modelAt(t, dir, server.URL, "<html>")); !strings.Contains(out, "(HTTP 401): (sensitive)") || strings.Contains(out, "<html>") {
		t.Error(out)
	}
}

func modelAt(t *testing.T, dir, url, key string) string {
	t.Helper()
	text := strings.Replace(fmt.Sprintf(asked, "openai", url, "", 20), `"key"`, `"`+key+`"`, 1)
	must(t, os.WriteFile(filepath.Join(dir, "door.fettle.hcl"), []byte(text+"\nstate \"shut\" {}\n"), 0o600))
	return dir
}
