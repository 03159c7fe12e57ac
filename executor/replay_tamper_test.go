package executor

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fettleops/fettle/journal"
)

// edit changes one event of a former run, or drops it.
type edit struct {
	name  string
	of    string // the run
	seq   int64
	path  string // of what is changed, with dots; "": the event is dropped
	to    any
	found int64 // the event at which the first difference is named
	part  string
}

// TestTheFirstDecisionThatWasTamperedWithIsNamed promises that a decision which
// does not follow from what came before is found, and the first such named.
func TestTheFirstDecisionThatWasTamperedWithIsNamed(t *testing.T) {
	for _, tt := range []edit{
		{"a no for a yes of the policy", "coordinated", 3, "answer", "stop", 3, "answer"},
		{"another reason", "coordinated", 3, "reason", "budget", 3, "reason"},
		{"another sentence", "coordinated", 13, "reasons.0", "0 of 200 actions used", 13, "reasons"},
		{"more rounds than there were", "reboot-again", 53, "progress.round", 2, 53, "progress.round"},
		{"fewer actions than there were", "coordinated", 29, "progress.actions", 3, 29, "progress.actions"},
		{"a forgotten error", "failover-in-doubt", 19, "progress.errors", 0, 19, "progress.errors"},
		{"a forgotten failure", "reboot-again", 53, "progress.same_failure", 0, 53, "progress.same_failure"},
		{"evidence denied", "reboot-again", 53, "progress.rounds_no_evidence", 1, 53, "progress.rounds_no_evidence"},
		{"calls hidden", "coordinated", 13, "progress.calls", 1, 13, "progress.calls"},
		{"a later start", "coordinated", 13, "progress.started", "2026-11-30T18:13:57Z", 13, "progress.started"},
		{"a bad plan passed", "coordinated", 7, "verdict", "pass", 7, "next"},
		{"another kind", "coordinated", 7, "kind", "goal", 7, "kind"},
		{"another critique", "coordinated", 7, "critique", "step 4: drain(db) not applicable; missing lock_free", 7, "critique"},
		{"another failure", "coordinated", 7, "violation.failure_key", "goal", 7, "violation"},
		{"a step of a proposal", "coordinated", 10, "steps.0", "drain(db)", 10, "verdict"},
		{"a step of the plan", "coordinated", 11, "steps.2.action", "take_lock(api)", 11, "order"},
		{"an effect", "coordinated", 11, "steps.0.effects.0.to", false, 11, "effects of drain(api)"},
		{"a risk", "reboot-again", 10, "steps.2.risk", "low", 10, "risk of reboot(w1)"},
		{"a cheaper plan", "coordinated", 11, "cost", 7, 11, "cost"},
		{"the plan's hash", "coordinated", 11, "plan_hash", "00", 11, "plan_hash"},
		{"the key of what was tried", "coordinated", 11, "tried_key", "00", 11, "tried_key"},
		{"another plan approved", "coordinated", 12, "plan_hash", "00", 12, "order"},
		{"no for an answer", "coordinated", 12, "answer", "no", 13, "order"},
		{"a lease less", "coordinated", 14, "resources.0", "lock", 14, "resources"},
		{"a step before its turn", "coordinated", 18, "step", 3, 18, "step"},
		{"an observed value before an action", "coordinated", 2, "changed.in_lb(api)", false, 2, "missing"},
		{"an outcome", "failover-in-doubt", 16, "outcome", "not_applied", 16, "outcome"},
		{"an effect that was not seen", "coordinated", 16, "seen.0.value", false, 16, "verified of drained(api)"},
		{"the kind of a refusal", "reboot-again", 50, "kind", "invariant", 50, "kind"},
		{"the place of a refusal", "reboot-again", 50, "at_step", 11, 50, "at_step"},
		{"what was seen before a refusal", "reboot-again", 50, "changed.member(cp2)", true, 50, "kind"},
		{"the key of a failure", "reboot-again", 51, "failure_key", "goal", 51, "failure_key"},
		{"the steps of a round", "reboot-again", 51, "steps", 8, 51, "steps"},
		{"what is missing", "coordinated", 2, "missing.0.condition", "lock_free", 2, "missing"},
		{"a success that is none", "failover-in-doubt", 29, "status", "succeeded", 29, "order"},
		{"an escalation that is none", "coordinated", 47, "status", "escalated", 47, "status"},
		{"evidence of something else", "coordinated", 47, "evidence.1.condition", "lock_free", 47, "evidence"},
		{"evidence of another value", "coordinated", 47, "evidence.1.facts.0.value", false, 47, "facts of mem_ok(api)"},
		{"a model that changed unnoticed", "failover-resumed", 10, "model_hash", "00", 10, "changed"},
		{"an observation is dropped", "coordinated", 2, "", nil, 3, "order"},
		{"the policy was not asked about the round", "coordinated", 3, "", nil, 4, "order"},
		{"nor about the proposal", "coordinated", 5, "", nil, 7, "order"},
		{"nor about the call", "coordinated", 6, "", nil, 7, "order"},
		{"nor about the action", "coordinated", 13, "", nil, 14, "order"},
		{"a proposal is dropped", "coordinated", 10, "", nil, 11, "order"},
		{"a plan is dropped", "coordinated", 11, "", nil, 12, "order"},
		{"an approval is dropped", "coordinated", 12, "", nil, 13, "order"},
		{"leases are dropped", "coordinated", 18, "", nil, 19, "order"},
		{"an armed action is dropped", "coordinated", 15, "", nil, 16, "order"},
		{"an outcome is dropped", "coordinated", 16, "", nil, 17, "order"},
		{"a refusal is dropped", "reboot-again", 50, "", nil, 51, "order"},
		{"the end of a round is dropped", "reboot-again", 51, "", nil, 53, "order"},
		{"the beginning of a round is dropped", "coordinated", 4, "", nil, 5, "order"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := replayGolden(t, tt.of, func(e []journal.Event) []journal.Event { return tt.apply(t, e) })
			if len(out.Differs) != 1 {
				t.Fatalf("%d differences: %+v", len(out.Differs), out)
			}
			if d := out.Differs[0]; d.Seq != tt.found || !strings.HasPrefix(d.Part, tt.part) || d.Recorded == d.Derived {
				t.Errorf("%+v", d)
			}
		})
	}
}

