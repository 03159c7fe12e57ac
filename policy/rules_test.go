package policy

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fettleops/fettle/model"
)

// limits are those that each policy of these tests has.
const limits = `
  mode                 = "auto"
  max_rounds           = 3
  max_attempts         = 3
  max_actions          = 30
  deadline             = "10m"
  max_repeats          = 2
  same_failure_retries = 2
  no_evidence_rounds   = 2
  max_errors           = 5
}
`

// web is a model of services in a load balancer, and nodes that are discovered.
func web() *model.Model {
	m := model.New()
	service, node := m.AddType("service", nil), m.AddType("node", nil)
	service.AddObject("api")
	service.AddObject("db")
	node.Discovered = true
	s, n := []model.Param{{Name: "s", Type: service}}, []model.Param{{Name: "n", Type: node}}
	for _, f := range []*model.Fluent{
		{Name: "capacity", Kind: model.KindBool},
		{Name: "in_lb", Kind: model.KindBool, Params: s},
		{Name: "drained", Kind: model.KindBool, Params: s},
		{Name: "up", Kind: model.KindBool, Params: n},
		{Name: "replicas", Kind: model.KindNumber, Params: s},
		{Name: "mode", Kind: model.KindString, Params: s},
	} {
		m.AddFluent(f)
	}
	for _, a := range []*model.Action{
		{Name: "drain", Params: s},
		{Name: "restart", Params: s},
		{Name: "revert", Params: s},
		{Name: "take_node", Params: n},
		{Name: "page"},
	} {
		m.AddAction(a)
	}
	m.Goals = []*model.Goal{{Name: "healthy"}, {Name: "restored", Params: s}}
	m.Link()
	return m
}

// rulesOf decodes a policy with these rules, which has no mistake.
func rulesOf(t testing.TB, rules string) *Policy {
	t.Helper()
	p, diags := decode(t, "rules.hcl", []byte("policy {\n"+rules+limits))
	if len(diags) > 0 {
		t.Fatal(lines(diags))
	}
	return p
}

// TestRuleDiagnostics holds each mistake in a condition to its message and its
// place, word for word. The archive has pairs of files as that of
// TestDecodeDiagnostics; the policies' limits are left out.
func TestRuleDiagnostics(t *testing.T) {
	const file = "testdata/rules.txtar"
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out := txtar.Archive{Comment: ar.Comment}
	want := map[string]string{}
	for _, f := range ar.Files {
		want[f.Name] = string(f.Data)
	}
	for _, f := range ar.Files {
		name, ok := strings.CutSuffix(f.Name, ".hcl")
		if !ok {
			continue
		}
		src := "policy {\n" + string(f.Data) + limits
		p, diags := decode(t, f.Name, []byte(src))
		got := pointed(src, append(diags, p.Check(web())...))
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

// pointed writes diagnostics, with what they point at.
func pointed(src string, diags hcl.Diagnostics) string {
	var b strings.Builder
	for _, d := range diags {
		severity := "error"
		if d.Severity == hcl.DiagWarning {
			severity = "warning"
		}
		fmt.Fprintf(&b, "%s at %d:%d «%s»: %s\n  %s\n", severity, d.Subject.Start.Line-1, d.Subject.Start.Column,
			src[d.Subject.Start.Byte:d.Subject.End.Byte], d.Summary, d.Detail)
	}
	return b.String()
}
