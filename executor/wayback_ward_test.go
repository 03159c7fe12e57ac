package executor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/policy"
)

// ward is a world of files in which a service is mended while it is out of the
// balancer: FLUENT-SERVICE says yes or no, and so does key, which readd needs. A
// script does what it says, a file fail-VERB-SERVICE makes it fail instead, and
// trap-VERB-SERVICE is run after it, once.
const ward = `
type "service" { objects = ["api", "db"] }

fluent "in_lb" {
  params = { s = service }
  observe "exec" {
    command = ["cat", "{{dir}}/in_lb-${s}"]
    value   = "stdout == 'yes'"
  }
}
fluent "ok" {
  params = { s = service }
  observe "exec" {
    command = ["cat", "{{dir}}/ok-${s}"]
    value   = "stdout == 'yes'"
  }
}
fluent "key" {
  observe "exec" {
    command = ["cat", "{{dir}}/key"]
    value   = "stdout == 'yes'"
  }
}
action "drain" {
  params       = { s = service }
  precondition = ["in_lb(s)"]
  effect { del = ["in_lb(s)"] }
  {{undo}}
  {{run}}
}
action "readd" {
  params       = { s = service }
  precondition = ["!in_lb(s)", "key"]
  effect { add = ["in_lb(s)"] }
  {{run}}
}
action "mend" {
  params       = { s = service }
  precondition = ["!in_lb(s)"]
  effect { add = ["ok(s)"] }
  {{run}}
}
goal "healthy" {
  condition = ["all(service, {{goal}})"]
  {{severity}}
}
`

const wardScript = `
echo "$1 $2" >>DIR/log
[ ! -e DIR/fail-$1-$2 ] || exit 1
case $1 in
drain) printf no >DIR/in_lb-$2 ;;
readd) printf yes >DIR/in_lb-$2 ;;
mend) printf yes >DIR/ok-$2 ;;
esac
if [ -e DIR/trap-$1-$2 ]; then . DIR/trap-$1-$2; rm DIR/trap-$1-$2; fi
`

// wardRig is a rig over a ward in which api has to be mended.
type wardRig struct {
	*rig
	dir string
}

// newWard changes words of the ward's model, given as pairs.
func newWard(t testing.TB, s setup, words ...string) *wardRig {
	t.Helper()
	w := &wardRig{dir: t.TempDir()}
	for _, f := range []string{"in_lb-api", "in_lb-db", "ok-db", "key"} {
		w.write(t, f, "yes")
	}
	w.write(t, "ok-api", "no")
	w.write(t, "act.sh", strings.ReplaceAll(wardScript, "DIR", w.dir))
	text := ward
	for i := 0; i < len(words); i += 2 {
		text = strings.ReplaceAll(text, words[i], words[i+1])
	}
	var out []string
	name, timeout := "", "10s"
	for i := 0; i < len(words); i += 2 {
		if words[i] == "{{timeout}}" {
			timeout = words[i+1]
		}
	}
	for _, l := range strings.Split(text, "\n") {
		if rest, ok := strings.CutPrefix(l, `action "`); ok {
			name = rest[:strings.Index(rest, `"`)]
		}
		out = append(out, strings.ReplaceAll(l, "{{run}}", `timeout = "{{timeout}}"
  settle {
    timeout  = "200ms"
    interval = "5ms"
  }
  run "exec" { command = ["/bin/sh", "{{dir}}/act.sh", "`+name+`", s] }`))
	}
	s.model = strings.NewReplacer("{{undo}}", `undo = "readd(s)"`, "{{timeout}}", timeout, "{{goal}}", "in_lb(#) && ok(#)", "{{severity}}",
		`severity = "count(service, !in_lb(#))"`, "{{dir}}", w.dir).Replace(strings.ReplaceAll(strings.Join(out, "\n"), "{{dir}}", w.dir))
	w.rig = newRig(t, s)
	return w
}

func (w *wardRig) write(t testing.TB, name, text string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600))
}

// log is what the scripts were asked to do, in order: the oracle of the tests.
func (w *wardRig) log() []string {
	raw, err := os.ReadFile(filepath.Join(w.dir, "log"))
	if os.IsNotExist(err) {
		return nil
	}
	must(w, err)
	return strings.Split(strings.TrimSpace(string(raw)), "\n")
}

func (w *wardRig) logged(want ...string) {
	w.Helper()
	if got := w.log(); !slices.Equal(got, want) {
		w.Errorf("did %q, want %q", got, want)
	}
}

// out counts the services that are out of the balancer, without the program.
func (w *wardRig) out() int {
	n := 0
	for _, s := range []string{"api", "db"} {
		raw, err := os.ReadFile(filepath.Join(w.dir, "in_lb-"+s))
		must(w, err)
		if string(raw) != "yes" {
			n++
		}
	}
	return n
}

func num(f *float64) string {
	if f == nil {
		return "?"
	}
	return fmt.Sprint(*f)
}

func spanOf(e Ended) string {
	if e.Severity == nil {
		return "none"
	}
	return num(e.Severity.Start) + " → " + num(e.Severity.Now)
}

// driven is a run of which a test changes what nothing else can set.
func (w *wardRig) driven(change func(*run)) Ended {
	w.Helper()
	ctx := testCtx(w)
	c := w.config
	var err error
	c.Journal, err = w.journal().Start(ctx, NewHead(c.GoalName, c.Scope, "host", 1))
	must(w, err)
	c.OnEvent = func(e journal.Event) {
		w.events = append(w.events, e)
		if w.see != nil {
			w.see(e.Kind, e)
		}
	}
	r := newRun(c)
	change(r)
	must(w, r.claim(ctx, c.Journal.ID()))
	r.watch(ctx)
	defer r.leave(ctx)
	end, err := r.drive(ctx)
	must(w, err)
	return end
}

// on runs something at the first event of a kind, in the run's goroutine.
func (w *wardRig) on(kind string, do func(journal.Event)) {
	done := false
	w.see = func(k string, e journal.Event) {
		if k == kind && !done {
			done = true
			do(e)
		}
	}
}

// rulesOf reads the rules of a policy.
func rulesOf(t *testing.T, text string) []policy.Rule {
	t.Helper()
	f, diags := hclsyntax.ParseConfig([]byte(strings.Replace(policy.Example(), "\n}", "\n"+text+"\n}", 1)), "rules.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	b := f.Body.(*hclsyntax.Body).Blocks[0]
	p, diags := policy.Decode(b.Body, nil, b.DefRange())
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return p.Rules
}

// asks is somebody who is asked, and answers in turn.
func (w *wardRig) asks(answers ...bool) *[]Question {
	var asked []Question
	w.config.Ask = func(_ context.Context, q Question) (Answer, error) {
		asked = append(asked, q)
		yes := len(asked) <= len(answers) && answers[len(asked)-1]
		return Answer{Asked: true, Yes: yes, By: "me"}, nil
	}
	return &asked
}
