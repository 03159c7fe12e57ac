package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/etcd/server/v3/embed"

	"github.com/fettleops/fettle/examples/fleet/accesslog"
	"github.com/fettleops/fettle/executor"
)

// TestTwoProcessesRepairOneFleet promises that two fettle processes that start
// together on one broken fleet, sharing one etcd, both end well, that never
// more than one service is out of the balancer, and that nothing is done twice.
func TestTwoProcessesRepairOneFleet(t *testing.T) {
	f := startFleet(t)
	f.fault("api", "leak")
	f.fault("db", "bad_version")
	dir := f.model(startEtcd(t))
	most := f.watchPool()

	var runs []*exec.Cmd
	var outs []*bytes.Buffer
	for range 2 {
		out := &bytes.Buffer{}
		cmd := fettle(t, "run", "--approve", "-o", "jsonl", "--var", "fleet="+f.base, dir)
		cmd.Stdout, cmd.Stderr = out, out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		runs, outs = append(runs, cmd), append(outs, out)
	}
	for i, cmd := range runs {
		if err := cmd.Wait(); err != nil {
			t.Errorf("process %d: %v\n%s", i+1, err, outs[i])
		}
	}
	if out := most(); len(out) > 1 {
		t.Errorf("out of the balancer at one time: %v", out)
	}
	f.everyEffectOnce()
	f.healthy()
}

// TestEtcdStoppedInMidRun promises a clear end, soon, and no act after it.
func TestEtcdStoppedInMidRun(t *testing.T) {
	f := startFleet(t)
	f.fault("api", "leak")
	f.fault("db", "bad_version")
	etcd := startEtcd(t)
	cmd := fettle(t, "run", "--approve", "-o", "jsonl", "--var", "fleet="+f.base, f.model(etcd))
	events, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	errs := &bytes.Buffer{}
	cmd.Stderr = errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	awaitEvent(t, events, executor.StepFinished)
	etcd.stop()
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != exitFailed {
		t.Errorf("exit: %v, want 1\n%s", err, errs)
	}
	if !strings.Contains(errs.String(), "nothing more is done") && !strings.Contains(errs.String(), "in doubt") {
		t.Errorf("the end is not clear: %s", errs)
	}
	acts := len(f.acts())
	f.get("/services") // Anything later would be logged after this request.
	if now := len(f.acts()); now != acts {
		t.Errorf("%d acts after fettle had ended", now-acts)
	}
}

// awaitEvent reads events until one of the kind, and goes on reading behind.
func awaitEvent(t *testing.T, r interface{ Read([]byte) (int, error) }, kind string) {
	t.Helper()
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var e struct{ Kind string }
		if err := json.Unmarshal(sc.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		if e.Kind == kind {
			go func() {
				for sc.Scan() {
				}
			}()
			return
		}
	}
	t.Fatalf("no event %s", kind)
}

// fettle returns this very test binary as the command.
func fettle(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Args[0] = "fettle"
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	return cmd
}

type etcdServer struct {
	endpoint string
	stop     func()
}

// startEtcd starts an etcd that processes reach over the network, as a cluster
// would be.
func startEtcd(t *testing.T) *etcdServer {
	t.Helper()
	cfg := embed.NewConfig()
	cfg.Dir = t.TempDir()
	cfg.LogLevel, cfg.LogOutputs = "error", []string{filepath.Join(cfg.Dir, "log")}
	free := url.URL{Scheme: "http", Host: "127.0.0.1:0"} // Nobody else can take the port that it gets.
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{free}, []url.URL{free}
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{free}, []url.URL{free}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	e, err := embed.StartEtcd(cfg)
	if err != nil {
		t.Fatal(err)
	}
	stop := sync.OnceFunc(e.Close)
	t.Cleanup(stop)
	<-e.Server.ReadyNotify()
	return &etcdServer{"http://" + e.Clients[0].Addr().String(), stop}
}

// fleet is the example's fleet, as real processes.
type fleet struct {
	t         *testing.T
	base, log string
}

func startFleet(t *testing.T) *fleet {
	t.Helper()
	dir := t.TempDir()
	bin := program(t, "fleet", "github.com/fettleops/fettle/examples/fleet")
	f := &fleet{t: t, log: filepath.Join(dir, "access.jsonl")}
	cmd := exec.Command(bin, "up", "--listen", "127.0.0.1:0", "--log", f.log, "--state", filepath.Join(dir, "state"), "--warmup", "50ms")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // It ends its services with itself.
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the fleet did not come up: %v", err)
	}
	f.base = strings.TrimSpace(strings.TrimPrefix(line, "fleet: ready at "))
	return f
}

func (f *fleet) get(path string) []byte {
	f.t.Helper()
	resp, err := http.Get(f.base + path)
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(resp.Body); err != nil {
		f.t.Fatal(err)
	}
	return b.Bytes()
}

