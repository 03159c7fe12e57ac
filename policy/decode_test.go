package policy

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/zclconf/go-cty/cty"

	"github.com/fettleops/fettle/model"
)

var update = flag.Bool("update", false, "rewrite the expected diagnostics")

// decode reads a file with one policy block.
func decode(t testing.TB, name string, src []byte) (*Policy, hcl.Diagnostics) {
	t.Helper()
	f, diags := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	content, diags := f.Body.Content(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "policy"}}})
	if diags.HasErrors() || len(content.Blocks) != 1 {
		t.Fatalf("%s has no policy: %v", name, diags)
	}
	ctx := &hcl.EvalContext{Variables: map[string]cty.Value{"var": cty.ObjectVal(map[string]cty.Value{
		"rounds": cty.NumberIntVal(2), "none": cty.NullVal(cty.Number), "secret": cty.StringVal("5m").Mark("sensitive"),
	})}}
	return Decode(content.Blocks[0].Body, ctx, content.Blocks[0].DefRange)
}

// lines writes diagnostics with their places.
func lines(diags hcl.Diagnostics) string {
	var b strings.Builder
	for _, d := range diags {
		severity := "error"
		if d.Severity == hcl.DiagWarning {
			severity = "warning"
		}
		fmt.Fprintf(&b, "%s at %d:%d-%d: %s\n", severity, d.Subject.Start.Line, d.Subject.Start.Column, d.Subject.End.Column, d.Summary)
		for _, l := range strings.Split(d.Detail, "\n") {
			b.WriteString(strings.TrimRight("  "+l, " ") + "\n")
		}
	}
	return b.String()
}

