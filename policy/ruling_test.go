package policy

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// when is a rule of this effect with this condition.
func when(name string, effect RuleEffect, condition string) string {
	return fmt.Sprintf("rule %q {\n  effect = %s\n  when   = %q\n  reason = \"as %s says\"\n}\n", name, effect, condition, name)
}

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// revert are the facts of a step in the middle of a plan.
func revert() Facts {
	return Facts{
		Now: noon, Goal: "restored(db)",
		Trigger: Trigger{Kind: "alertmanager", Name: "web", Labels: map[string]string{"severity": "critical"}},
		Plan:    PlanFacts{Length: 8, Cost: 8, Objects: []string{"api", "db"}, Actions: []string{"drain", "revert"}, Irreversible: []string{"revert(db)"}},
		Step: &StepFacts{
			Step: 6, Action: "revert", Ground: "revert(db)", Args: map[string]string{"s": "db"}, Labels: map[string]string{"team": "web"},
			Risk: "high", Cost: 1, Adds: []string{"ready(db)"}, Deletes: []string{"in_lb(db)"},
			Sets: map[string]any{"replicas(db)": 2.0, "mode(db)": "slow", "load(db)": nil}, Irreversible: true,
		},
		History: []Deed{
			{Action: "revert", Ground: "revert(db)", At: noon.Add(-2 * time.Hour)},
			{Action: "revert", Ground: "revert(api)", At: noon.Add(-time.Hour)},
			{Action: "revert", Ground: "revert(db)", At: noon.Add(-10 * time.Minute)},
		},
	}
}

// TestRuleLooksAt: each word tells what it says, and what is asked of it
// decides.
func TestRuleLooksAt(t *testing.T) {
	for condition, want := range map[string]bool{
		"action == 'revert'": true, "action == 'drain'": false, "ground == 'revert(db)'": true,
		"args.s == 'db'": true, "args['s'] == 'api'": false, "'n' in args": false, "'s' in args": true,
		"'db' in objects": true, "'api' in objects": false, "labels.team == 'web'": true, "labels.nobody == ''": true, "'nobody' in labels": false,
		"risk in ['medium', 'high']": true, "risk == 'low'": false, "cost < 1": false, "cost >= 1": true,
		"'ready(db)' in adds": true, "any(deletes, # startsWith 'in_lb(')": true, "len(deletes) > 1": false,
		"'replicas(db)' in sets && sets['replicas(db)'] == 2": true, "sets['mode(db)'] in ['slow', 'off']": true, "sets['mode(db)'] != 'slow'": false,
		"unfenced": false, "unprotected": false, "irreversible": true, "step == 6": true, "step in 1..3": false,
		"goal startsWith 'restored('": true, "plan.length > 7 && plan.cost == 8.0": true, "'drain' in plan.actions": true,
		"count(plan.objects, # == 'db') == 1": true, "len(plan.unprotected) == 0": true, "'revert(db)' in plan.irreversible": true,
		"trigger.kind == 'alertmanager' && trigger.name == 'web'": true, "trigger.labels.severity == 'critical'": true, "trigger.labels.nobody == ''": true,
		"trigger.labels.severity matches '^crit'": true, "upper(action) == 'REVERT'": true, "let a = action; a endsWith 'ert'": true,
		"times('revert', '3h') == 3": true, "times('revert', '1h') == 1": true, "times('revert(db)', '1d') == 2": true, "times(ground, '1d') == 2": true, "times('drain', '1d') > 0": false,
	} {
		got := rulesOf(t, when("r", EffectDeny, condition)).Rule(revert())
		if (got.Effect == EffectDeny) != want || strings.Contains(got.Reason, "evaluated") {
			t.Errorf("%s: %+v", condition, got)
		}
	}
}

