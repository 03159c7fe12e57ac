package executor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shelf is a world of files and of programs, which keep no fence: what a
// script does is what it says, and a line in the log.
const shelf = `
type "service" { objects = ["api"] }

fluent "ok" {
  params = { s = service }
  observe "exec" {
    command = ["cat", "{{dir}}/${s}"]
    value   = "stdout == 'ok'"
  }
}
action "mend" {
  params  = { s = service }
  effect { add = ["ok(s)"] }
  timeout = "{{timeout}}"
  settle {
    timeout  = "5s"
    interval = "5ms"
  }
  run "exec" { command = ["/bin/sh", "{{dir}}/mend.sh", s] }
}
goal "healthy" { condition = ["all(service, ok(#))"] }
`

func newShelf(t *testing.T, script string, s setup) (*rig, string) {
	t.Helper()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "api"), []byte("bad"), 0o600))
	script = strings.ReplaceAll("echo \"$1 $FETTLE_ACTION_ID\" >> DIR/log\n"+script, "DIR", dir)
	must(t, os.WriteFile(filepath.Join(dir, "mend.sh"), []byte(script), 0o600))
	if s.timeout == "" {
		s.timeout = "10s"
	}
	s.model = strings.NewReplacer("{{dir}}", dir, "{{timeout}}", s.timeout).Replace(shelf)
	return newRig(t, s), dir
}

// ran counts how often the program was run.
func ran(t *testing.T, dir string) int {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "log"))
	if os.IsNotExist(err) {
		return 0
	}
	must(t, err)
	return strings.Count(string(raw), "\n")
}

func TestAProgramMendsTheWorld(t *testing.T) {
	r, dir := newShelf(t, `printf ok > "DIR/$1"`, setup{})
	r.ends(r.run(), Succeeded, "")
	if n := ran(t, dir); n != 1 {
		t.Errorf("ran %d times", n)
	}
	if p := one[Plan](r, PlanAccepted); !p.Steps[0].Unfenced || p.Steps[0].Unprotected {
		t.Errorf("step %+v", p.Steps[0])
	}
	r.clean()
}

func TestAProgramThatFailedButDidItsJobIsNotRunAgain(t *testing.T) {
	r, dir := newShelf(t, `printf ok > "DIR/$1"; exit 3`, setup{})
	end := r.run()
	r.ends(end, Succeeded, "")
	if n := ran(t, dir); n != 1 || end.Rounds != 1 {
		t.Errorf("ran %d times in %d rounds", n, end.Rounds)
	}
	f := one[Finished](r, StepFinished)
	if f.Outcome != diverged || !strings.Contains(f.Message, "exit status 3") {
		t.Errorf("finished %+v", f)
	}
	if want := "mend(api) failed (exit status 3), though its effects were seen"; one[RoundEnd](r, RoundEnded).Reason != want {
		t.Errorf("reason %q, want %q", one[RoundEnd](r, RoundEnded).Reason, want)
	}
	r.clean()
}

func TestAFailingProgramsLastLinesAreInTheEvent(t *testing.T) {
	r, _ := newShelf(t, "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo line $i; done; echo 'cannot mend' >&2; exit 3",
		setup{policy: []string{"max_rounds", "1"}})
	r.ends(r.run(), Escalated, "rounds")
	f := one[Finished](r, StepFinished)
	lines := strings.Split(f.Tail, "\n")
	if f.Outcome != notApplied || f.Status != "failed" || len(lines) != 10 || lines[0] != "line 4" || lines[9] != "cannot mend" {
		t.Errorf("finished %+v", f)
	}
	if reason := one[RoundEnd](r, RoundEnded).Reason; !strings.HasPrefix(reason, "mend(api) failed: exit status 3") {
		t.Errorf("reason %q", reason)
	}
	body, err := r.journal().Blob(testCtx(t), r.events[0].Run, f.Output.SHA256)
	must(t, err)
	if !strings.HasPrefix(string(body), "line 1\nline 2\n") || f.Cut {
		t.Errorf("output %q, cut %v", body, f.Cut)
	}
	r.clean()
}

func TestABigOutputIsCapped(t *testing.T) {
	r, _ := newShelf(t, `i=0; while [ $i -lt 4000 ]; do echo "a line that is repeated often, $i"; i=$((i+1)); done; printf ok > "DIR/$1"`, setup{})
	r.ends(r.run(), Succeeded, "")
	f := one[Finished](r, StepFinished)
	if f.Outcome != applied || !f.Cut || f.Tail != "" {
		t.Errorf("finished %+v", f)
	}
	body, err := r.journal().Blob(testCtx(t), r.events[0].Run, f.Output.SHA256)
	must(t, err)
	if len(body) > 64<<10 || !strings.HasSuffix(string(body), "often, 3999\n") {
		t.Errorf("%d bytes are kept, ending %q", len(body), body[max(0, len(body)-30):])
	}
}

func TestAProgramThatHangsIsKilledAndWhatIsSeenCounts(t *testing.T) {
	r, dir := newShelf(t, `printf ok > "DIR/$1"; exec sleep 600`, setup{timeout: "300ms"})
	r.ends(r.run(), Succeeded, "")
	f := one[Finished](r, StepFinished)
	if f.Outcome != diverged || f.Status != "unknown" || !strings.Contains(f.Message, "timed out after 300ms") || ran(t, dir) != 1 {
		t.Errorf("finished %+v", f)
	}
	r.clean()
}
