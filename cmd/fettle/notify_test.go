package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/server/notify"
)

// rebuild replaces texts of the house's model, in pairs, and adds one.
func (h *house) rebuild(add string, oldnew ...string) {
	h.Helper()
	name := filepath.Join(h.dir, "doors.fettle.hcl")
	raw, err := os.ReadFile(name)
	h.must(err)
	text := strings.NewReplacer(oldnew...).Replace(string(raw)) + add
	h.must(os.WriteFile(name, []byte(text), 0o600))
}

// What a run is told of goes over HTTP, without what is sensitive.
func TestAnEscalationIsPostedWithoutSecrets(t *testing.T) {
	posted := make(chan string, 10)
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Header.Get("Authorization") != "Bearer s3cret-key" {
			t.Errorf("%v, authorization %q", err, r.Header.Get("Authorization"))
		}
		posted <- string(body)
	}))
	defer hook.Close()
	h := newHouse(t, "10s")
	h.rebuild(`
variable "key" { sensitive = true }
notify "http" "hook" {
  url     = "`+hook.URL+`"
  headers = { Authorization = "Bearer ${var.key}" }
}
`, "cat gate-$1 &&", "echo ${var.key} >&2; exit 1;") // So that unlocking fails, and says why.
	cmd := fettle(t, "run", "--approve", "--var", "key=s3cret-key", "-o", "json")
	cmd.Dir = h.dir
	out, _ := cmd.Output()
	if code := cmd.ProcessState.ExitCode(); code != exitEscalated {
		t.Fatalf("exit code %d: %s", code, out)
	}
	var end runEnd
	h.must(json.Unmarshal(out, &end))
	body := <-posted
	var m notify.Message
	h.must(json.Unmarshal([]byte(body), &m))
	if m.Run != end.Run || m.Status != executor.Escalated || m.Reason != end.Reason || m.Goal != "entry" || m.Actions != end.Actions || m.PID != cmd.Process.Pid {
		t.Errorf("posted %s of %+v", body, end)
	}
	if strings.Contains(body, "s3cret") {
		t.Errorf("a secret was posted: %s", body)
	}
	if len(posted) > 0 {
		t.Errorf("posted again: %s", <-posted)
	}
}

// A notifier that hangs changes neither how a run ends nor its journal, and a
// person need not wait for it.
func TestANotifierThatHangsChangesNoRun(t *testing.T) {
	h := newHouse(t, "10s")
	h.must(syscall.Mkfifo(h.path("stuck"), 0o600))
	h.rebuild(`
notify "exec" "stuck" {
  command = ["cat", "stuck"]
  on      = ["succeeded"]
  timeout = "1h"
}
`)
	h.lift("back")
	h.lift("front")
	p := h.start("run", "--approve", "-o", "jsonl")
	p.await(executor.RunEnded)
	p.says("the run is over; whoever is to be told of it is waited for, for at most 10s; a signal ends that")
	p.signal(syscall.SIGTERM)
	if said := p.rest(exitDone); !strings.Contains(said, `Warning: notify "stuck" was not told of succeeded: interrupted`) {
		t.Errorf("said %q", said)
	}
	if e := h.ended(); e.Status != executor.Succeeded {
		t.Errorf("ended %+v", e)
	}
}
