package world_test

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/model/load"
	"github.com/fettleops/fettle/world"
)

// startFleet builds and starts the example's fleet and returns its address.
func startFleet(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "fleet")
	if out, err := exec.Command("go", "build", "-o", program, "../examples/fleet").CombinedOutput(); err != nil {
		t.Fatalf("build the fleet: %v\n%s", err, out)
	}
	file := filepath.Join(t.TempDir(), "address")
	cmd := exec.Command(program, "up", "--listen", "127.0.0.1:0", "--address-file", file)
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Logf("the fleet ended: %v", err)
		}
	})
	go func() { // ends with the fleet
		for s := bufio.NewScanner(out); s.Scan(); {
		}
		_, _ = io.Copy(io.Discard, out)
	}()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if b, err := os.ReadFile(file); err == nil && strings.TrimSpace(string(b)) != "" {
			return "http://" + strings.TrimPrefix(strings.TrimSpace(string(b)), "http://")
		}
		select {
		case <-t.Context().Done():
			t.Fatal("the fleet wrote no address")
		case <-tick.C:
		}
	}
}

func compileFleet(t *testing.T, address string) (*model.Universe, *world.World) {
	t.Helper()
	l, diags := load.Model("../examples/fleet", load.Options{Vars: map[string]string{"fleet": address}})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	c := world.Config{
		Folder: l.Folder, Eval: l.Eval, Observe: map[*model.Fluent]world.Block{},
		Run: map[*model.Action]world.Block{}, Timeout: map[*model.Action]time.Duration{},
	}
	for f, info := range l.Fluents {
		if b := info.Observe; b != nil {
			c.Observe[f] = world.Block{Kind: b.Kind, Body: b.Body, Range: b.Range}
		}
	}
	for a, info := range l.Actions {
		c.Timeout[a] = info.Timeout
		if b := info.Run; b != nil {
			c.Run[a] = world.Block{Kind: b.Kind, Body: b.Body, Range: b.Range}
		}
	}
	w, d := world.Compile(l.Model, c)
	if len(d) > 0 {
		t.Fatal(d)
	}
	t.Cleanup(func() { _ = w.Close() })
	return model.NewUniverse(l.Model), w
}

func TestFleetIsObservedFencedAndActedOn(t *testing.T) {
	address := startFleet(t)
	u, w := compileFleet(t, address)
	value := func(fluent, object string) string {
		f := u.Fluent(fluent)
		o, _ := u.Find(f.Params[0].Type, object)
		r := w.Observe(t.Context(), u, []model.Ref{{Fluent: f, Args: []int32{o}}}, time.Now())[0]
		return u.ValueText(f, r.Value) + " " + r.Err
	}
	for _, f := range u.Fluents {
		if f.Derived != nil {
			continue
		}
		for _, r := range w.Observe(t.Context(), u, []model.Ref{{Fluent: f}}, time.Time{}) {
			if !r.Value.Known() {
				t.Errorf("%s is unknown: %s", u.Text(r.Atom), r.Err)
			}
		}
	}
	drain, fault := u.Bind(model.Step{Action: "drain", Args: []string{"api"}}, nil)
	if fault != nil {
		t.Fatal(fault.Message)
	}
	fence := world.Fence{Token: 10, Resources: []string{"in_lb(api)", "in_lb"}, Writes: []string{"in_lb(api)"}, Run: "r", ActionID: "a1"}
	if err := w.Raise(t.Context(), u, drain, fence); err != nil {
		t.Fatal(err)
	}
	call := world.Call{Ground: drain, Run: "r", Step: 1, ActionID: "a1", Fence: 10, Writes: []string{"in_lb(api)"}}
	if o := w.Act(t.Context(), u, call); o.Status != world.Done {
		t.Fatalf("%s %s", o.Status, o.Message)
	}
	if got := value("in_lb", "api"); got != "false " {
		t.Errorf("after drain(api), in_lb(api) = %s", got)
	}
	// Someone newer came: the old token neither acts nor is raised.
	fence.Token, fence.ActionID = 11, "a2"
	if err := w.Raise(t.Context(), u, drain, fence); err != nil {
		t.Fatal(err)
	}
	call.ActionID = "a3"
	if o := w.Act(t.Context(), u, call); o.Status != world.Rejected {
		t.Errorf("a late act came out as %s: %s", o.Status, o.Message)
	}
	fence.Token = 10
	var higher *world.HigherFenceError
	if err := w.Raise(t.Context(), u, drain, fence); !errors.As(err, &higher) || higher.Higher != 11 {
		t.Errorf("got %v", err)
	}
}
