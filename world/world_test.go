package world

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"go.uber.org/goleak"

	"github.com/fettleops/fettle/model"
)

// TestMain lets the test binary stand in for programs that actions run.
func TestMain(m *testing.M) {
	if role := os.Getenv("WORLD_TEST_ROLE"); role != "" {
		os.Exit(play(role, os.Args[1:]))
	}
	goleak.VerifyTestMain(m)
}

// testModel is a small model: services on nodes, and actions on them.
type testModel struct {
	*model.Model
	u    *model.Universe
	vars map[string]cty.Value
	// secrets are texts of sensitive variables.
	secrets []string
}

const hostile = "../admin?x=1#é'"

func newTestModel(t *testing.T) *testModel {
	t.Helper()
	m := model.New()
	service := m.AddType("service", nil)
	for _, o := range []string{"api", "db", hostile, "-rf"} {
		service.AddObject(o)
	}
	node := m.AddType("node", nil)
	node.AddObject("n1")
	node.AddObject("n2")
	mode := m.AddEnum([]string{"primary", "replica"})
	s := model.Param{Name: "s", Type: service}
	n := model.Param{Name: "n", Type: node}
	for _, f := range []*model.Fluent{
		{Name: "in_lb", Params: []model.Param{s}, Kind: model.KindBool},
		{Name: "up", Params: []model.Param{s}, Kind: model.KindBool},
		{Name: "open", Kind: model.KindBool},
		{Name: "replicas", Params: []model.Param{s}, Kind: model.KindNumber},
		{Name: "version", Params: []model.Param{s}, Kind: model.KindString},
		{Name: "mode", Params: []model.Param{s}, Kind: model.KindObject, Type: mode},
		{Name: "host", Params: []model.Param{s}, Kind: model.KindObject, Type: node},
		{Name: "runs", Params: []model.Param{s, n}, Kind: model.KindBool},
		{Name: "derived", Kind: model.KindBool, Derived: model.TrueExpr},
		{Name: "belief", Kind: model.KindBool},
	} {
		m.AddFluent(f)
	}
	slot := func(i int, ty *model.Type) *model.Expr {
		return &model.Expr{Op: model.OpSlot, Kind: model.KindObject, Type: ty, Slot: i}
	}
	effect := func(op model.EffectOp, f string, args ...*model.Expr) model.Effect {
		return model.Effect{Op: op, Fluent: m.Fluent(f), Args: args}
	}
	m.AddAction(&model.Action{
		Name: "drain", Params: []model.Param{s}, Slots: 1,
		Effects: []model.Effect{effect(model.Del, "in_lb", slot(0, service))},
	})
	m.AddAction(&model.Action{
		Name: "restart", Params: []model.Param{s}, Slots: 1,
		Effects: []model.Effect{effect(model.Add, "up", slot(0, service))},
	})
	m.AddAction(&model.Action{
		Name: "place", Params: []model.Param{s, n}, Slots: 2, Locks: []string{"deploy"},
		Effects: []model.Effect{effect(model.Add, "runs", slot(0, service), slot(1, node)), effect(model.Add, "up", slot(0, service))},
	})
	m.Link()
	return &testModel{Model: m, u: model.NewUniverse(m), vars: map[string]cty.Value{}}
}

// compile makes a world of fluent and action blocks.
func (m *testModel) compile(t *testing.T, folder, src string) (*World, hcl.Diagnostics) {
	t.Helper()
	w, diags := m.compileIn(folder, src)
	t.Cleanup(func() { _ = w.Close() })
	return w, diags
}

func (m *testModel) compileIn(folder, src string) (*World, hcl.Diagnostics) {
	f, diags := hclsyntax.ParseConfig([]byte(src), "test.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		panic(diags)
	}
	c := Config{
		Folder: folder, Observe: map[*model.Fluent]Block{}, Run: map[*model.Action]Block{}, Timeout: map[*model.Action]time.Duration{},
		Discover: map[*model.Type]Block{}, Providers: map[string]Block{}, Secrets: m.secrets,
		Eval: &hcl.EvalContext{Variables: map[string]cty.Value{"var": cty.ObjectVal(m.vars)}},
	}
	for _, b := range f.Body.(*hclsyntax.Body).Blocks {
		if b.Type == "provider" {
			c.Providers[b.Labels[0]] = Block{Kind: b.Labels[0], Body: b.Body, Range: b.DefRange()}
			continue
		}
		inner := b.Body.Blocks[0]
		block := Block{Kind: inner.Labels[0], Body: inner.Body, Range: inner.DefRange()}
		switch b.Type {
		case "type":
			c.Discover[m.Type(b.Labels[0])] = block
			continue
		case "fluent":
			c.Observe[m.Fluent(b.Labels[0])] = block
			continue
		}
		a := m.Action(b.Labels[0])
		c.Run[a] = block
		if attr := b.Body.Attributes["timeout"]; attr != nil {
			v, _ := attr.Expr.Value(nil)
			c.Timeout[a], _ = time.ParseDuration(v.AsString())
		}
	}
	return Compile(m.Model, c)
}

func (m *testModel) mustCompile(t *testing.T, src string) *World {
	t.Helper()
	w, diags := m.compile(t, t.TempDir(), src)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	return w
}

// refs parses references.
func (m *testModel) refs(t *testing.T, texts ...string) []model.Ref {
	t.Helper()
	var out []model.Ref
	for _, s := range texts {
		r := parseResource(m.u, s)
		if r.fluent == nil {
			t.Fatalf("there is no fluent %s", s)
		}
		out = append(out, model.Ref{Fluent: r.fluent, Args: r.args})
	}
	return out
}

// observe asks and writes each reading as one line: atom = value, and in
// brackets why it is unknown or what the answer said.
func (m *testModel) observe(t *testing.T, w *World, texts ...string) string {
	t.Helper()
	return m.show(w.Observe(t.Context(), m.u, m.refs(t, texts...), time.Time{}))
}

func (m *testModel) show(rs []Reading) string {
	var b strings.Builder
	for _, r := range rs {
		fmt.Fprintf(&b, "%s = %s", m.u.Text(r.Atom), m.u.ValueText(r.Atom.Fluent, r.Value))
		if r.Err != "" {
			fmt.Fprintf(&b, " [%s]", r.Err)
		}
		if r.Note != "" {
			fmt.Fprintf(&b, " {%s}", r.Note)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (m *testModel) ground(t *testing.T, action string, args ...string) model.Ground {
	t.Helper()
	g, fault := m.u.Bind(model.Step{Action: action, Args: args}, nil)
	if fault != nil {
		t.Fatal(fault.Message)
	}
	return g
}

func (m *testModel) act(ctx context.Context, t *testing.T, w *World, action string, args ...string) Outcome {
	t.Helper()
	g := m.ground(t, action, args...)
	return w.Act(ctx, m.u, Call{
		Ground: g, Run: "run-1", Step: 2, ActionID: "act-1", Fence: 1042, Armed: 1043, Writes: []string{"in_lb(api)", "in_lb('é\U0001F600')"},
	})
}

func same(t *testing.T, got, want string) {
	t.Helper()
	if strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
