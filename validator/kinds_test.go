package validator_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/model/load"
	"github.com/fettleops/fettle/validator"
)

var update = flag.Bool("update", false, "rewrite the expected reports")

// fleet has something to break for every kind of violation.
func fleet(t testing.TB) validator.Problem {
	t.Helper()
	b := newBuilder()
	svc, node := b.typ("service", "api", "db", "web"), b.typ("node", "node-1")
	one := []*model.Type{svc}
	s := slot(svc, 0)
	inLB, ready, replicas := on(b.bool("in_lb", svc), s), on(b.bool("ready", svc), s), on(b.number("replicas", svc), s)
	lockFree := on(b.bool("lock_free"))
	b.AddFluent(&model.Fluent{Name: "out", Kind: model.KindBool, Params: params(svc), Derived: not(inLB), Slots: 1})
	out := b.Fluent("out")
	exprs := func(es ...*model.Expr) []*model.Expr { return es }
	b.action("drain", one, exprs(inLB), del(inLB))
	b.action("restart", one, nil, add(ready))
	b.action("readd", one, exprs(ready, not(inLB)), add(inLB), del(ready))
	b.action("take_lock", one, exprs(lockFree), del(lockFree))
	b.action("release", one, nil, add(lockFree))
	b.action("scale", one, nil, set(replicas, num(3)), set(replicas, num(4)))
	b.action("grow", []*model.Type{svc}, exprs(op(model.OpLt, model.KindBool, replicas, num(3))), model.Effect{
		Op: model.Increase, Fluent: replicas.Fluent, Args: replicas.Args, Value: num(1),
	})
	b.action("evict", []*model.Type{svc, node}, nil, del(inLB))
	q := slot(svc, 0)
	b.AddInvariant(&model.Invariant{
		Name: "one_out", Message: "only one service may be out of the balancer at a time",
		Cond: cond(op(model.OpLe, model.KindBool, over(model.OpCount, svc, 0, on(out, q)), num(1))),
	})
	b.Link()
	u := model.NewUniverse(b.Model)
	start := closed(t, u, "in_lb(api)", "in_lb(db)", "in_lb(web)", "lock_free")
	start.Set(atom(t, u, "replicas(api)"), model.NumberValue(2))
	goal := cond(over(model.OpAll, svc, 0, on(inLB.Fluent, q)), lockFree)
	return validator.Problem{U: u, Start: start, Goal: goal, GoalName: "healthy"}
}

// freeze is a rule of a policy.
type freeze string

func (f freeze) Check(_ int, g model.Ground, before *model.State) (string, bool) {
	return "rule change_freeze: no changes of replicas on Friday evening", g.Action.Name == string(f) && before != nil
}

// kinds is the golden file: a model, and plans with what is reported of them.
type kinds struct {
	*load.Loaded
	u *model.Universe
}

func readKinds(t *testing.T, golden *txtar.Archive) kinds {
	t.Helper()
	file := filepath.Join(t.TempDir(), golden.Files[0].Name)
	if err := os.WriteFile(file, golden.Files[0].Data, 0o600); err != nil {
		t.Fatal(err)
	}
	l, diags := load.Model(file, load.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return kinds{l, model.NewUniverse(l.Model)}
}

// problem reads from a plan's comments what it is held against.
func (k kinds) problem(t *testing.T, text string) validator.Problem {
	t.Helper()
	p := validator.Problem{U: k.u, Start: k.u.Named(k.Model.State("fine"))}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "#")), ": ")
		switch {
		case !strings.HasPrefix(line, "#"):
			return p
		case key == "state":
			p.Start = k.u.Named(k.Model.State(value))
		case key == "goal":
			name, args, err := model.ParseAtom(value)
			g := k.Model.Goal(name)
			if err != nil || g == nil {
				t.Fatalf("%s: %v", value, err)
			}
			if p.GoalArgs, err = k.u.FindArgs(name, g.Params, args); err != nil {
				t.Fatal(err)
			}
			p.Goal, p.GoalName, p.Allowed = g.Cond, value, g.Actions
		case key == "rule":
			p.Rules = []validator.Rule{freeze(value)}
		case key == "started":
			p.StartedAs = value
		case key == "why":
			p.Why = func(model.Atom) string { return value }
		default:
			t.Fatalf("a comment that means nothing: %s", line)
		}
	}
	return p
}