// TestStrictestRuleDecides: a denial outweighs a question, and that an allowance.
func TestStrictestRuleDecides(t *testing.T) {
	allow, ask, deny := when("a", EffectAllow, "true"), when("b", EffectAsk, "risk == 'high'"), when("c", EffectDeny, "args.s == 'db'")
	got := rulesOf(t, allow+ask+deny+when("d", EffectDeny, "true")+when("e", EffectDeny, "false")).Rule(revert())
	want := Ruling{Effect: EffectDeny, Rule: "c", Reason: "as c says", Applied: []AppliedRule{
		{"a", EffectAllow, "as a says"}, {"b", EffectAsk, "as b says"}, {"c", EffectDeny, "as c says"}, {"d", EffectDeny, "as d says"},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := got.Denial(); got != "rule c: as c says" {
		t.Error(got)
	}
	if got := rulesOf(t, "rule \"x\" { effect = deny }\n").Rule(revert()).Denial(); got != "rule x" {
		t.Error(got)
	}
	if got := rulesOf(t, allow+ask).Rule(revert()); got.Effect != EffectAsk || got.Rule != "b" {
		t.Errorf("%+v", got)
	}
	if got := rulesOf(t, when("r", EffectDeny, "false")).Rule(revert()); !reflect.DeepEqual(got, Ruling{}) {
		t.Errorf("no rule applies, and it says %+v", got)
	}
}

// TestRulesOfStepsAreAskedOfSteps: what looks at nothing of a step is asked of
// the plan too.
func TestRulesOfStepsAreAskedOfSteps(t *testing.T) {
	p := rulesOf(t, when("step", EffectDeny, "action == 'revert' && plan.length > 3")+when("plan", EffectAsk, "plan.length > 3 && during('mon', '09:00-17:00', 'UTC')")+"rule \"always\" { effect = allow }\n")
	names := func(f Facts) (out []string) {
		for _, a := range p.Rule(f).Applied {
			out = append(out, a.Rule)
		}
		return out
	}
	f := revert()
	if got := names(f); !slices.Equal(got, []string{"step", "plan", "always"}) {
		t.Errorf("of the step: %v", got)
	}
	f.Step = nil
	if got := names(f); !slices.Equal(got, []string{"plan", "always"}) {
		t.Errorf("of the plan: %v", got)
	}
	f = revert()
	f.Now = f.Now.Add(5 * time.Hour) // the window has closed meanwhile
	if got := names(f); !slices.Equal(got, []string{"step", "always"}) {
		t.Errorf("later: %v", got)
	}
}

// TestNothingIsLooserForAnError: a condition that cannot be evaluated is met
// where the rule denies or asks, and not where it allows.
func TestNothingIsLooserForAnError(t *testing.T) {
	for condition, why := range map[string]string{
		"args.n == 'node-1'":              `revert has no parameter "n"`,
		"args.n != 'node-1'":              `revert has no parameter "n"`,
		"sets['load(db)'] > 3":            "it is not known what the step sets load(db) to",
		"sets['load(db)'] == 3":           "it is not known what the step sets load(db) to",
		"sets['up(db)'] == true":          "the step does not set up(db)",
		"sets['replicas(db)'] == '2'":     "values of different types are compared",
		"sets['replicas(db)'] in ['2']":   "values of different types are compared",
		"sets['mode(db)'] < sets[ground]": "what is no number is put in an order",
		"let m = sets['mode(db)']; m < m": "what is no number is put in an order",
		"objects[7] == 'db'":              "index out of range: 7 (array length is 1)",
		"int(labels.team) > 3":            "invalid operation: int(web)",
		"times(labels.nobody, '1h') > 3":  `"" names no action: expected a name at character 1, found the end`,
		"len(1..20000) > 3":               "memory budget exceeded",
	} {
		counts := "as r says (it could not be evaluated, so it counts as applying: " + why + ")"
		for effect, want := range map[RuleEffect]RuleEffect{EffectDeny: EffectDeny, EffectAsk: EffectAsk, EffectAllow: ""} {
			got := rulesOf(t, when("r", effect, condition)).Rule(revert())
			if got.Effect != want || want != "" && got.Reason != counts {
				t.Errorf("%s %s: %+v, want %s", effect, condition, got, counts)
			}
		}
	}
}

// TestUnknownChangesAreNoLooser: whether an atom changes may be unknown, and
// then a rule is held against both.
func TestUnknownChangesAreNoLooser(t *testing.T) {
	f := revert()
	f.Step.Adds, f.Step.Unsure = []string{"ready(db)", "up(db)"}, []string{"up(db)"}
	for condition, want := range map[string][3]bool{ // denied, asked, allowed
		"'up(db)' in adds":                               {true, true, false},
		"!('up(db)' in adds)":                            {true, true, false},
		"'ready(db)' in adds":                            {true, true, true},
		"!('ready(db)' in adds)":                         {},
		"len(adds) == 2":                                 {true, true, false},
		"len(adds) == 0":                                 {},
		"len(adds) > 2":                                  {},
		"'up(db)' in adds || action == 'revert'":         {true, true, true},
		"none(deletes, # startsWith 'x') && len(adds)>0": {true, true, true},
	} {
		for i, effect := range []RuleEffect{EffectDeny, EffectAsk, EffectAllow} {
			if got := rulesOf(t, when("r", effect, condition)).Rule(f); (got.Effect == effect) != want[i] {
				t.Errorf("%s %s: %+v", effect, condition, got)
			}
		}
	}
}

// TestQuestionAboutTheIrreversible: whoever asks whether a step can be undone
// lets a person approve one that cannot; a condition that fails lets nobody.
func TestQuestionAboutTheIrreversible(t *testing.T) {
	for rules, want := range map[string]bool{
		when("r", EffectAsk, "irreversible"):                           true,
		when("r", EffectAsk, "len(plan.irreversible) > 0"):             true,
		when("r", EffectAsk, "risk == 'high'"):                         false,
		when("r", EffectAllow, "irreversible"):                         false,
		when("r", EffectAsk, "irreversible && args.n == 'x'"):          false,
		when("r", EffectAsk, "irreversible && action == 'drain'"):      false,
		when("r", EffectAsk, "irreversible || args.nobody == 'drain'"): true,
	} {
		if got := rulesOf(t, rules).Rule(revert()); got.Irreversible != want {
			t.Errorf("%s %+v", rules, got)
		}
	}
}

// TestRulesReach: the history that rules need is the longest that one looks at.
func TestRulesReach(t *testing.T) {
	for rules, want := range map[string]time.Duration{
		"": 0, when("a", EffectDeny, "plan.length > 3"): 0,
		when("a", EffectDeny, "times('drain', '1h') > times('revert', '2d')") + when("b", EffectAsk, "times(ground, '90m') > 1"): 48 * time.Hour,
	} {
		if got := rulesOf(t, rules).RulesReach(); got != want {
			t.Errorf("%s: %s, want %s", rules, got, want)
		}
	}
}

// TestUnreadRuleDenies: a rule whose condition was not compiled is met by
// anything, unless it allows.
func TestUnreadRuleDenies(t *testing.T) {
	for effect, want := range map[RuleEffect]RuleEffect{EffectDeny: EffectDeny, EffectAsk: EffectAsk, EffectAllow: "", "": EffectDeny} {
		p := &Policy{Rules: []Rule{{Name: "r", Effect: effect, When: "false"}}}
		if got := p.Rule(revert()); got.Effect != want {
			t.Errorf("%q: %+v", effect, got)
		}
	}
	for _, src := range []string{"action = 'x'", "nobody", "cost", "false && now()"} {
		p, diags := decode(t, "broken.hcl", []byte("policy {\n"+when("r", EffectDeny, src)+limits))
		if got := p.Rule(revert()); !diags.HasErrors() || got.Effect != EffectDeny {
			t.Errorf("%s: %+v", src, got)
		}
	}
	p, diags := decode(t, "broken.hcl", []byte("policy {\nrule \"r\" {\n  effect = allow\n  when = true\n}\n"+limits))
	if got := p.Rule(revert()); !diags.HasErrors() || got.Effect != "" {
		t.Errorf("a condition that is no text: %+v", got)
	}
}

// TestFactsFitTheJournal: a ruling can be made again from what was written.
func TestFactsFitTheJournal(t *testing.T) {
	p := rulesOf(t, when("a", EffectDeny, "sets['load(db)'] > 3")+when("b", EffectAsk, "sets['replicas(db)'] == 2 && times('revert', '3h') == 3 && trigger.labels.severity == 'critical'"))
	raw, err := json.Marshal(revert())
	if err != nil {
		t.Fatal(err)
	}
	var f Facts
	if err := json.Unmarshal(raw, &f); err != nil {
		t.Fatal(err)
	}
	if got, want := p.Rule(f), p.Rule(revert()); !reflect.DeepEqual(got, want) || len(got.Applied) != 2 {
		t.Errorf("again %+v, first %+v", got, want)
	}
}

// hostile are texts that a planner, an alert or an observation may contain.
var hostile = []string{
	"", "'", "\"", "') || true || ('", "' || true || '", "\" || true", "db' || action == 'drain", "${1+1}", "$(id)", "`", "\\", "\\'",
	"\x00", "\n", "\xff\xfe", "\u202e", "é", "e\u0301", "🛠", "true", "false", "nil", "#", "deny", "allow", "args.s", "__arg", "$env", "(?i).*", ".*", "node-1\n",
	strings.Repeat("x", 1<<20), strings.Repeat("') || true || ('", 1<<16),
}

// TestNothingThatIsLookedAtIsRead promises that a text of a plan, an alert or an
// observation is only ever compared. Rules that are about other texts say of it
// what they say of any.
func TestNothingThatIsLookedAtIsRead(t *testing.T) {
	p := rulesOf(t, when("deny", EffectDeny, "'s' in args && args.s != 'ok' && trigger.labels.severity != 'ok' && labels.team != 'ok' && none(objects, # == 'ok') && action != 'ok' && goal != 'ok'")+
		when("allow", EffectAllow, "args.s == 'ok' || labels.team == 'ok' || trigger.labels.severity == 'ok' || any(objects, # in ['ok', 'fine']) || args.s matches '^ok$' || 'ok' in trigger.labels || 'ok' in adds || trigger.name == 'ok' || goal == 'ok'"))
	for _, text := range hostile {
		f := revert()
		f.Goal, f.Trigger.Name = text, text
		f.Trigger.Labels = map[string]string{"severity": text, text: text}
		f.Step.Action, f.Step.Ground = text, text
		f.Step.Args = map[string]string{"s": text, text: text}
		f.Step.Labels = map[string]string{"team": text, text: text}
		f.Step.Adds, f.Step.Deletes, f.Step.Sets = []string{text}, []string{text}, map[string]any{text: text}
		f.Plan.Objects, f.Plan.Actions, f.Plan.Unprotected = []string{text}, []string{text}, []string{text}
		f.History = []Deed{{Action: text, Ground: text, Goal: text, Run: text, Objects: []string{text}, At: noon}}
		got := p.Rule(f)
		if got.Effect != EffectDeny || len(got.Applied) != 1 {
			t.Errorf("%.40q: %+v", text, got)
		}
	}
}

// TestErrorTellsLittleOfALongText: the reason of a ruling is for a person, and for
// the prompt of a planner.
func TestErrorTellsLittleOfALongText(t *testing.T) {
	f := revert()
	f.Trigger.Labels["n"] = strings.Repeat("9x", 1<<19)
	got := rulesOf(t, when("r", EffectDeny, "int(trigger.labels.n) > 3")).Rule(f)
	if got.Effect != EffectDeny || len(got.Reason) > 300 || !strings.Contains(got.Reason, "invalid operation: int(9x9x") {
		t.Errorf("%.500s", got.Reason)
	}
}

// TestHugePlanIsBounded: what a plan may make a rule do is bounded, and a rule
// that comes to the bound denies.
func TestHugePlanIsBounded(t *testing.T) {
	f := revert()
	for i := range 2000 {
		f.Plan.Objects = append(f.Plan.Objects, fmt.Sprint("o", i))
	}
	got := rulesOf(t, when("r", EffectDeny, "any(plan.objects, let a = #; any(plan.objects, let b = #; a == b && any(plan.objects, # == a + b)))")).Rule(f)
	if got.Effect != EffectDeny || !strings.Contains(got.Reason, "it looks at more than 100000 elements") {
		t.Errorf("%+v", got)
	}
}

// A condition in the two languages of the property test: that of rules, and Go.
// The answer is true or false, or an error.
type twin struct {
	text string
	of   bool // a step
	say  func(f *Facts) (bool, bool)
}

var twins = []twin{
	{"true", false, func(*Facts) (bool, bool) { return true, true }},
	{"plan.length > 3", false, func(f *Facts) (bool, bool) { return f.Plan.Length > 3, true }},
	{"trigger.labels.severity == 'critical'", false, func(f *Facts) (bool, bool) { return f.Trigger.Labels["severity"] == "critical", true }},
	{"during('mon-fri', '09:00-17:00', 'UTC')", false, func(f *Facts) (bool, bool) {
		h := f.Now.Hour()
		return h >= 9 && h < 17 && f.Now.Weekday() != time.Saturday && f.Now.Weekday() != time.Sunday, true
	}},
	{"action == 'drain'", true, func(f *Facts) (bool, bool) { return f.Step.Action == "drain", true }},
	{"args.s == 'db'", true, func(f *Facts) (bool, bool) { v, ok := f.Step.Args["s"]; return v == "db", ok }},
	{"risk == 'high'", true, func(f *Facts) (bool, bool) { return f.Step.Risk == "high", true }},
	{"'n' in args", true, func(f *Facts) (bool, bool) { _, ok := f.Step.Args["n"]; return ok, true }},
	{"unfenced", true, func(f *Facts) (bool, bool) { return f.Step.Unfenced, true }},
	{"times('drain', '1h') > 1", false, func(f *Facts) (bool, bool) {
		n := 0
		for _, d := range f.History {
			if d.Action == "drain" && f.Now.Sub(d.At) < time.Hour {
				n++
			}
		}
		return n > 1, true
	}},
}

func drawFacts(r *rapid.T) Facts {
	f := Facts{Now: noon.Add(time.Duration(rapid.IntRange(0, 14*24).Draw(r, "hours")) * time.Hour)}
	f.Plan.Length = rapid.IntRange(0, 6).Draw(r, "length")
	f.Trigger.Labels = map[string]string{"severity": rapid.SampledFrom([]string{"critical", "info", ""}).Draw(r, "severity")}
	for range rapid.IntRange(0, 4).Draw(r, "deeds") {
		f.History = append(f.History, Deed{Action: rapid.SampledFrom([]string{"drain", "restart"}).Draw(r, "deed"), At: f.Now.Add(-time.Duration(rapid.IntRange(0, 120).Draw(r, "ago")) * time.Minute)})
	}
	if rapid.Bool().Draw(r, "step") {
		f.Step = &StepFacts{
			Step: 1, Action: rapid.SampledFrom([]string{"drain", "restart"}).Draw(r, "action"), Unfenced: rapid.Bool().Draw(r, "unfenced"),
			Args: map[string]string{rapid.SampledFrom([]string{"s", "n"}).Draw(r, "param"): rapid.SampledFrom([]string{"db", "api"}).Draw(r, "object")},
			Risk: rapid.SampledFrom([]string{"", "high"}).Draw(r, "risk"),
		}
	}
	return f
}

// rank orders effects in the oracle of the property test.
var rank = map[RuleEffect]int{"": 0, EffectAllow: 1, EffectAsk: 2, EffectDeny: 3}

// TestRulingsAreThoseOfEachRuleAlone: the ruling is the strictest of what each
// rule says alone. One more denial makes nothing looser, and the order of the
// rules changes nothing.
func TestRulingsAreThoseOfEachRuleAlone(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		f := drawFacts(r)
		var rules []string
		want := RuleEffect("")
		n := rapid.IntRange(0, 6).Draw(r, "rules")
		for i := range n {
			effect := rapid.SampledFrom([]RuleEffect{EffectAllow, EffectAsk, EffectDeny}).Draw(r, "effect")
			c := rapid.SampledFrom(twins).Draw(r, "condition")
			text, negated := c.text, rapid.Bool().Draw(r, "negated")
			if negated {
				text = "!(" + text + ")"
			}
			rules = append(rules, when(fmt.Sprint("r", i), effect, text))
			if c.of && f.Step == nil {
				continue
			}
			holds, known := c.say(&f)
			if known && holds == negated || !known && effect == EffectAllow {
				continue
			}
			if rank[effect] > rank[want] {
				want = effect
			}
		}
		got := rulesOf(t, strings.Join(rules, "")).Rule(f)
		if got.Effect != want {
			r.Fatalf("%s on %+v: %q, want %q", rules, f, got.Effect, want)
		}
		mixed := rapid.Permutation(rules).Draw(r, "order")
		if again := rulesOf(t, strings.Join(mixed, "")).Rule(f); again.Effect != want || len(again.Applied) != len(got.Applied) {
			r.Fatalf("in another order %+v, first %+v", again, got)
		}
		more := append(mixed, when("more", EffectDeny, rapid.SampledFrom(twins).Draw(r, "more").text))
		if stricter := rulesOf(t, strings.Join(more, "")).Rule(f); rank[stricter.Effect] < rank[want] {
			r.Fatalf("with one more denial %+v, before %+v", stricter, got)
		}
	})
}