// TestDecodeDiagnostics holds each mistake to its message, word for word. The
// archive has pairs of files: NAME.hcl and what is said about it, NAME.txt.
func TestDecodeDiagnostics(t *testing.T) {
	const file = "testdata/decode.txtar"
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out txtar.Archive
	out.Comment = ar.Comment
	want := map[string]string{}
	for _, f := range ar.Files {
		want[f.Name] = string(f.Data)
	}
	for _, f := range ar.Files {
		name, ok := strings.CutSuffix(f.Name, ".hcl")
		if !ok {
			continue
		}
		p, diags := decode(t, f.Name, f.Data)
		got := lines(append(diags, p.Check(buildings())...))
		out.Files = append(out.Files, f, txtar.File{Name: name + ".txt", Data: []byte(got)})
		if !*update && got != want[name+".txt"] {
			t.Errorf("%s: got\n%swant\n%s", f.Name, got, want[name+".txt"])
		}
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(&out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func buildings() *model.Model {
	m := model.New()
	for _, name := range []string{"drain", "restart", "revert"} {
		m.AddAction(&model.Action{Name: name})
	}
	return m
}

const full = `policy {
  mode                 = auto
  max_rounds           = var.rounds
  max_attempts         = 1 + 2
  max_plan_steps       = 30
  max_calls            = 0
  max_cost             = 0.50
  max_tokens           = 4000
  context_tokens       = 32000
  max_actions          = 0
  deadline             = var.secret
  max_wait             = "0s"
  max_repeats          = 1
  same_failure_retries = "2"
  no_evidence_rounds   = 2
  max_errors           = 0
  critic_rounds        = 0
  approval_expires     = "1h30m"
  pause_before         = ["plan", "act", "revert"]
  on_stop              = "restore"
  retention            = "90d"
  search {
    max_nodes  = 1000000
    max_memory = "512MiB"
    timeout    = "30s"
  }
  rule "freeze" {
    effect = deny
    when   = "true"
    reason = "no changes today"
  }
}
`

// TestDecodeEverything: each attribute arrives where it belongs, and a limit of
// zero is one.
func TestDecodeEverything(t *testing.T) {
	p, diags := decode(t, "full.hcl", []byte(full))
	if len(diags) > 0 {
		t.Fatal(lines(diags))
	}
	want := &Policy{
		Mode: Auto, MaxRounds: 2, MaxAttempts: 3, MaxActions: 0, Deadline: 5 * time.Minute, MaxRepeats: 1,
		SameFailureRetries: 2, NoEvidenceRounds: 2, MaxErrors: 0,
		MaxPlanSteps: AtMost(30), MaxCalls: AtMost(0), MaxCost: AtMost(0.5), MaxTokens: AtMost(4000), ContextTokens: AtMost(32000),
		MaxWait: AtMost(time.Duration(0)), CriticRounds: AtMost(0), ApprovalExpires: AtMost(90 * time.Minute),
		Retention: AtMost(90 * 24 * time.Hour), PauseBefore: []string{"plan", "act", "revert"}, OnStop: Restore,
		Search: Search{AtMost(1000000), AtMost(int64(512 << 20)), AtMost(30 * time.Second)},
	}
	got := *p
	if len(got.Rules) != 1 || got.Rules[0].Range.Start.Line != 27 || got.Rules[0].Body == nil {
		t.Fatalf("rules %+v", got.Rules)
	}
	r := got.Rules[0]
	if r.cond == nil || r.cond.code == nil {
		t.Error("the condition is not compiled")
	}
	r.Range, r.Body, r.cond = hcl.Range{}, nil, nil
	if want := (Rule{Name: "freeze", Effect: EffectDeny, When: "true", Reason: "no changes today"}); r != want {
		t.Errorf("rule %+v, want %+v", r, want)
	}
	got.Rules, got.Range, got.ranges = nil, hcl.Range{}, nil
	if !reflect.DeepEqual(&got, want) {
		t.Errorf("got  %+v\nwant %+v", got, *want)
	}
	if w, ok := p.Wait(); w != 0 || !ok {
		t.Errorf("wait %s, %v: zero is a limit", w, ok)
	}
	if diags := p.Check(buildings()); len(diags) > 0 {
		t.Error(lines(diags))
	}
}

// TestExampleIsComplete: what a refused run suggests can be pasted as it is,
// and limits nothing that this version does not limit.
func TestExampleIsComplete(t *testing.T) {
	p, diags := decode(t, "example.hcl", []byte(Example()))
	if len(diags) > 0 {
		t.Fatal(lines(diags))
	}
	if p.Mode != Approve || p.MaxRounds != 3 || p.Deadline != 10*time.Minute {
		t.Errorf("decoded as %+v", p)
	}
	if !strings.Contains(Example(), "# for the whole run; asked before each action, one in flight ends within its own timeout\n") {
		t.Errorf("the example does not tell what the deadline bounds:\n%s", Example())
	}
	if p.MaxPlanSteps.Set || p.MaxCalls.Set || p.MaxWait.Set || p.Search.MaxNodes.Set {
		t.Error("what is not written is limited")
	}
}

func TestModelsNeedABudget(t *testing.T) {
	p, _ := decode(t, "example.hcl", []byte(Example()))
	if got, want := lines(p.ForModels()), `error at 1:1-7: Missing limits
  A language model is called by this model's planners, so its policy must set max_calls and max_cost (max_cost is in USD).
`; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	p.MaxCalls, p.MaxCost = AtMost(0), AtMost(0.0)
	if diags := p.ForModels(); len(diags) > 0 {
		t.Error(lines(diags))
	}
}

func TestParseMemory(t *testing.T) {
	for text, want := range map[string]int64{"1": 1, "1048576": 1 << 20, "512MiB": 512 << 20, "1.5 GiB": 3 << 29, "2GB": 2e9, "64KiB": 64 << 10, "7B": 7} {
		if got, err := ParseMemory(text); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "-1", "many", "MiB", "1 PB", "NaN", "1e40", "0.5"} {
		if got, err := ParseMemory(text); err == nil {
			t.Errorf("%q is %d", text, got)
		}
	}
}

func TestDurationsAreSpelt(t *testing.T) {
	for want, d := range map[string]time.Duration{"0s": 0, "1.23s": 1234 * time.Millisecond, "1m": time.Minute, "1m30s": 90 * time.Second, "1h": time.Hour, "1h0m5s": time.Hour + 5*time.Second, "2h30m": 150 * time.Minute} {
		if got := spell(d); got != want {
			t.Errorf("%d is %s, want %s", d, got, want)
		}
	}
}
