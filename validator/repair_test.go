package validator_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/validator"
)

// written is a plan as somebody wrote it, a line a step.
type written []string

func (w written) report(p validator.Problem) validator.Report {
	return validator.Validate(p, plan(strings.Join(w, "\n")+"\n"))
}

var (
	deletes  = regexp.MustCompile(`^delete step (\d+)(?:, .*| \(line \d+\))$`)
	moves    = regexp.MustCompile(`^move step (\d+), .*, (before|after) step (\d+)$`)
	inserts  = regexp.MustCompile(`^insert (.*) before step (\d+)$`)
	appends  = regexp.MustCompile(`^append (.*)$`)
	replaces = regexp.MustCompile(`^replace step (\d+)(?:, .*,| \(line \d+\)) by (.*)$`)
)

// repaired does to the plan what a repair says, read as a person would.
func (w written) repaired(t rapid.TB, repair string) written {
	t.Helper()
	at := func(s string) int {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > len(w) {
			t.Fatalf("%s: no step %s", repair, s)
		}
		return n - 1
	}
	out := slices.Clone(w)
	if m := deletes.FindStringSubmatch(repair); m != nil {
		return slices.Delete(out, at(m[1]), at(m[1])+1)
	}
	if m := inserts.FindStringSubmatch(repair); m != nil {
		return slices.Insert(out, at(m[2]), m[1])
	}
	if m := appends.FindStringSubmatch(repair); m != nil {
		return append(out, m[1])
	}
	if m := moves.FindStringSubmatch(repair); m != nil {
		i, j := at(m[1]), at(m[3])
		step := out[i]
		if m[2] == "after" {
			out = slices.Insert(out, j+1, step)
		} else {
			out = slices.Insert(out, j, step)
		}
		if i > j {
			i++
		}
		return slices.Delete(out, i, i+1)
	}
	if m := replaces.FindStringSubmatch(repair); m != nil {
		out[at(m[1])] = m[2]
		return out
	}
	t.Fatalf("the repair %q has no known form", repair)
	return nil
}

// grounds looks every step up.
func (w written) grounds(t rapid.TB, u *model.Universe) []model.Ground {
	t.Helper()
	var gs []model.Ground
	for _, text := range w {
		name, args, err := model.ParseAtom(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		g, fault := u.Bind(model.Step{Action: name, Args: args}, nil)
		if fault != nil {
			t.Fatalf("%s: %s", text, fault.Message)
		}
		gs = append(gs, g)
	}
	return gs
}

// walk draws a valid plan of a problem, by the naive twin, and where it ends.
func (d *drawn) walk(p validator.Problem, most int) (written, *twin) {
	var w written
	at := newTwin(p.U, p.Start)
	for range d.int(most, "length") {
		g := d.ground(p.U)
		if n := at.after(p.U, g); n != nil {
			w, at = append(w, p.U.StepText(g)), n
		}
	}
	return w, at
}

// after is the state after an action, nil where it may not be carried out.
func (t *twin) after(u *model.Universe, g model.Ground) *twin {
	e := env{}
	for k, o := range g.Args {
		e[k] = o
	}
	if t.cond(g.Action.Precondition, e) != 1 {
		return nil
	}
	n, ok := t.apply(g.Action, e)
	if !ok || slices.ContainsFunc(u.Invariants, func(inv *model.Invariant) bool { return t.worsens(n, inv) }) {
		return nil
	}
	return n
}

// aim draws a goal that holds in the state; without one where none is met.
func (d *drawn) aim(p *validator.Problem, at *twin) {
	p.Goal, p.GoalName = nil, ""
	for range 5 {
		if c := cond(d.expr(1, nil, d.bools), d.expr(1, nil, d.bools)); at.cond(c, env{}) == 1 {
			p.Goal, p.GoalName = c, "g"
			return
		}
	}
}

// spoil changes one step of a plan: deletes, moves, puts in, replaces or misspells.
func (d *drawn) spoil(u *model.Universe, w written) written {
	out := slices.Clone(w)
	i := d.int(len(w), "spoilt")
	switch d.int(6, "how") {
	case 0:
		return slices.Delete(out, i, i+1)
	case 1:
		j := d.int(len(w), "moved to")
		step := out[i]
		return slices.Insert(slices.Delete(out, i, i+1), j, step)
	case 2:
		return slices.Insert(out, i, u.StepText(d.ground(u)))
	case 3:
		out[i] = u.StepText(d.ground(u))
	case 4:
		out[i] = "x" + out[i]
	default:
		out[i] = "Then, of course, " + out[i]
	}
	return out
}

func TestWhatOneStepSpoiltOneStepRepairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := &drawn{T: t, builder: newBuilder()}
		p := d.problem()
		valid, end := d.walk(p, 12)
		if len(valid) == 0 {
			return
		}
		d.aim(&p, end)
		broken := d.spoil(p.U, valid)
		r := broken.report(p)
		if r.Valid {
			return
		}
		switch {
		case r.Repair == "" && p.Goal == nil:
			return // what a step was for cannot be told
		case r.Repair == "":
			t.Fatalf("no repair of\n%s\nwhich was\n%s\n%s", strings.Join(broken, "\n"), strings.Join(valid, "\n"), r.Critique)
		}
		repaired := broken.repaired(t, r.Repair)
		start := newTwin(p.U, p.Start)
		if step, kind, _ := start.validate(p, repaired.grounds(t, p.U)); kind != "" {
			t.Fatalf("%s\nleaves of\n%s\na plan with a violation at step %d, %s", r.Repair, strings.Join(broken, "\n"), step, kind)
		}
	})
}