// FuzzCondition promises that no text of a condition brings the reader, the
// checks or an evaluation down, and that what is refused denies.
func FuzzCondition(f *testing.F) {
	for _, c := range twins {
		f.Add(c.text)
	}
	for _, text := range hostile[:len(hostile)-2] {
		f.Add(text)
	}
	f.Add("any(objects, let a = #; any(adds, # == a)) ? sets[ground] in [1, 'x'] : times(ground, '1h') > len(1..3)")
	m := web()
	f.Fuzz(func(t *testing.T, text string) {
		c, mistakes := compile(source{text: text})
		p := &Policy{Rules: []Rule{{Name: "r", Effect: EffectDeny, When: "?", cond: c}}}
		if diags := p.Check(m); c.tree == nil && len(diags) > 0 {
			t.Fatalf("%q cannot be read, and is held against the model: %s", text, diags)
		}
		facts := revert()
		if c.code == nil {
			if len(mistakes) == 0 {
				t.Fatalf("%q is refused without a word", text)
			}
			facts.Step = &StepFacts{}
			if p.Rule(facts).Effect != EffectDeny {
				t.Fatalf("%q is refused, and nothing is denied", text)
			}
			return
		}
		p.Rule(facts)
	})
}

// BenchmarkRule: a search asks the rules about every step that it considers.
func BenchmarkRule(b *testing.B) {
	p := rulesOf(b, when("freeze", EffectDeny, "action == 'restart' && during('fri', '16:00-06:00', 'America/New_York')")+
		when("db", EffectDeny, "any(deletes, # startsWith 'up(') && 'db' in objects")+when("often", EffectDeny, "times(ground, '1h') > 5"))
	f := revert()
	b.ReportAllocs()
	for b.Loop() {
		if p.rule(f).Effect != "" {
			b.Fatal("denied")
		}
	}
}