func (f *fleet) fault(service, fault string) {
	f.t.Helper()
	body := strings.NewReader(`{"service": "` + service + `", "fault": "` + fault + `"}`)
	resp, err := http.Post(f.base+"/faults", "application/json", body)
	if err != nil {
		f.t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		f.t.Fatalf("inject %s on %s: %s", fault, service, resp.Status)
	}
}

// model copies the example's model, with limits that leave room for another
// controller and with the given etcd.
func (f *fleet) model(e *etcdServer) string {
	f.t.Helper()
	src, err := os.ReadFile("../../examples/fleet/fleet.fettle.hcl")
	if err != nil {
		f.t.Fatal(err)
	}
	text := string(src)
	for _, limit := range [][2]string{
		{"max_rounds           = 4", "max_rounds           = 30"},
		{"no_evidence_rounds   = 2", "no_evidence_rounds   = 30"},
		{"same_failure_retries = 2", "same_failure_retries = 30"},
		{"max_repeats          = 2", "max_repeats          = 30"},
		{"max_errors           = 5", "max_errors           = 30"},
		{"max_wait             = \"10s\"", "max_wait             = \"60s\""},
	} {
		if !strings.Contains(text, limit[0]) {
			f.t.Fatalf("the example's policy no longer says %q", limit[0])
		}
		text = strings.Replace(text, limit[0], limit[1], 1)
	}
	text += "\netcd {\n  endpoints = [\"" + e.endpoint + "\"]\n}\n"
	dir := f.t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "fleet.fettle.hcl"), []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
	return dir
}

// watchPool samples the balancer's pool until the returned function is called,
// which returns the largest set of services that were out together.
func (f *fleet) watchPool() func() []string {
	ctx, cancel := context.WithCancel(f.t.Context())
	done := make(chan []string)
	go func() {
		var most []string
		tick := time.NewTicker(3 * time.Millisecond)
		defer tick.Stop()
		for ; ctx.Err() == nil; <-tick.C {
			var doc struct {
				Services []struct {
					Name string
					InLB bool `json:"in_lb"`
				}
			}
			req, _ := http.NewRequestWithContext(ctx, http.MethodGet, f.base+"/lb", nil)
			req.Header.Set("User-Agent", "fleet-prober")
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				continue
			}
			err = json.NewDecoder(resp.Body).Decode(&doc)
			resp.Body.Close()
			if err != nil {
				continue
			}
			var out []string
			for _, s := range doc.Services {
				if !s.InLB {
					out = append(out, s.Name)
				}
			}
			if len(out) > len(most) {
				most = out
			}
		}
		done <- most
	}()
	return func() []string {
		cancel()
		return <-done
	}
}

func (f *fleet) acts() []accesslog.Entry {
	f.t.Helper()
	file, err := os.Open(f.log)
	if err != nil {
		f.t.Fatal(err)
	}
	defer file.Close()
	all, err := accesslog.Read(file)
	if err != nil {
		f.t.Fatal(err)
	}
	var acts []accesslog.Entry
	for _, e := range all {
		if e.Kind == accesslog.Act {
			acts = append(acts, e)
		}
	}
	return acts
}

// everyEffectOnce holds the balancer's own log to it: what two plans of eight
// steps have in common was done by one of them.
func (f *fleet) everyEffectOnce() {
	f.t.Helper()
	did := map[string]int{}
	runs := map[string]bool{}
	for _, e := range f.acts() {
		if e.Status == http.StatusOK {
			did[e.Method+" "+e.Path]++
			runs[e.Run] = true
		}
	}
	for what, n := range did {
		if n != 1 {
			f.t.Errorf("%s was done %d times", what, n)
		}
	}
	for _, what := range []string{
		"POST /services/api/drain", "POST /services/api/restart", "POST /services/api/add",
		"POST /services/db/drain", "POST /services/db/revert", "POST /services/db/add", "POST /lock/db", "DELETE /lock/db",
	} {
		if did[what] == 0 {
			f.t.Errorf("%s was not done", what)
		}
	}
	f.t.Logf("%d acts by %d runs", len(did), len(runs))
}

func (f *fleet) healthy() {
	f.t.Helper()
	var doc struct {
		Services []struct {
			Name, Version, Memory string
			InLB                  bool `json:"in_lb"`
			Healthy               bool
			Wanted                string `json:"wanted_version"`
		}
	}
	if err := json.Unmarshal(f.get("/services"), &doc); err != nil {
		f.t.Fatal(err)
	}
	if len(doc.Services) == 0 {
		f.t.Error("the fleet names no service")
	}
	for _, s := range doc.Services {
		if !s.InLB || !s.Healthy || s.Memory != "ok" || s.Version != s.Wanted {
			f.t.Errorf("service not mended: %+v", s)
		}
	}
}
