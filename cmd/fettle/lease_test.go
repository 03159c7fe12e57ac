package main

import (
	"encoding/json"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/fettleops/fettle/executor"
)

// holding runs a command under a lease that lasts until something is written
// into the pipe that it is given. It returns once the lease is held.
func (h *house) holding(key string, flags ...string) (p *command, end func()) {
	h.Helper()
	pipe := h.path("hold")
	_ = os.Remove(pipe)
	h.must(syscall.Mkfifo(pipe, 0o600))
	p = h.start(append(append([]string{"lease", key}, flags...), "--", "sh", "-c", "echo held $FETTLE_FENCE; exec cat hold")...)
	p.prints("held ")
	return p, func() { h.must(os.WriteFile(pipe, nil, 0o600)) }
}

// prints reads stdout up to a line that begins so.
func (p *command) prints(beginning string) string {
	p.Helper()
	for p.events.Scan() {
		if rest, ok := strings.CutPrefix(p.events.Text(), beginning); ok {
			return rest
		}
	}
	p.says(beginning + " on stdout")
	return ""
}

func TestACommandUnderALeaseGetsSignalsAndGivesItsStatus(t *testing.T) {
	h := newHouse(t, "10s")
	self, err := os.Executable()
	h.must(err)
	h.must(os.Symlink(self, h.path("sigwait")))
	for _, s := range []syscall.Signal{
		syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2,
	} {
		p := h.start("lease", "keys", "--", "./sigwait")
		p.prints("ready")
		p.signal(s)
		p.exits(int(s))
	}
	h.fettle(7, "lease", "keys", "--", "sh", "-c", "exit 7")
	h.fettle(signalled+int(syscall.SIGKILL), "lease", "keys", "--", "sh", "-c", "kill -9 $$")
	h.fettle(notFound, "lease", "keys", "--", "./nothing")
	h.fettle(cannotStart, "lease", "keys", "--", "./doors.fettle.hcl")
	if out := h.fettle(exitDone, "leases"); !strings.Contains(out, "nothing is held") {
		t.Errorf("left: %s", out)
	}
}

func TestALeaseHeldByAScriptMakesARunWaitAndGoOn(t *testing.T) {
	h := newHouse(t, "10s")
	h.lift("back")
	h.lift("front")
	for _, key := range []string{"keys", "open(back)", "open"} {
		for _, d := range []string{"back", "front"} {
			_ = os.Remove(h.path("open-" + d))
		}
		script, end := h.holding(key, "--reason", "by hand")
		p := h.start("run", "--approve", "-o", "jsonl")
		w := p.await(executor.StepWaiting)
		if !strings.Contains(string(w.Data), "fettle lease") || !strings.Contains(string(w.Data), "unlock(back)") {
			t.Errorf("%s: waiting %s", key, w.Data)
		}
		var all []leaseJSON
		h.must(json.Unmarshal([]byte(h.fettle(exitDone, "leases", "-o", "json")), &all))
		waiting := 0
		for _, l := range all {
			switch {
			case l.State == "waiting" && l.Owner.Action == "unlock(back)":
				if want := map[string]string{"keys": "keys", "open": "open(back)"}[l.Resource]; len(l.Wants) != 1 || l.Wants[0] != want {
					t.Errorf("%s: %+v waits for something else than %s", key, l, want)
				}
				waiting++
			case l.State == "waiting" || l.Resource != key || l.Token == 0 || l.Owner.Reason != "by hand":
				t.Errorf("%s: %+v", key, l)
			}
		}
		if waiting == 0 || waiting == len(all) {
			t.Errorf("%s: %d of %+v wait", key, waiting, all)
		}
		end()
		script.exits(exitDone)
		p.exits(exitDone)
	}
}

func TestAKilledScriptsLeaseLastsForItsTTL(t *testing.T) {
	h := newHouse(t, "10s")
	script, _ := h.holding("keys", "--lease-ttl", "6s")
	script.signal(syscall.SIGKILL)
	_ = script.cmd.Wait()
	out := h.fettle(exitWaiting, "lease", "keys", "--wait", "0s", "--", "true")
	if !strings.Contains(out, "not started: keys is held exclusive") {
		t.Errorf("said %q", out)
	}
	h.fettle(exitDone, "lease", "keys", "--wait", "1m", "--", "true")
}

