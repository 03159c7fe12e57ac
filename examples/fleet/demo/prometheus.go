package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	fleetInConfig   = "127.0.0.1:7000"  // What the configuration beside the model calls the fleet.
	prometheusReady = 20 * time.Second  // From its start to the first sample of every target.
	portAttempts    = 3                 // Another process may take a free port first.
	slowRunWithin   = 100 * time.Second // Each act waits for scrapes.
)

// seenBroken holds once Prometheus has seen the first two failures.
const seenBroken = `service_leaking == 1 and on () count(fleet_deployed_info{version="v41"}) == 1`

// runLimit is from the start to fettle's end.
func (o options) runLimit() time.Duration {
	if o.prometheus != "" {
		return slowRunWithin
	}
	return runWithin
}

// startPrometheus starts the Prometheus through which fettle is to see the
// fleet, with data of its own, and returns when every target was scraped.
func (st *stage) startPrometheus(ctx context.Context) error {
	program, err := exec.LookPath(st.prometheus)
	if err != nil {
		return fmt.Errorf("there is no Prometheus to look through; on Debian: apt-get install prometheus: %w", err)
	}
	text, err := os.ReadFile(filepath.Join(st.model, "prometheus.yml"))
	if err != nil {
		return fmt.Errorf("configure Prometheus: %w", err)
	}
	config := filepath.Join(st.dir, "prometheus.yml")
	fleet := strings.TrimPrefix(st.fleet.base, "http://")
	if err := os.WriteFile(config, []byte(strings.ReplaceAll(string(text), fleetInConfig, fleet)), 0o600); err != nil {
		return fmt.Errorf("configure Prometheus: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, prometheusReady)
	defer cancel()
	for range portAttempts {
		err = st.tryPrometheus(ctx, program, config)
		if !errors.Is(err, errEnded) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("start Prometheus: %w", err)
	}
	return st.awaitSeries(ctx, `count(fleet_in_lb) == 4 and count(service_up == 1) == 4 and count(up == 1) == 5`)
}

var errEnded = errors.New("it ended at once")

// tryPrometheus starts a Prometheus on a port that was free a moment ago.
func (st *stage) tryPrometheus(ctx context.Context, program, config string) error {
	address, err := freeAddress()
	if err != nil {
		return err
	}
	logFile, err := os.OpenFile(filepath.Join(st.dir, "prometheus.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer logFile.Close()
	cmd := exec.Command(program, "--config.file", config, "--storage.tsdb.path", filepath.Join(st.dir, "prometheus"),
		"--web.listen-address", address)
	cmd.Stdout, cmd.Stderr = logFile, logFile
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	p := &scraper{cmd: cmd, base: "http://" + address, ended: make(chan struct{})}
	go func() {
		_ = cmd.Wait()
		close(p.ended)
	}()
	st.groups = append(st.groups, cmd.Process.Pid)
	st.prom = p
	return poll(ctx, prometheusReady, func() (bool, error) {
		select {
		case <-p.ended:
			return false, fmt.Errorf("%w, see %s: %s", errEnded, logFile.Name(), lastLine(logFile.Name()))
		default:
			return p.ready(ctx), nil
		}
	})
}

func lastLine(file string) string {
	text, _ := os.ReadFile(file)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	return l.Addr().String(), l.Close()
}

// scraper is the running Prometheus.
type scraper struct {
	cmd   *exec.Cmd
	base  string
	ended chan struct{} // Closed when it has been reaped.
}

func (p *scraper) ready(ctx context.Context) bool {
	resp, err := p.get(ctx, "/-/ready")
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

func (p *scraper) get(ctx context.Context, path string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.base+path, nil)
	if err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(req)
}

// holds tells whether a query has a result.
func (p *scraper) holds(ctx context.Context, query string) bool {
	resp, err := p.get(ctx, "/api/v1/query?query="+url.QueryEscape(query))
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	var body struct {
		Data struct{ Result []json.RawMessage }
	}
	return json.NewDecoder(resp.Body).Decode(&body) == nil && len(body.Data.Result) > 0
}

// awaitSeries waits until a query has a result.
func (st *stage) awaitSeries(ctx context.Context, query string) error {
	err := poll(ctx, prometheusReady, func() (bool, error) { return st.prom.holds(ctx, query), nil })
	if err != nil {
		return fmt.Errorf("wait until Prometheus has seen %s: %w", query, err)
	}
	return nil
}

// end asks Prometheus to end, kills it where it is late, and waits for it.
func (p *scraper) end() {
	stopKill := endGroup(p.cmd)
	<-p.ended
	stopKill()
}
