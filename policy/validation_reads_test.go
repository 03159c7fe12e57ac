package policy

import (
	"fmt"
	"testing"
)

// TestWhatDenialsDependOn: only what a rule that denies reads counts, and a rule
// that cannot be evaluated denies the same everywhere.
func TestWhatDenialsDependOn(t *testing.T) {
	for _, tt := range []struct {
		when, effect string
		step, state  bool
	}{
		{"action == 'restart' && args.s == 'db'", "deny", false, false},
		{"risk == 'high' && labels.tier == 'gold' || irreversible", "deny", false, false},
		{"!during('mon-fri', '08:00-18:00', 'UTC') && times('restart', '1h') > 2", "deny", false, false},
		{"goal == 'healthy' && trigger.kind == 'alertmanager'", "deny", false, false},
		{"step > 3", "deny", true, false},
		{"cost > 3", "deny", false, true},
		{"any(deletes, # startsWith 'in_lb(')", "deny", false, true},
		{"len(adds) > 2 && step == 1", "deny", true, true},
		{"'replicas(api)' in sets", "deny", false, true},
		{"step > 3 && cost > 3", "approve", false, false},
		{"step > 3 && cost > 3", "allow", false, false},
	} {
		src := fmt.Sprintf("rule \"r\" {\n  when   = %q\n  effect = %q\n}\n", tt.when, tt.effect)
		p := rulesOf(t, src)
		step, state := p.Validation(nil).Reads()
		if step != tt.step || state != tt.state {
			t.Errorf("%s, which is to %s: step %v, state %v", tt.when, tt.effect, step, state)
		}
	}
}

// TestEveryWordIsKnownToDependOnSomething: a word that is new to rules is taken
// for one that depends on the state, until somebody says otherwise.
func TestEveryWordIsKnownToDependOnSomething(t *testing.T) {
	open := map[string]bool{"step": true, "cost": true, "adds": true, "deletes": true, "sets": true}
	for name := range words {
		if settled[name] == open[name] {
			t.Errorf("%s is settled: %v, and open: %v", name, settled[name], open[name])
		}
	}
	for name := range functions {
		if !settled[name] {
			t.Errorf("%s is not settled", name)
		}
	}
}