// Nobody renews the lease of a command whose fettle was killed: it ends as well,
// before others can have it. Of what it started the test has only what is over soon.
func TestACommandEndsWithTheFettleThatKeepsItsLease(t *testing.T) {
	h := newHouse(t, "10s")
	p := h.start("lease", "keys", "--", "sh", "-c", "echo held; sleep 3 >/dev/null 2>&1; echo alive > survived")
	p.prints("held")
	p.signal(syscall.SIGKILL)
	p.exits(-1) // Once nobody writes to its stdout any more.
	if _, err := os.Stat(h.path("survived")); err == nil {
		t.Error("the command went on without its lease")
	}
}

func TestACommandWhoseLeaseIsBrokenIsEnded(t *testing.T) {
	h := newHouse(t, "10s")
	p := h.start("lease", "keys", "--", "sh", "-c", "trap '' TERM; echo held $FETTLE_FENCE; while :; do cat gate-back; done")
	token := p.prints("held ")
	out := h.fettle(exitFailed, "leases", "break", "keys", "--token", "1", "--reason", "test")
	if !strings.Contains(out, "not held with token 1") || !strings.Contains(out, token) {
		t.Errorf("broken with another token: %s", out)
	}
	out = h.fettle(exitDone, "leases", "break", "keys", "--token", token, "--reason", "test")
	if !strings.Contains(out, "broken: ") {
		t.Errorf("said %q", out)
	}
	p.says("the lease of keys is lost: ending the command (SIGTERM, and SIGKILL in ")
	said := p.rest(signalled + int(syscall.SIGKILL)) // It takes no notice of SIGTERM.
	if want := "Error: the lease of keys was lost while the command ran: a lock is gone from etcd (expired, revoked, or broken by an operator)\n"; said != want {
		t.Errorf("said %q, want %q", said, want)
	}
	h.fettle(exitDone, "lease", "keys", "--wait", "0s", "--", "true")
}

func TestASignalEndsTheWaitForALease(t *testing.T) {
	h := newHouse(t, "10s")
	script, end := h.holding("keys")
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		p := h.start("lease", "keys", "--", "touch", "started")
		p.says("waiting for keys: keys is held exclusively by ")
		p.signal(s)
		said := p.rest(signalled + int(s))
		if want := "Error: ended by a signal while waiting for keys; the command was not started\n"; said != want {
			t.Errorf("%s: said %q", s, said)
		}
	}
	if _, err := os.Stat(h.path("started")); err == nil {
		t.Error("the command was started")
	}
	end()
	script.exits(exitDone)
}

// A terminal that gets another size, or a shell that goes on with a stopped job,
// does not end a wait.
func TestOtherSignalsLeaveTheWaitForALeaseAlone(t *testing.T) {
	h := newHouse(t, "10s")
	script, end := h.holding("keys")
	p := h.start("lease", "keys", "--", "touch", "started")
	p.says("waiting for keys: ")
	for _, s := range []syscall.Signal{syscall.SIGWINCH, syscall.SIGCONT, syscall.SIGUSR1, syscall.SIGUSR2} {
		p.signal(s)
	}
	if out := h.fettle(exitDone, "leases"); !strings.Contains(out, "keys  waiting ") {
		t.Errorf("nobody waits any more: %s", out)
	}
	end()
	script.exits(exitDone)
	p.exits(exitDone)
	if _, err := os.Stat(h.path("started")); err != nil {
		t.Error("the command was not started")
	}
}

func TestALeaseTTLIsHeldToItsBounds(t *testing.T) {
	const bounds = "use whole seconds from 4s to 1h"
	for text, want := range map[string]string{
		"4s": "", "1h": "", "1m30s": "",
		"-3s":     bounds + ": a shorter lease may not outlive an election of etcd and a slow renewal",
		"0s":      bounds + ": a shorter lease may not outlive an election of etcd and a slow renewal",
		"3s":      bounds + ": a shorter lease may not outlive an election of etcd and a slow renewal",
		"4500ms":  bounds + ", such as 15s",
		"15":      bounds + ", such as 15s",
		"1h0m1s":  bounds + ": for as long, what a dead process held is in everybody's way",
		"100000h": bounds + ": for as long, what a dead process held is in everybody's way",
	} {
		for _, name := range []string{"run", "resume", "lease"} {
			cmd, _, err := newRootCommand(&app{}).Find([]string{name})
			if err != nil {
				t.Fatal(err)
			}
			err = cmd.Flags().Set("lease-ttl", text)
			if want == "" && err != nil || want != "" && (err == nil || !strings.HasSuffix(err.Error(), `"--lease-ttl" flag: `+want)) {
				t.Errorf("%s --lease-ttl %s: %v, want %q", name, text, err, want)
			}
		}
	}
}
