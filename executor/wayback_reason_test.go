package executor

import (
	"strings"
	"testing"
)

// TestWhatDeniesTheWayBackIsSaidOnce, though the undo and the search both meet it.
func TestWhatDeniesTheWayBackIsSaidOnce(t *testing.T) {
	w := newWard(t, setup{}, "{{goal}}", "ok(#)")
	w.config.Policy.Rules = rulesOf(t, rule("never", "deny", "action == 'readd'"))
	w.run()
	said := all[Attempt](w.rig, AttemptMade)[0].Critique
	if n := strings.Count(said, "denied by rule never"); n != 1 {
		t.Errorf("it is said %d times: %s", n, said)
	}
}
