package load

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model"
)

// loadText loads one file and fails on errors.
func loadText(t testing.TB, text string, o Options) *Loaded {
	t.Helper()
	l, diags := fromText(t, text, o)
	if diags.HasErrors() {
		t.Fatalf("%s", told(l, diags))
	}
	return l
}

func fromText(t testing.TB, text string, o Options) (*Loaded, hcl.Diagnostics) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "shop")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "m.fettle.hcl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Model(dir, o)
}

func TestTheWholeModelOfTheLanguageLoads(t *testing.T) {
	l, diags := Model("testdata/whole", Options{})
	if len(diags) > 0 {
		t.Fatalf("%s", told(l, diags))
	}
	if l.Scope != "whole" || len(l.Hash) != 64 {
		t.Errorf("scope %q, hash %q", l.Scope, l.Hash)
	}
	u := model.NewUniverse(l.Model)
	s := u.Named(l.Model.States[0])
	g, fault := u.Bind(model.Step{Action: "drain", Args: []string{"api"}}, nil)
	if fault != nil || g.Applicable(s, nil) != model.True {
		t.Fatalf("drain(api): %v, applicable %s", fault, g.Applicable(s, nil))
	}
	goal := l.Model.Goal("healthy")
	var missing []string
	for _, f := range goal.Cond.Explain(s, nil) {
		missing = append(missing, f.Text)
	}
	if got, want := strings.Join(missing, ", "), "mem_ok(api), version_ok(db)"; got != want {
		t.Errorf("missing %s, want %s", got, want)
	}
	var runs []string
	for _, a := range l.Model.Actions {
		runs = append(runs, l.Actions[a].Run.Kind)
	}
	if got := strings.Join(runs, " "); got != "exec exec lease exec exec lease" {
		t.Errorf("run kinds %s", got)
	}
	if n := len(l.Unsourced()); n != len(l.Model.Fluents) {
		t.Errorf("%d fluents without a source, want all %d", n, len(l.Model.Fluents))
	}
}

const settingsModel = `
model {
  scope = "shop-1"
  redact = ["corp-[0-9]+"]
  doc   = "a shop"
}
variable "port" { default = 80 }
variable "token" { sensitive = true }
locals {
  b = "http://${local.a}:${var.port}"
  a = lower("HOST")
}
type "service" { objects = ["api"] }
type "pod" {
  discover "exec" { command = ["list"] }
}
fluent "up" {
  params = { s = service }
  observe "http" { url = "${local.b}/${s}" }
}
fluent "tries" {
  params  = { s = service }
  type    = number
  initial = s == "api" ? 1 : 0
}
fluent "down" { derive = "none(service, up(#))" }
action "start" {
  params     = { s = service }
  cost       = "tries(s) + 1"
  timeout    = "1m30s"
  idempotent = true
  risk       = "high"
  reversible = false
  labels     = { team = upper(s) }
  locks      = ["deploy"]
  undo       = "start(s)"
  effect { increase = { "tries(s)" = 1 } }
  effect {
    forall = { o = service }
    when   = "o != s && !up(o)"
    add    = ["up(o)"]
  }
  settle { timeout = "5s" }
  retry {
    attempts = 3
    backoff  = "2s"
  }
  run "exec" { command = ["start", s] }
}
goal "g" {
  params    = { s = service, w = enum("now", "later") }
  condition = ["up(s)"]
  severity  = "count(service, !up(#))"
  actions   = ["start"]
}
invariant "i" {
  condition = "all(service, up(#))"
  message   = "all are up"
  strict    = true
}
planner "search" "main" {}
planner "openai" "other" { model = "m" }
critic "openai" { model = "n" }
trigger "schedule" "nightly" {
  goal   = "g"
  params = { s = "api", w = "now" }
  cron   = "0 3 * * *"
}
notify "exec" "pager" { command = ["./page"] }
provider "prometheus" { address = local.b }
etcd {
  endpoints = ["http://127.0.0.1:2379"]
  ca_file   = "ca.pem"
  user      = "u"
  password  = var.token
  prefix    = "/f"
}
policy { max_rounds = 3 }
`

