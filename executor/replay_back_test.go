package executor

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/fettleops/fettle/journal"
)

// tampered replays the rig's last run with one value of the first event of a kind changed.
func (r *rig) tampered(t *testing.T, kind, path string, to any) Replayed {
	t.Helper()
	events := slices.Clone(r.events)
	i := slices.IndexFunc(events, func(e journal.Event) bool { return e.Kind == kind })
	if i < 0 {
		t.Fatalf("there is no %s in %v", kind, r.kinds())
	}
	var data any
	must(t, json.Unmarshal(events[i].Data, &data))
	put(t, data, path, to)
	events[i].Data = encoded(t, data)
	src := r.source()
	src.Events = eachOf(events)
	return r.replayed(src)
}

// names holds a replay to the decision that it names first.
func names(t *testing.T, out Replayed, kind, part string) {
	t.Helper()
	if len(out.Differs) != 1 || out.Differs[0].Kind != kind || !strings.HasPrefix(out.Differs[0].Part, part) {
		t.Errorf("want %s of %s, got %+v", part, kind, out.Differs)
	}
}

// TestGoingBackIsReplayed promises that the severity of the start, the ways back
// that were known and the ones that were gone are derived again.
func TestGoingBackIsReplayed(t *testing.T) {
	w := newWard(t, setup{policy: []string{"on_stop", `"restore"`}})
	w.write(t, "fail-mend-api", "")
	w.ends(w.run(), Escalated, "no_progress")
	out := w.replayed(w.source())
	if out.By["way back"] != 1 || out.By["severity"] != 1 || len(out.Differs) > 0 {
		t.Errorf("%+v", out)
	}
	for _, tt := range []struct {
		kind, path string
		to         any
		part       string
	}{
		{SeverityTaken, "least", 1, "severity"},
		{SeverityTaken, "facts.in_lb(api)", false, "value of in_lb(api)"},
		{StepArmed, "way_back.severity_after", 0, "severity_after"},
		{StepArmed, "way_back.steps.0", "readd(db)", "the way back"},
		{StepArmed, "way_back.how", NoneAtAll, "order"},
		{RestorePlanned, "steps.0.action", "readd(db)", "the way back"},
		{RestorePlanned, "severity_now", 0, "severity_now"},
		{RestorePlanned, "plan_hash", "00", "plan_hash"},
		{RestoreDecided, "answer", "stop", "answer"},
		{RestoreDecided, "progress.actions", 1, "progress.actions"},
		{RestoreDecided, "progress.ways", 2, "progress.ways"},
	} {
		names(t, w.tampered(t, tt.kind, tt.path, tt.to), tt.kind, tt.part)
	}
}

// TestRulingsAreReplayed promises that what rules say is derived again from the
// facts that they looked at, and those from the plan.
func TestRulingsAreReplayed(t *testing.T) {
	r := newRig(t, setup{})
	r.yard.ok["api"] = false
	r.config.Policy.Rules = rulesOf(t, "rule \"mends\" {\n when = \"action == 'mend' && 'ok(api)' in adds\"\n effect = \"allow\"\n}")
	r.ends(r.run(), Succeeded, "")
	out := r.replayed(r.source())
	if out.By["ruling"] != 2 || len(out.Differs) > 0 { // Of the plan, and of the step before it is armed.
		t.Fatalf("%+v", out)
	}
	for path, tt := range map[string]struct {
		to   any
		part string
	}{
		"steps.0.ruling.effect":     {"deny", "ruling on mend(api)"},
		"steps.0.ruling.rule":       {"another", "ruling on mend(api)"},
		"steps.0.facts.adds":        {[]any{"ok(db)"}, "ruling on mend(api)"},
		"steps.0.facts.step":        {3, "facts of mend(api)"},
		"steps":                     {[]any{}, "steps that rules apply to"},
		"facts.plan.length":         {4, "facts of the plan"},
		"facts.plan.objects":        {[]any{"db"}, "facts of the plan"},
		"ruling":                    {map[string]any{"effect": "deny", "rule": "mends"}, "ruling"},
		"steps.0.ruling.applied.0":  {map[string]any{"rule": "mends", "effect": "deny"}, "ruling on mend(api)"},
		"steps.0.facts.args":        {map[string]any{"s": "db"}, "facts of mend(api)"},
		"steps.0.facts.cost":        {2, "facts of mend(api)"},
		"facts.plan.cost":           {9, "facts of the plan"},
		"steps.0.facts.unprotected": {true, "facts of mend(api)"},
	} {
		names(t, r.tampered(t, RulesAsked, path, tt.to), RulesAsked, tt.part)
	}
}
