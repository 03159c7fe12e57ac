package policy

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fettleops/fettle/docs"
	"github.com/fettleops/fettle/model"
)

func withRestore(lines ...string) []byte {
	return []byte(strings.Replace(Example(), "\n}", "\n"+strings.Join(lines, "\n")+"\n}", 1))
}

// TestRestoreLimitsAreThoseOfTheRunOnceMoreUnlessTheySayOtherwise.
func TestRestoreLimitsAreThoseOfTheRunOnceMoreUnlessTheySayOtherwise(t *testing.T) {
	tests := []struct {
		block   string
		actions int
		within  time.Duration
	}{
		{"", 30, 10 * time.Minute},
		{"restore {}", 30, 10 * time.Minute},
		{"restore {\n max_actions = 3\n}", 3, 10 * time.Minute},
		{"restore {\n max_actions = 0\n deadline = \"90s\"\n}", 0, 90 * time.Second},
	}
	for _, tt := range tests {
		p, diags := decode(t, "restore", withRestore(tt.block))
		if len(diags) > 0 {
			t.Fatal(lines(diags))
		}
		if actions, within := p.GoingBack(); actions != tt.actions || within != tt.within {
			t.Errorf("%q: %d actions within %s", tt.block, actions, within)
		}
	}
}

func TestMistakesInTheLimitsOfGoingBack(t *testing.T) {
	p, diags := decode(t, "restore", withRestore(`on_stop = "restore"`, "restore {", "  max_actions = -1", `  deadline    = "0s"`, "  tries = 2", "}"))
	m := model.New()
	m.Goals = []*model.Goal{{Name: "healthy"}, {Name: "scaled", Severity: &model.Expr{}}, {Name: "patched"}}
	got := lines(append(diags, p.checkRestore(m)...))
	const want = `error at 13:17-19: Invalid max_actions
  max_actions must be a whole number of at least 0, got -1.
error at 14:17-21: Invalid deadline
  deadline must be more than no time, got "0s".
error at 15:3-8: Unsupported argument
  An argument named "tries" is not expected here.
warning at 11:1-20: Nothing to go back to
  A run goes back to the severity that it found, but the goals healthy, patched give none: say in the goal how bad a state is, as in severity = "count(service, !in_lb(#))".
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	p, _ = decode(t, "restore", withRestore("restore {}"))
	if got, want := lines(p.checkRestore(model.New())), "warning at 11:1-8: Limits of what is not done\n"+
		"  A run goes back only where on_stop = \"restore\"; say so, or remove the block.\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestDecisionsAboutGoingBack holds each limit just below, at and beyond where it says no.
func TestDecisionsAboutGoingBack(t *testing.T) {
	own := func(p *Policy) { p.RestoreLimits = RestoreLimits{AtMost(2), AtMost(30 * time.Second)} }
	tests := []struct {
		name   string
		policy func(*Policy)
		change func(*RestoreProgress)
		want   string
	}{
		{"the first action", nil, nil, "continue: 0 of 7 actions used; 10s of 10m used"},
		{"the last action", nil, func(g *RestoreProgress) { g.Actions = 6 }, "continue: 6 of 7 actions used; 10s of 10m used"},
		{"after the last", nil, func(g *RestoreProgress) { g.Actions = 7 }, "stop budget: max_actions = 7 reached: 7 executed"},
		{"after its own last", own, func(g *RestoreProgress) { g.Actions = 2 }, "stop budget: restore.max_actions = 2 reached: 2 executed"},
		{"none at all", func(p *Policy) { p.RestoreLimits.MaxActions = AtMost(0) }, nil, "stop budget: restore.max_actions = 0 reached: 0 executed"},
		{"at the deadline", nil, func(g *RestoreProgress) { g.Now = g.Started.Add(10 * time.Minute) }, "stop deadline: deadline = 10m is over: going back began 10m ago"},
		{"at its own deadline", own, func(g *RestoreProgress) { g.Now = g.Started.Add(30 * time.Second) }, "stop deadline: restore.deadline = 30s is over: going back began 30s ago"},
		{"before it", own, func(g *RestoreProgress) { g.Now = g.Started.Add(29 * time.Second) }, "continue: 0 of 2 actions used; 29s of 30s used"},
		{"a clock that was set back", nil, func(g *RestoreProgress) { g.Now = g.Started.Add(-time.Hour) }, "continue: 0 of 7 actions used; 0s of 10m used"},
		{"the last way", nil, func(g *RestoreProgress) { g.Ways = 3 }, "continue: 0 of 7 actions used; 10s of 10m used"},
		{"too many ways", nil, func(g *RestoreProgress) { g.Ways = 4 }, "stop rounds: max_rounds = 3 reached: so many ways back were begun"},
		{
			"the same failure", nil, func(g *RestoreProgress) { g.Failure, g.SameFailure = restart, 2 },
			"stop no_progress: same_failure_retries = 2 reached by not_applied of restart(api)",
		},
		{"paused", nil, func(g *RestoreProgress) { g.Paused = true }, "checkpoint paused: actions are paused everywhere"},
		{"suggest never acts", func(p *Policy) { p.Mode = Suggest }, nil, `stop denied: mode = "suggest": nothing is carried out`},
	}
	for _, tt := range tests {
		p := strict()
		if tt.policy != nil {
			tt.policy(p)
		}
		g := RestoreProgress{Ways: 1, Started: start, Now: start.Add(10 * time.Second)}
		if tt.change != nil {
			tt.change(&g)
		}
		d := p.DecideRestore(g)
		got := string(d.Answer)
		if d.Reason != "" {
			got += " " + d.Reason
		}
		if got += ": " + strings.Join(d.Reasons, "; "); got != tt.want || d.Point != PointRestore {
			t.Errorf("%s: got  %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

// TestReferenceNamesEveryRestoreLimit promises that the language reference names
// what a restore block may say, and no other.
func TestReferenceNamesEveryRestoreLimit(t *testing.T) {
	same(t, "restore", docs.Tables()["restore"], restoreSchema)
	if got, want := len(restoreSchema.Attributes), reflect.TypeFor[RestoreLimits]().NumField(); got != want {
		t.Errorf("%d attributes are read into %d fields", got, want)
	}
}
