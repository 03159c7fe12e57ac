package executor

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/world"
)

// discovering is the model of the yard with its services found in place of listed.
func discovering(changes ...string) string {
	text := strings.Replace(fleetModel, `type "service" { objects = ["api", "db"] }`, `type "service" {
  discover "http" {
    url    = "{{yard}}/services"
    items  = "body"
    object = "item"
  }
}`, 1)
	return strings.NewReplacer(changes...).Replace(text)
}

// found are the events of discovery, each on a line: new, gone, failed.
func (r *rig) found() string {
	var lines []string
	for _, d := range all[Discovery](r, Discovered) {
		line := fmt.Sprintf("%d %s", d.Objects, d.Type)
		if len(d.New) > 0 {
			line += " new " + strings.Join(d.New, " ")
		}
		if len(d.Gone) > 0 {
			line += " gone " + strings.Join(d.Gone, " ")
		}
		if d.Error != "" {
			line += " error " + d.Error
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// when lets something happen once, while an action is being carried out.
func (r *rig) when(what string, happens func()) {
	r.yard.on = func(act string, _ *http.Request) (int, bool) {
		if act == what {
			r.yard.set(happens)
		}
		return http.StatusOK, true
	}
}

func TestAnObjectThatComesIsSeenInTheNextRound(t *testing.T) {
	r := newRig(t, setup{model: discovering()})
	r.yard.ok["api"] = false
	r.when("mend(api)", func() { r.yard.up["web"], r.yard.ok["web"] = true, false })
	end := r.run()
	r.ends(end, Succeeded, "")
	r.did("stop(api)", "mend(api)", "start(api)", "stop(web)", "mend(web)", "start(web)")
	r.clean()
	if got, want := r.found(), "2 service new api db\n3 service new web"; got != want {
		t.Errorf("found\n%s\nwant\n%s", got, want)
	}
	if end.Rounds != 2 || len(end.Evidence) != 6 {
		t.Errorf("%d rounds, evidence %+v", end.Rounds, end.Evidence)
	}
	for i, o := range all[Observation](r, Observed) {
		if want := 2 + min(i, 1); o.Objects["service"] != want || o.Facts != 2*want {
			t.Errorf("observation %d is of %v, %d facts", i, o.Objects, o.Facts)
		}
	}
}

// A dead service that is on no list must not make all(service, up(#)) true,
// whatever the model says of one that is absent.
func TestAnObjectThatVanishesHasUnknownFacts(t *testing.T) {
	r := newRig(t, setup{model: discovering(`value  = "up"`, "value  = \"up\"\n    absent = true", `value  = "ok"`, "value  = \"ok\"\n    absent = true")})
	r.yard.ok["api"] = false
	r.when("start(api)", func() { delete(r.yard.up, "db") })
	end := r.run()
	r.ends(end, Escalated, "unobservable")
	r.did("stop(api)", "mend(api)", "start(api)")
	if got, want := r.found(), "2 service new api db\n1 service gone db"; got != want {
		t.Errorf("found\n%s\nwant\n%s", got, want)
	}
	var undone []string
	for _, m := range end.Undone {
		undone = append(undone, fmt.Sprintf("%s %t %s", m.Condition, m.Unknown, m.Because[0].Error))
	}
	if want := []string{"up(db) true service db is not found now", "ok(db) true service db is not found now"}; !slices.Equal(undone, want) {
		t.Errorf("undone %q, want %q", undone, want)
	}
}

func TestDiscoveryThatFailsLeavesConditionsOverAllUnknown(t *testing.T) {
	for _, c := range []struct {
		name, goal, status, reason string
		declared                   string
	}{
		{"none is known", `all(service, up(#) && ok(#))`, Escalated, "unobservable", ""},
		{"the known ones do not decide", `all(service, up(#) && ok(#))`, Escalated, "unobservable", `objects = ["api", "db"]`},
		{"a known one decides", `any(service, up(#) && ok(#))`, Succeeded, "", `objects = ["api", "db"]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, setup{model: discovering("all(service, up(#) && ok(#))", c.goal, "  discover", c.declared+"\n  discover")})
			r.yard.dark = true
			end := r.run()
			r.ends(end, c.status, c.reason)
			r.did()
			if got, want := r.found(), "0 service error HTTP 503 Service Unavailable"; got != want {
				t.Errorf("found %s, want %s", got, want)
			}
			if c.reason != "" && !strings.Contains(end.Message, "not all objects of type service are known") {
				t.Errorf("it says %s", end.Message)
			}
		})
	}
}

func TestDiscoveryThatFailsLaterKeepsWhatWasFoundButIsNoSuccess(t *testing.T) {
	r := newRig(t, setup{model: discovering()})
	r.yard.ok["api"] = false
	r.when("start(api)", func() { r.yard.dark = true })
	r.ends(r.run(), Escalated, "unobservable")
	r.did("stop(api)", "mend(api)", "start(api)")
	if got, want := r.found(), "2 service new api db\n0 service error HTTP 503 Service Unavailable"; got != want {
		t.Errorf("found\n%s\nwant\n%s", got, want)
	}
	looks := all[Observation](r, Observed)
	if last := looks[len(looks)-1]; last.Objects["service"] != 2 || last.Unknown != 0 {
		t.Errorf("the last observation is of %v, %d unknown", last.Objects, last.Unknown)
	}
}

func TestDeclaredAndDiscoveredObjectsAreOneSet(t *testing.T) {
	r := newRig(t, setup{model: discovering("  discover", "  objects = [\"api\", \"old\"]\n  discover")})
	r.yard.up["old"], r.yard.ok["old"] = true, true
	end := r.run()
	r.ends(end, Succeeded, "")
	if got, want := r.found(), "3 service new db"; got != want {
		t.Errorf("found %s, want %s", got, want)
	}
	if n := one[Observation](r, Observed).Objects["service"]; n != 3 {
		t.Errorf("%d services", n)
	}
}

func TestARunThatIsGoneOnWithKnowsWhatItFound(t *testing.T) {
	s := setup{model: discovering(), policy: []string{"mode", `"approve"`}}
	r := newRig(t, s)
	r.yard.ok["api"] = false
	r.ends(r.run(), WaitingStatus, "approval")
	r.yard.set(func() { delete(r.yard.up, "db") })

	next, id := r.next(s)
	next.config.Ask = yes
	next.ends(next.resume(id), Escalated, "unobservable")
	next.did()
	if got, want := next.found(), "1 service gone db"; got != want {
		t.Errorf("found %s, want %s", got, want)
	}
}

func TestNamesFromTheWorldAreData(t *testing.T) {
	name := "-rf $(id) 'x'\"\n`é`\u202e ; {a: b}"
	r := newRig(t, setup{model: discovering(), run: map[string]string{
		"stop": escaped("stop"), "mend": escaped("mend"), "start": escaped("start"),
	}})
	r.yard.up[name], r.yard.ok[name] = true, false
	end := r.run()
	r.ends(end, Succeeded, "")
	r.did("stop("+name+")", "mend("+name+")", "start("+name+")")
	r.clean()
	text := model.FormatAtom("stop", name)
	if p := one[Plan](r, PlanAccepted); p.Steps[0].Action != text {
		t.Errorf("the plan has %s, want %s", p.Steps[0].Action, text)
	}
	taken := all[Acquired](r, StepAcquired)[0].Resources
	if want := model.FormatAtom("up", name); !slices.ContainsFunc(taken, func(s string) bool { return strings.Contains(s, want) }) {
		t.Errorf("it took %q, want %s among them", taken, want)
	}
}

// escaped is how an action is carried out whose object may have any name.
func escaped(action string) string {
	return strings.NewReplacer("NAME", action, "${s}", "${urlencode(s)}").Replace(overHTTP)
}

func TestVeryManyObjectsAreKnownAgain(t *testing.T) {
	const n = 10_000
	r := newRig(t, setup{model: discovering("count(service, !up(#)) <= 1", "any(service, up(#))")})
	for i := range n {
		name := fmt.Sprintf("service-%05d", i)
		r.yard.up[name], r.yard.ok[name] = true, true
	}
	end := r.run()
	r.ends(end, Succeeded, "")
	if got := len(end.Evidence) + end.EvidenceMore["observed"]; got != 2*(n+2) {
		t.Errorf("evidence for %d conditions", got)
	}
	events := all[Discovery](r, Discovered)
	var names []string
	for i, d := range events {
		names = append(names, d.New...)
		if d.Rest != (i > 0) || d.Objects != n+2 {
			t.Errorf("event %d: %d objects, rest %t", i, d.Objects, d.Rest)
		}
	}
	if len(events) < 2 || len(names) != n+2 || !slices.IsSorted(names) {
		t.Errorf("%d names in %d events", len(names), len(events))
	}
	p := &past{run: newRun(r.config)}
	for _, d := range events {
		must(t, p.discovered(d))
	}
	service := p.u.Type("service")
	if got := len(p.u.Objects(service)); got != n+2 {
		t.Errorf("%d services are known again", got)
	}
}

// surveyor finds what a test says.
type surveyor struct{}

func (surveyor) Discover(context.Context) []world.Found { return nil }
func (surveyor) LeaseNames(*model.Universe) []string    { return nil }

func TestASetOfObjectsOnlyGrows(t *testing.T) {
	m := model.New()
	host := m.AddType("host", nil)
	node, disk := m.AddType("node", host), m.AddType("disk", host)
	node.Discovered, disk.Discovered = true, true
	m.AddFluent(&model.Fluent{Name: "primary", Kind: model.KindObject, Type: host})
	m.Link()
	r := newRun(Config{
		Universe: model.NewUniverse(m, model.Discovery{Type: node, Objects: []string{"n9"}}), Discoverer: surveyor{},
		Goal: &model.Goal{Name: "g", Params: []model.Param{{Name: "n", Type: node}}}, GoalArgs: []int32{0},
	})
	primary := model.Atom{Fluent: m.Fluent("primary"), Args: []int32{}}
	r.learn(primary, model.ObjectValue(0))
	of := func(t *model.Type, err string, names ...string) world.Found {
		return world.Found{Type: t, Objects: names, Err: err}
	}
	for i, c := range []struct {
		found []world.Found
		want  string // nodes, disks, those of either that are gone, open types
		told  int
	}{
		{[]world.Found{of(node, "", "n1", "n2"), of(disk, "", "d1")}, "n9 n1 n2 | d1 | gone n9 | open", 2},
		{[]world.Found{of(node, "", "n1", "n2"), of(disk, "", "d1")}, "n9 n1 n2 | d1 | gone n9 | open", 0},
		{[]world.Found{of(node, "", "n2", "n3"), of(disk, "", "d1")}, "n9 n1 n2 n3 | d1 | gone n1 n9 | open", 1},
		{[]world.Found{of(node, "down"), of(disk, "half", "d2")}, "n9 n1 n2 n3 | d1 d2 | gone n1 n9 | open host node disk", 2},
		{[]world.Found{of(node, "down"), of(disk, "", "d2")}, "n9 n1 n2 n3 | d1 d2 | gone d1 n1 n9 | open host node", 1},
		{[]world.Found{of(node, "", "n1", "n2", "n3", "n9"), of(disk, "", "d1", "d2")}, "n9 n1 n2 n3 | d1 d2 | gone | open", 2},
	} {
		events, err := r.count(c.found, time.Now())
		must(t, err)
		if got := r.census(host, node, disk); got != c.want || len(events) != c.told {
			t.Errorf("step %d: %s, %d events; want %s, %d", i+1, got, len(events), c.want, c.told)
		}
		if g := r.u.Name(node, r.GoalArgs[0]); g != "n9" {
			t.Errorf("step %d: the goal is about %s", i+1, g)
		}
		if p := r.u.ValueText(primary.Fluent, r.state.Get(primary)); p != "n9" {
			t.Errorf("step %d: the primary is %s", i+1, p)
		}
	}
}

func (r *run) census(host, node, disk *model.Type) string {
	var parts []string
	for _, t := range []*model.Type{node, disk} {
		parts = append(parts, strings.Join(r.objects.known[t], " "))
	}
	gone, open := "gone", "open"
	var lost []string
	for name := range r.objects.gone[host] {
		lost = append(lost, name)
	}
	slices.Sort(lost)
	for _, n := range lost {
		gone += " " + n
	}
	for _, t := range r.u.Types {
		if r.u.Open(t) {
			open += " " + t.Name
		}
	}
	return strings.Join(append(parts, gone, open), " | ")
}

func TestAnEndThatNothingFitsIntoIsCutAndCounted(t *testing.T) {
	long := strings.Repeat("\x01", 200)
	e := Ended{}
	for range 300 {
		e.Evidence = append(e.Evidence, Evidence{Condition: long, Verified: "derived", Facts: []Fact{{Fluent: long}}})
		e.Undone = append(e.Undone, Missing{Condition: long})
	}
	e.fit()
	raw, err := json.Marshal(e)
	must(t, err)
	if len(raw) > room || len(e.Evidence) == 0 {
		t.Errorf("%d bytes with %d conditions", len(raw), len(e.Evidence))
	}
	if got := len(e.Evidence) + e.EvidenceMore["derived"]; got != 300 || len(e.Undone)+e.UndoneMore != 300 {
		t.Errorf("%d met, %d unmet", got, len(e.Undone)+e.UndoneMore)
	}
	o := Observation{Missing: make([]Missing, 200), Errors: make([]Fact, 200)}
	for i := range o.Missing {
		o.Missing[i].Condition, o.Errors[i].Fluent = long, long
	}
	o.fit()
	if raw, err = json.Marshal(o); err != nil || len(raw) > room || len(o.Missing)+o.More != 200 {
		t.Errorf("%d bytes, %d and %d more: %v", len(raw), len(o.Missing), o.More, err)
	}
}

func TestManyNamesAreSeveralEvents(t *testing.T) {
	d := Discovery{Round: 1, Type: "node", Objects: 3, Error: "half", Gone: []string{"n0"}}
	for range 5 {
		d.New = append(d.New, strings.Repeat("x", 30<<10))
	}
	var sizes []int
	for i, p := range d.parts() {
		sizes = append(sizes, len(p.New))
		if p.Rest != (i > 0) || (p.Error == "") != (i > 0) || (len(p.Gone) == 0) != (i > 0) {
			t.Errorf("part %d: %+v", i, p)
		}
	}
	if want := []int{2, 2, 1}; !slices.Equal(sizes, want) {
		t.Errorf("%v names, want %v", sizes, want)
	}
	if n := len((Discovery{}).parts()); n != 1 {
		t.Errorf("without names there are %d events", n)
	}
}