func TestSettingsAreRead(t *testing.T) {
	env := func(name string) (string, bool) { return "s3cret", name == "FETTLE_VAR_token" }
	l := loadText(t, settingsModel, Options{Vars: map[string]string{"port": "8080"}, LookupEnv: env})
	a := l.Model.Action("start")
	info := l.Actions[a]
	got := fmt.Sprint(l.Scope, " ", l.Doc, " ", info.Timeout, " ", info.Settle, " ", info.Idempotent, " ", info.Retry, " ", info.Risk, " ", info.Reversible, " ", info.Undo, " ", a.Locks)
	want := fmt.Sprint("shop-1 a shop 1m30s ", Settle{5 * time.Second, time.Second}, " true ", Retry{3, 2 * time.Second}, " high false start(s) [deploy]")
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if l.Eval.Variables["local"].GetAttr("b").AsString() != "http://host:8080" {
		t.Errorf("local.b is %#v", l.Eval.Variables["local"].GetAttr("b"))
	}
	if !l.Sensitive["token"] || l.Sensitive["port"] || !slices.Equal(l.Secrets, []string{"s3cret"}) {
		t.Errorf("sensitive %v, secrets %v", l.Sensitive, l.Secrets)
	}
	if len(l.Redact) != 1 || l.Redact[0].String() != "corp-[0-9]+" {
		t.Errorf("patterns %v", l.Redact)
	}
	e := l.Etcd
	if e.Endpoints[0] != "http://127.0.0.1:2379" || e.User != "u" || e.Password != "s3cret" || e.Prefix != "/f" || e.CAFile != filepath.Join(l.Folder, "ca.pem") {
		t.Errorf("etcd %+v", e)
	}
	if v, _ := info.Labels.Value(l.Scoped(a.Params, []string{"api"})); v.GetAttr("team").AsString() != "API" {
		t.Errorf("labels %#v", v)
	}
	counts := []int{len(l.Planners), len(l.Critics), len(l.Triggers), len(l.Notifies), len(l.Providers), len(l.Discover)}
	if !slices.Equal(counts, []int{2, 1, 1, 1, 1, 1}) || l.Policy == nil {
		t.Errorf("blocks %v, policy %v", counts, l.Policy)
	}
	tries := l.Model.Fluent("tries")
	if v := tries.Initial([]string{"api"}); v != model.NumberValue(1) {
		t.Errorf("initial value %v", v)
	}
}