// apply returns the events of a run with the change.
func (d edit) apply(t *testing.T, events []journal.Event) []journal.Event {
	i := slices.IndexFunc(events, func(e journal.Event) bool { return e.Seq == d.seq })
	if i < 0 {
		t.Fatalf("there is no event %d", d.seq)
	}
	if d.path == "" {
		return slices.Delete(events, i, i+1)
	}
	var data any
	must(t, json.Unmarshal(events[i].Data, &data))
	put(t, data, d.path, d.to)
	events[i].Data = encoded(t, data)
	return events
}

// put sets what a path with dots leads to.
func put(t *testing.T, v any, path string, to any) {
	t.Helper()
	name, rest, more := strings.Cut(path, ".")
	switch v := v.(type) {
	case map[string]any:
		if !more {
			v[name] = to
			return
		}
		put(t, v[name], rest, to)
	case []any:
		i := int(name[0] - '0')
		if !more {
			v[i] = to
			return
		}
		put(t, v[i], rest, to)
	default:
		t.Fatalf("nothing is at %s", path)
	}
}

// replayGolden replays a former run with a change.
func replayGolden(t *testing.T, name string, change func([]journal.Event) []journal.Event) Replayed {
	t.Helper()
	i := slices.IndexFunc(goldens, func(g golden) bool { return g.name == name })
	out, err := Replay(t.Context(), goldenSource(t, goldens[i].model, change(goldenEvents(t, name))))
	must(t, err)
	return out
}

