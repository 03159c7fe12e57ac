package server

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.uber.org/goleak"

	"github.com/fettleops/fettle/journal"
)

var update = flag.Bool("update", false, "rewrite the expected exposition")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recordings are runs of the executor's own, by the name of their file.
func recordings(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	return files
}

// recorded reads the events of one recording.
func recorded(t testing.TB, file string) []journal.Event {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return events(t, raw)
}

func events(t testing.TB, lines []byte) []journal.Event {
	t.Helper()
	var out []journal.Event
	sc := bufio.NewScanner(bytes.NewReader(lines))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var e journal.Event
		if err := json.Unmarshal(sc.Bytes(), &e); err != nil {
			t.Fatalf("%v: %s", err, sc.Bytes())
		}
		out = append(out, e)
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// rig is metrics in a registry of their own.
type rig struct {
	testing.TB
	*Metrics
	reg *prometheus.Registry
}

func newRig(t testing.TB) *rig {
	reg := prometheus.NewPedanticRegistry()
	return &rig{TB: t, Metrics: NewMetrics(reg), reg: reg}
}

func (r *rig) fold(all []journal.Event) {
	for _, e := range all {
		r.Event(e)
	}
}

func (r *rig) families() []*dto.MetricFamily {
	r.Helper()
	mfs, err := r.reg.Gather()
	if err != nil {
		r.Fatal(err)
	}
	return mfs
}

// value returns a counter, a gauge or a histogram's count, 0 where there is no
// such series; labels are names and values in turn.
func (r *rig) value(name string, labels ...string) float64 {
	r.Helper()
	for _, mf := range r.families() {
		for _, m := range mf.GetMetric() {
			if mf.GetName() == name && labelled(m, labels) {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return 0
}

// labelled tells whether a series has these labels and no others.
func labelled(m *dto.Metric, labels []string) bool {
	has := map[string]string{}
	for _, l := range m.GetLabel() {
		has[l.GetName()] = l.GetValue()
	}
	for i := 0; i < len(labels); i += 2 {
		if v, ok := has[labels[i]]; !ok || v != labels[i+1] {
			return false
		}
	}
	return len(has) == len(labels)/2
}