func TestWhatIsNotCarriedOutIsTold(t *testing.T) {
	l := loadText(t, settingsModel, Options{Vars: map[string]string{"token": "x"}})
	var got []string
	for _, d := range l.Unobeyed() {
		got = append(got, fmt.Sprintf("%d %s", d.Subject.Start.Line, strings.TrimSuffix(d.Summary, " is not carried out by this version")))
	}
	want := []string{"44 Retrying"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if d := l.Unsourced(); len(d) != 0 {
		t.Errorf("%v has sources", d)
	}
	got = nil
	for _, d := range l.Unserved() {
		if d.Severity != hcl.DiagWarning {
			t.Errorf("%s is no warning", d.Summary)
		}
		got = append(got, fmt.Sprintf("%d %s", d.Subject.Start.Line, strings.TrimSuffix(d.Summary, " does nothing in this version")))
	}
	if want := []string{`64 trigger "schedule" "nightly"`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	quiet := loadText(t, "provider \"http\" { timeout = \"1s\" }\nprovider \"prometheus\" { address = \"http://127.0.0.1:9090\" }\n", Options{})
	if d := quiet.Unserved(); len(d) != 1 || d[0].Summary != `provider "http" does nothing in this version` {
		t.Errorf("got %v", d)
	}
}

func TestAKeyThatTheEnvironmentLacksIsNoMistake(t *testing.T) {
	const text = "planner \"openai\" \"p\" {\n  model   = \"m\"\n  api_key = %s\n}\n"
	for key, fine := range map[string]bool{
		`env("KEY")`: true, `trimspace(env("KEY"))`: true, `"${env("KEY")}"`: true, `env("KEY", "")`: true,
		`env(3, [])`: false, `file("absent")`: false, `{}`: false,
	} {
		l, diags := fromText(t, fmt.Sprintf(text, key), Options{})
		if diags.HasErrors() == fine {
			t.Errorf("api_key = %s: %s", key, told(l, diags))
		}
	}
}

func TestCronIsHeldToItsFields(t *testing.T) {
	for _, s := range []string{"* * * * *", "0 0 1 1 0", "59 23 31 12 7", "*/15 1-5,7 1-31/2 JAN-dec mon-fri", "0 0 * * sun,Sat"} {
		if err := cron(s); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
	for _, s := range []string{
		"", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * 32 * *", "* * * 0 *", "* * * 13 *", "* * * * 8",
		"*/0 * * * *", "*/x * * * *", "*/ * * * *", "1- * * * *", "-1 * * * *", "+1 * * * *", "5-1 * * * *", ", * * * *", "* * * anf *", "jan * * * *",
	} {
		if err := cron(s); err == nil {
			t.Errorf("%q is accepted", s)
		}
	}
}

func TestEffectsAndSlots(t *testing.T) {
	l := loadText(t, settingsModel, Options{Vars: map[string]string{"token": "x"}})
	a := l.Model.Action("start")
	if len(a.Effects) != 2 || a.Effects[0].Op != model.Increase || a.Effects[1].Op != model.Add {
		t.Fatalf("effects %+v", a.Effects)
	}
	forall := a.Effects[1]
	if len(forall.Forall) != 1 || forall.Forall[0].Slot != 1 || forall.Args[0].Slot != 1 || forall.When == nil || a.Slots != 2 {
		t.Errorf("forall %+v over %d slots", forall, a.Slots)
	}
	g := l.Model.Goal("g")
	if g.Severity == nil || len(g.Actions) != 1 || g.Cond.Slots != 3 || g.Params[0].Name != "s" || g.Params[1].Type.String() != `enum("now", "later")` {
		t.Errorf("goal %+v, %d slots", g, g.Cond.Slots)
	}
}

func TestParametersKeepTheirWrittenOrder(t *testing.T) {
	l := loadText(t, `
type "z" { objects = ["z1"] }
type "a" { objects = ["a1"] }
action "move" {
  params = { what = z, to = a, by = z, at = a }
  effect { add = ["moved(what, to)"] }
}
fluent "moved" { params = { y = z, x = a } }
`, Options{})
	var got []string
	for _, p := range l.Model.Action("move").Params {
		got = append(got, p.Name)
	}
	if strings.Join(got, " ") != "what to by at" {
		t.Errorf("parameters %v", got)
	}
}

func TestTheHashCoversFilesAndVariables(t *testing.T) {
	text := "variable \"v\" { default = 1 }\nfluent \"f\" {}\n"
	base := loadText(t, text, Options{}).Hash
	if again := loadText(t, text, Options{}).Hash; again != base {
		t.Error("the same model in another folder has another hash")
	}
	if other := loadText(t, text, Options{Vars: map[string]string{"v": "2"}}).Hash; other == base {
		t.Error("a variable does not change the hash")
	}
	if other := loadText(t, text+"# remark\n", Options{}).Hash; other == base {
		t.Error("contents do not change the hash")
	}
}

func TestFilesThatCannotBeReadAreTroubleNotMistakes(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{filepath.Join(dir, "absent"), dir} {
		l, diags := Model(path, Options{})
		if l != nil || Trouble(diags) == nil {
			t.Errorf("%s: %v", path, diags)
		}
	}
	l, diags := fromText(t, "bogus", Options{})
	if l == nil || !diags.HasErrors() || Trouble(diags) != nil {
		t.Errorf("a mistake: %v", diags)
	}
}

// Reading a pipe or a device may never end.
func TestOnlyRegularFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good.fettle.hcl")
	odd := filepath.Join(dir, "odd.fettle.hcl")
	if err := os.WriteFile(good, []byte("fluent \"up\" {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	socket := func() error {
		fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		t.Cleanup(func() { _ = syscall.Close(fd) })
		return syscall.Bind(fd, &syscall.SockaddrUnix{Name: odd})
	}
	for _, tt := range []struct {
		name string
		make func() error
		want string
	}{
		{"a pipe", func() error { return syscall.Mkfifo(odd, 0o600) }, "it is a named pipe, and a model is read from regular files alone"},
		{"a folder", func() error { return os.Mkdir(odd, 0o700) }, "it is a folder, "},
		{"a socket", socket, "it is a socket, "},
		{"a link to a device", func() error { return os.Symlink("/dev/zero", odd) }, "it is a device, "},
		{"a link to nothing", func() error { return os.Symlink("nowhere", odd) }, "no such file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.make(); err != nil {
				t.Fatal(err)
			}
			defer os.Remove(odd)
			for _, path := range []string{dir, odd} {
				l, diags := Model(path, Options{})
				if path == odd && tt.name == "a folder" {
					continue // An empty model.
				}
				if err := Trouble(diags); l != nil || err == nil || !strings.Contains(err.Error(), odd+": "+tt.want) {
					t.Errorf("%s: %v, want %s", path, err, tt.want)
				}
			}
		})
	}
	if err := os.Symlink(good, odd); err != nil {
		t.Fatal(err)
	}
	if _, diags := Model(odd, Options{}); len(diags) > 0 {
		t.Errorf("a link to a file: %v", diags)
	}
}

func TestOneFileIsAModel(t *testing.T) {
	path := filepath.Join("testdata", "whole", "main.fettle.hcl")
	l, diags := Model(path, Options{})
	if diags.HasErrors() || l.Folder != filepath.Join("testdata", "whole") || l.Scope != "whole" {
		t.Errorf("folder %q, scope %q: %v", l.Folder, l.Scope, diags)
	}
}

func TestOtherFilesAreLeftAlone(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"m.fettle.hcl": `fluent "f" {}`, "notes.hcl": "broken {", ".#m.fettle.hcl": "broken {", "README.md": "x",
		"m.fettletest.hcl": `test "t" {
  facts = ["f"]
  plan  = []
  expect { valid = true }
}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, diags := Model(dir, Options{})
	if len(diags) > 0 || len(l.Tests) != 1 || l.Tests[0].Kind != "t" {
		t.Errorf("%d tests: %v", len(l.Tests), diags)
	}
}

func large(n int) string {
	var objects, facts, values strings.Builder
	for i := range n {
		fmt.Fprintf(&objects, "    \"web-%d:9100\",\n", i)
		fmt.Fprintf(&facts, "    \"up(web-%d:9100)\",\n", i)
		fmt.Fprintf(&values, "    \"load(web-%d:9100)\" = %d\n", i, i)
	}
	return "type \"service\" {\n  objects = [\n" + objects.String() + "  ]\n}\n" +
		"fluent \"up\" { params = { s = service } }\nfluent \"load\" {\n  params = { s = service }\n  type = number\n}\n" +
		"state \"s\" {\n  facts = [\n" + facts.String() + "  ]\n  values = {\n" + values.String() + "  }\n}\n"
}

func TestManyObjectsLoad(t *testing.T) {
	l := loadText(t, large(10000), Options{})
	if n := len(l.Model.States[0].Values); n != 20000 {
		t.Errorf("%d values", n)
	}
}

func BenchmarkLoad(b *testing.B) {
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "m.fettle.hcl"), []byte(large(10000)), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, diags := Model(dir, Options{}); diags.HasErrors() {
			b.Fatal(diags)
		}
	}
}