// inputs are what a journal tells of the world, of people and of clocks, from
// which decisions follow and which follow from nothing.
var inputs = regexp.MustCompile(`` +
	`\.(ms|age_s|after_s|act_ms|held_ms|wait_ms|seconds|used_s|sampled|now|next_calls|next_cost|source|note|error|message|tail|fence|sha256|size|pid|host|version|by|scope|was)$` +
	`|^[a-z_]+\.changed\.|^discovered\.|^lessons_proposed\.|\.(notes|in_doubt|owed)\[|\.(model|unfenced|undo)$` +
	`|^observed\.errors\[-1\]|^observed\.errors\[\]\.value|\.errors\[\]\.error|^step_refused\.(facts\[-1\]|action_id)|^attempt\.(next|cost)$|\.undone\[-1\]|^run_ended\.message` +
	`|^step_finished\.status|^decision\.progress\.tokens|^attempt\.planner|^attempt\.steps\[|^step_refused\.facts\[\]\.fluent|^step_finished\.seen\[\]\.error`)

// TestNothingThatFollowsCanBeChangedUnnoticed changes every single value of
// former runs in turn, and promises that each one that follows from others is found out.
func TestNothingThatFollowsCanBeChangedUnnoticed(t *testing.T) {
	for _, g := range goldens[2:] {
		events := goldenEvents(t, g.name)
		src := goldenSource(t, g.model, events)
		m, _ := goldenModel(t, g.model, decoded[Started](t, events[0]).Goal)
		src.Model = func(string, string, *RecordedModel) (ReplayModel, error) { return m, nil }
		changed := 0
		for i, e := range events {
			var data any
			must(t, json.Unmarshal(e.Data, &data))
			leaves(data, e.Kind, func(path string) {
				if inputs.MatchString(path) {
					return
				}
				changed++
				tampered := slices.Clone(events)
				tampered[i].Data = encoded(t, data)
				src.Events = eachOf(tampered)
				if out, err := Replay(t.Context(), src); err == nil && len(out.Differs) == 0 {
					t.Errorf("%s: %s of event %d can be changed", g.name, path, e.Seq)
				}
			})
		}
		if changed < 300 {
			t.Errorf("%s: only %d values were changed", g.name, changed)
		}
	}
}

// leaves changes each value in turn, shortens each list, and calls do meanwhile.
func leaves(v any, path string, do func(path string)) {
	switch v := v.(type) {
	case map[string]any:
		for k, c := range v {
			if list, ok := c.([]any); ok && len(list) > 0 {
				v[k] = list[:len(list)-1]
				do(path + "." + k + "[-1]")
				v[k] = c
			}
			if changed, ok := otherwise(c); ok {
				v[k] = changed
				do(path + "." + k)
				v[k] = c
			} else {
				leaves(c, path+"."+k, do)
			}
		}
	case []any:
		for i, c := range v {
			if changed, ok := otherwise(c); ok {
				v[i] = changed
				do(path + "[]")
				v[i] = c
			} else {
				leaves(c, path+"[]", do)
			}
		}
	}
}

func otherwise(v any) (any, bool) {
	switch v := v.(type) {
	case bool:
		return !v, true
	case float64:
		return v + 1, true
	case string:
		return v + "x", true
	case nil:
		return true, true
	}
	return nil, false
}

var elapsed = regexp.MustCompile(`\S+ of 10m`)

// TestReplayListsAllThatAnotherModelWouldDecide promises that with another model
// the replay goes on behind a difference.
func TestReplayListsAllThatAnotherModelWouldDecide(t *testing.T) {
	g := goldens[0]
	src := goldenSource(t, g.model, goldenEvents(t, g.name))
	find := src.Model
	src.Other, src.All = true, 5
	src.Model = func(goal, hash string, rec *RecordedModel) (ReplayModel, error) {
		m, err := find(goal, hash, rec)
		stricter := *m.Policy
		stricter.MaxActions = 2
		m.Policy = &stricter
		return m, err
	}
	out, err := Replay(t.Context(), src)
	must(t, err)
	var got []string
	for _, d := range out.Differs {
		got = append(got, fmt.Sprintf("%d %s: %s → %s", d.Seq, d.Part, d.Recorded, d.Derived))
	}
	var want []string
	for i, seq := range []int{21, 25, 29, 33, 37} {
		want = append(want, fmt.Sprintf("%d answer: continue: %d of 20 actions used; … of 10m used → stop (budget): max_actions = 2 reached: %d executed", seq, i+2, i+2))
	}
	for i := range got {
		got[i] = elapsed.ReplaceAllString(got[i], "… of 10m")
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