// A plan is kept from its violation on, and before it only the last steps: so
// that a valid plan of any length costs no memory.
func TestLongPlansAreRepairedAtTheirViolation(t *testing.T) {
	tests := []struct {
		name           string
		before, behind int
		text, repair   string
	}{
		{"the step itself", 3000, 0, "on(h1)\non(h1)\n", "delete step 3002, on(h1)"},
		{"a later step", 3000, 100, "off(h1)\non(h1)\n", "move step 3002, on(h1), before step 3001"},
		{"the end", 3000, 0, "on(h0)\n", "delete step 3001, on(h0)"},
		{"before, where all is kept", 1000, 0, "on(h0)\n", "delete step 1001, on(h0)"},
		{"a name", 3000, 50_000, "onn(h1)\noff(h1)\n", "replace step 3001, onn(h1), by on(h1)"},
		{"too long to be told", 10, 140_000, "on(h1)\non(h1)\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, _ := switches(t, 2, 0, true)
			const pair = "on(h1)\noff(h1)\n"
			text := strings.Repeat(pair, tt.before/2) + tt.text + strings.Repeat(pair, tt.behind/2)
			r := validator.Validate(p, plan(text))
			if r.Repair != tt.repair || r.Valid {
				t.Errorf("%s\nrepair %q, want %q", r.Critique, r.Repair, tt.repair)
			}
		})
	}
}

// carrier is a task of moving boxes from a to b one by one, and a valid plan.
func carrier(t *testing.T, boxes int) (validator.Problem, written) {
	b := newBuilder()
	var names []string
	var w written
	for i := range boxes {
		n := fmt.Sprintf("x%d", i)
		names = append(names, n)
		w = append(w, "pick("+n+", a)", "go(a, b)", "drop("+n+", b)", "go(b, a)")
	}
	box, place := b.typ("box", names...), b.typ("place", "a", "b")
	x, p, q := slot(box, 0), slot(place, 1), slot(place, 0)
	at, held := b.bool("at", box, place), b.bool("held", box)
	here, free := b.bool("here", place), on(b.bool("free"))
	differ := op(model.OpNe, model.KindBool, q, p)
	b.action("pick", []*model.Type{box, place}, []*model.Expr{on(at, x, p), on(here, p), free}, add(on(held, x)), del(on(at, x, p)), del(free))
	b.action("drop", []*model.Type{box, place}, []*model.Expr{on(held, x), on(here, p)}, add(on(at, x, p)), del(on(held, x)), add(free))
	b.action("go", []*model.Type{place, place}, []*model.Expr{on(here, q), differ}, add(on(here, p)), del(on(here, q)))
	b.Link()
	u := model.NewUniverse(b.Model)
	facts := []string{"here(a)", "free"}
	for _, n := range names {
		facts = append(facts, "at("+n+", a)")
	}
	goal := cond(over(model.OpAll, box, 0, on(at, x, object(place, "b"))))
	return validator.Problem{U: u, Start: closed(t, u, facts...), Goal: goal, GoalName: "moved"}, w
}

// TestWhatIsMissingIsTriedNearTheViolation, however long the plan and wherever
// in it the step was forgotten.
func TestWhatIsMissingIsTriedNearTheViolation(t *testing.T) {
	p, w := carrier(t, 10_000)
	if r := w.report(p); !r.Valid {
		t.Fatal(r.Critique)
	}
	for _, tt := range []struct {
		gone int
		want string
	}{
		{1, "insert go(a, b) before step 2"},
		{20_000, "insert pick(x5000, a) before step 20001"},
		{39_996, "insert pick(x9999, a) before step 39997"},
	} {
		r := slices.Delete(slices.Clone(w), tt.gone, tt.gone+1).report(p)
		if r.Repair != tt.want {
			t.Errorf("%s\nrepair %q, want %q", r.Critique, r.Repair, tt.want)
		}
	}
}

// Steps that write much are not all remembered: such a plan is repaired at its
// violation too.
func TestPlansThatWriteMuchAreRepairedAtTheirViolation(t *testing.T) {
	b := newBuilder()
	var names []string
	for i := range 2000 {
		names = append(names, fmt.Sprintf("h%d", i))
	}
	host := b.typ("host", names...)
	on1, ready := on(b.bool("on", host), slot(host, 0)), on(b.bool("ready"))
	start, stop := add(on1), del(on1)
	start.Forall = []model.Binder{{Slot: 0, Type: host, Name: "o"}}
	stop.Forall = start.Forall
	b.action("start", nil, nil, start)
	b.action("stop", nil, nil, stop)
	b.action("prepare", nil, nil, add(ready))
	b.action("finish", nil, []*model.Expr{ready}, del(ready))
	b.Link()
	u := model.NewUniverse(b.Model)
	p := validator.Problem{U: u, Start: closed(t, u), Goal: cond(not(over(model.OpAny, host, 0, on1)), not(ready)), GoalName: "done"}
	r := validator.Validate(p, plan(strings.Repeat("start\nstop\n", 300)+"finish\nprepare\n"))
	if want := "move step 602, prepare, before step 601"; r.Repair != want {
		t.Errorf("%s\nrepair %q, want %q", r.Critique, r.Repair, want)
	}
}

func TestAReportIsTheSameEachTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := &drawn{T: t, builder: newBuilder()}
		p := d.problem()
		steps := d.plan(p.U)
		text := func() string {
			r := validator.Validate(p, grounds(p.U, steps))
			doc, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			if err := r.WriteText(&b); err != nil {
				t.Fatal(err)
			}
			return string(doc) + "\n" + b.String()
		}
		if one, two := text(), text(); one != two {
			t.Fatalf("first\n%s\nthen\n%s", one, two)
		}
	})
}