// TestEachKindReadsAsWritten holds every kind of violation to its golden
// text: testdata/kinds.txtar has plans and their reports for each.
func TestEachKindReadsAsWritten(t *testing.T) {
	const file = "testdata/kinds.txtar"
	golden, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	k := readKinds(t, golden)
	seen := map[string]int{}
	for i := 1; i < len(golden.Files); i += 2 {
		in, want := string(golden.Files[i].Data), &golden.Files[i+1]
		t.Run(strings.TrimSuffix(golden.Files[i].Name, ".plan"), func(t *testing.T) {
			r := validator.Validate(k.problem(t, in), plan(in))
			seen[string(r.Kind)]++
			var b bytes.Buffer
			fmt.Fprintf(&b, "kind: %s\n", r.Kind)
			if err := r.WriteText(&b); err != nil {
				t.Fatal(err)
			}
			if *update {
				want.Data = b.Bytes()
			} else if b.String() != string(want.Data) {
				t.Errorf("got\n%s\nwant\n%s", &b, want.Data)
			}
		})
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(golden), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, kind := range []validator.Kind{
		"", validator.Syntax, validator.UnknownAction, validator.WrongArity, validator.UnknownObject, validator.WrongType, validator.Precondition,
		validator.UnknownValue, validator.EffectConflict, validator.Invariant, validator.Policy, validator.Goal,
	} {
		if seen[string(kind)] < 2 {
			t.Errorf("kind %q is shown %d times", kind, seen[string(kind)])
		}
	}
}

// Who validates the rest of a plan in the middle of a run says so: nothing there
// has been false "from the start".
func TestTheStartIsCalledAsTheProblemSays(t *testing.T) {
	p := fleet(t)
	p.StartedAs = "as observed now"
	const want = "goal not reached after 1 step; missing in_lb(web) (false as observed now)"
	p.Start.Set(atom(t, p.U, "in_lb(web)"), model.BoolValue(false))
	r := validator.Validate(p, plan("restart(api)\n"))
	if r.Critique != want {
		t.Errorf("got  %s\nwant %s", r.Critique, want)
	}
	var b strings.Builder
	if err := r.WriteText(&b); err != nil || !strings.Contains(b.String(), "  in_lb(web) = false as observed now\n") {
		t.Errorf("got %s, %v", b.String(), err)
	}
	p.U.Invariants[0].Strict = true
	p.Start.Set(atom(t, p.U, "in_lb(db)"), model.BoolValue(false))
	const broken = "the state as observed now breaks one_out: only one service may be out of the balancer at a time (out: db, web)"
	if r := validator.Validate(p, plan("")); r.Critique != broken {
		t.Errorf("got  %s\nwant %s", r.Critique, broken)
	}
}

// An argument of 10 MB must not make a report of 20 MB.
func TestAReportDoesNotRepeatALongArgument(t *testing.T) {
	long := strings.Repeat("x", 10<<20)
	for _, text := range []string{"drain(" + long + ")", long + "(api)", "drain(api, " + long + ")", `[{"action": "drain", "args": {"` + long + `": "api"}}]`, long + " " + long} {
		r := validator.Validate(fleet(t), plan(text))
		var b bytes.Buffer
		err := r.WriteText(&b)
		doc, jsonErr := r.MarshalJSON()
		if err != nil || jsonErr != nil || r.Valid || b.Len() > 1000 || len(doc) > 2000 || len(r.Key()) > 1000 {
			t.Errorf("%.20s…: %d bytes of text, %d of JSON, %d of key, valid %v, %v, %v", text, b.Len(), len(doc), len(r.Key()), r.Valid, err, jsonErr)
		}
	}
}
