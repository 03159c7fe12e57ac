package world

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/fettleops/fettle/model"
)

// promAnswer is what the API answers to an instant query. Series are written
// as label pairs and a value, "s=api,name=x 3".
type promAnswer struct {
	series   []string
	warnings []string
	infos    []string
	scalar   string
	at       time.Time // of the evaluation; now where not given
}

func (a promAnswer) write(w io.Writer) {
	at := a.at
	if at.IsZero() {
		at = time.Now()
	}
	stamp := float64(at.UnixMilli()) / 1000
	type element struct {
		Metric map[string]string `json:"metric"`
		Value  [2]any            `json:"value"`
	}
	result := any([2]any{stamp, a.scalar})
	kind := "scalar"
	if a.scalar == "" {
		kind = "vector"
		list := []element{}
		for _, s := range a.series {
			labels, value, _ := strings.Cut(s, " ")
			e := element{Metric: map[string]string{}, Value: [2]any{stamp, value}}
			for _, pair := range strings.Split(labels, ",") {
				if k, v, ok := strings.Cut(pair, "="); ok {
					e.Metric[k] = v
				}
			}
			list = append(list, e)
		}
		result = list
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"status": "success", "data": map[string]any{"resultType": kind, "result": result}, "warnings": a.warnings, "infos": a.infos,
	})
}

// marked makes of series the two halves of an answer with times, each sampled
// so long before the evaluation.
func marked(at time.Time, age time.Duration, series ...string) promAnswer {
	out := promAnswer{at: at}
	for _, s := range series {
		labels, value, _ := strings.Cut(s, " ")
		stamp := strconv.FormatFloat(float64(at.Add(-age).UnixMilli())/1000, 'f', 3, 64)
		out.series = append(out.series, mark+"=value,__name__=m,"+labels+" "+value, mark+"=time,"+labels+" "+stamp)
	}
	return out
}

// servePrometheus serves answers by query.
func (m *testModel) servePrometheus(t *testing.T, answers map[string]func() promAnswer) *requests {
	t.Helper()
	log := &requests{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		log.add(r, r.Form.Get("query"))
		a, ok := answers[r.Form.Get("query")]
		if !ok || r.URL.Path != "/api/v1/query" {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprintf(w, `{"status":"error","errorType":"bad_data","error":"no answer to %s"}`, url.QueryEscape(r.Form.Get("query")))
			return
		}
		a().write(w)
	}))
	t.Cleanup(s.Close)
	m.vars["at"] = cty.StringVal(s.URL)
	return log
}

func fixed(series ...string) func() promAnswer {
	return func() promAnswer { return promAnswer{series: series} }
}

// prometheusBody is an observe block at var.at with more attributes.
func prometheusBody(fluent, query, value string, more ...string) string {
	labels := `labels = { s = "service" }`
	if fluent == "open" {
		labels = ""
	}
	return fmt.Sprintf("fluent %q {\n observe \"prometheus\" {\n address = var.at\n query = %q\n value = %q\n %s\n %s\n }\n}\n",
		fluent, query, value, labels, strings.Join(more, "\n"))
}

func TestOneQueryServesAllObjects(t *testing.T) {
	m := newTestModel(t)
	log := m.servePrometheus(t, map[string]func() promAnswer{
		"sum by (service) (up)": fixed("service=api 1", "service=db 0", "service=ghost 1", "other=x 1", "service="+hostile+" NaN"),
		"info > 0":              fixed("service=api,version=v40 1", "service=db,version= 1"),
	})
	w, diags := m.compile(t, t.TempDir(), prometheusBody("up", "sum by (service) (up)", "value > 0")+
		prometheusBody("replicas", "sum by (service) (up)", "value", "absent = 7")+
		prometheusBody("version", "info > 0", "labels.version"))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	same(t, m.observe(t, w, "up", "replicas('-rf')", "replicas(api)", "version(api)", "version(db)"), `
up(api) = true {value = 1; 2 series ignored, for example: no service is named "ghost"}
up(db) = false {value = 0; 2 series ignored, for example: no service is named "ghost"}
up('../admin?x=1#é\'') = unknown [the sample is NaN] {2 series ignored, for example: no service is named "ghost"}
up('-rf') = unknown [no series is about up('-rf')] {2 series ignored, for example: no service is named "ghost"}
replicas('-rf') = 7 {no series is about replicas('-rf'); 2 series ignored, for example: no service is named "ghost"}
replicas(api) = 1 {value = 1; 2 series ignored, for example: no service is named "ghost"}
version(api) = 'v40' {labels.version = "v40"}
version(db) = '' {labels.version = ""}`)
	same(t, log.lines(), "POST /api/v1/query\nPOST /api/v1/query")
}

func TestSeveralSeriesOfOneObjectAreReducedOrAnError(t *testing.T) {
	const (
		nan  = "service=api,i=1 NaN"
		one  = "service=api,i=1,zone=a 1"
		four = "service=api,i=2,zone=a 4"
		zero = "service=api,i=3,zone=b 0"
	)
	for _, c := range []struct {
		fluent, reduce, value string
		series                []string
		want                  string
	}{
		{"replicas", "", "value", []string{one, four}, "unknown [2 series are about replicas(api); say with reduce how they become one]"},
		{"replicas", "min", "value", []string{one, four}, "1 {value = 1}"},
		{"replicas", "max", "value", []string{one, four}, "4 {value = 4}"},
		{"replicas", "sum", "value", []string{one, four, zero}, "5 {value = 5}"},
		{"replicas", "avg", "value", []string{one, four, zero, four}, "2.25 {value = 2.25}"},
		{"replicas", "count", "value", []string{one, nan}, "2 {value = 2}"},
		{"replicas", "sum", "value", []string{one, nan}, "unknown [the sample is NaN]"},
		{"replicas", "sum", "value", []string{"service=api,i=1 +Inf", "service=api,i=2 -Inf"}, "unknown [the combined samples are NaN]"},
		{"replicas", "max", "value", []string{"service=api +Inf"}, "unknown [the value is no finite number] {value = +Inf}"},
		{"up", "max", "value > 3", []string{"service=api +Inf"}, "true {value = +Inf}"},
		{"version", "max", "labels.zone", []string{one, four}, `'a' {labels.zone = "a"}`},
		{"version", "max", "labels.zone", []string{one, zero}, "unknown [the answer has no labels.zone]"},
		{"up", "any", "value > 3", []string{one, nan, four}, "true {value = 4}"},
		{"up", "any", "value > 4", []string{one, nan}, "unknown [the sample is NaN]"},
		{"up", "any", "value > 4", []string{one, four}, "false {value = 4}"},
		{"up", "all", "value > 0", []string{one, nan, zero}, "false {value = 0}"},
		{"up", "all", "value > 0", []string{one, nan}, "unknown [the sample is NaN]"},
		{"up", "all", "value > 0", []string{one, four}, "true {value = 4}"},
		{"up", "all", "labels.zone == 'a'", []string{one, "service=api,i=7 1"}, "unknown [the answer has no labels.zone]"},
	} {
		m := newTestModel(t)
		m.servePrometheus(t, map[string]func() promAnswer{"q()": fixed(c.series...)})
		more := ""
		if c.reduce != "" {
			more = fmt.Sprintf("reduce = %q", c.reduce)
		}
		w, diags := m.compile(t, t.TempDir(), prometheusBody(c.fluent, "q()", c.value, more))
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		same(t, m.observe(t, w, c.fluent+"(api)"), c.fluent+"(api) = "+c.want)
	}
}

func TestAQueryWithoutParametersAndAScalar(t *testing.T) {
	m := newTestModel(t)
	m.servePrometheus(t, map[string]func() promAnswer{
		"sum(x)":         fixed("{} 2"),
		"scalar(sum(x))": func() promAnswer { return promAnswer{scalar: "0"} },
		"nothing()":      fixed(),
		"many()":         fixed("a=1 1", "a=2 1"),
	})
	for query, want := range map[string]string{
		"sum(x)":         "open = true {value = 2}",
		"scalar(sum(x))": "open = false {value = 0}",
		"nothing()":      "open = unknown [no series is about open]",
		"many()":         "open = unknown [2 series are about open; say with reduce how they become one]",
	} {
		same(t, m.observe(t, m.mustCompile(t, prometheusBody("open", query, "value > 0")), "open"), want)
	}
}

func TestWarningsAreKeptAndMakeAbsenceUnknown(t *testing.T) {
	m := newTestModel(t)
	m.servePrometheus(t, map[string]func() promAnswer{
		timed("m"): func() promAnswer {
			a := marked(time.Now(), time.Second, "service=api,i=1 1", "service=db,i=1 0")
			a.warnings, a.infos = []string{"store-2 timed out"}, []string{"not a counter"}
			return a
		},
	})
	body := prometheusBody("up", "m", "value > 0", "absent = false")
	body += prometheusBody("in_lb", "m", "value > 0", `reduce = "any"`) + prometheusBody("replicas", "m", "value", `reduce = "sum"`)
	w, _ := m.compile(t, t.TempDir(), body)
	same(t, m.observe(t, w, "up(api)", "up('-rf')", "in_lb(api)", "in_lb(db)", "replicas(api)"), `
up(api) = true {value = 1; warning: store-2 timed out; info: not a counter}
up('-rf') = unknown [no series is about up('-rf'), but the answer may not be whole: store-2 timed out] {warning: store-2 timed out; info: not a counter}
in_lb(api) = true {value = 1; warning: store-2 timed out; info: not a counter}
in_lb(db) = unknown [the answer may not be whole: store-2 timed out] {warning: store-2 timed out; info: not a counter}
replicas(api) = unknown [the answer may not be whole: store-2 timed out] {warning: store-2 timed out; info: not a counter}`)
}

// A sum over what one store did not tell is another sum.
func TestAWarningMakesUnknownWhatIsMadeOfSeveralSeries(t *testing.T) {
	for _, c := range []struct{ query, warning, reduce, want string }{
		{"sum by (service) (m)", "store-2 timed out", "", "unknown [the answer may not be whole: store-2 timed out] {warning: store-2 timed out}"},
		{"m > 0", "store-2 timed out", "any", "unknown [the answer may not be whole: store-2 timed out] {warning: store-2 timed out}"},
		{"sum by (service) (m)", "", "", "true {value = 1}"},
		{"rate(m[1m])", "PromQL info: metric might not be a counter", "", "true {value = 1; info: metric might not be a counter}"},
		{"rate(m[1m])", "PromQL warning: a mix of histograms", "", "unknown [the answer may not be whole: PromQL warning: a mix of histograms] {warning: PromQL warning: a mix of histograms}"},
	} {
		m := newTestModel(t)
		m.servePrometheus(t, map[string]func() promAnswer{c.query: func() promAnswer {
			a := promAnswer{series: []string{"service=api 1"}}
			if c.warning != "" {
				a.warnings = []string{c.warning}
			}
			return a
		}})
		more := ""
		if c.reduce != "" {
			more = fmt.Sprintf("reduce = %q", c.reduce)
		}
		w, diags := m.compile(t, t.TempDir(), prometheusBody("up", c.query, "value > 0", more)) // It warns that no effect is ever confirmed.
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		same(t, m.observe(t, w, "up(api)"), "up(api) = "+c.want)
	}
}

func TestASourceTellsWhichPrometheusWasAskedAndNoCredentials(t *testing.T) {
	m := newTestModel(t)
	m.servePrometheus(t, map[string]func() promAnswer{"q()": fixed("node=n1 1")})
	bare := m.vars["at"].AsString()
	m.vars["at"] = cty.StringVal(strings.Replace(bare, "http://", "http://joe:hunter2hunter2@", 1) + "/?token=opensesame")
	w := m.mustCompile(t, prometheusBody("open", "q()", "value > 0")+discoverSeries("q()", "labels.node"))
	for _, s := range []Source{w.Observe(t.Context(), m.u, m.refs(t, "open"), time.Time{})[0].Source, w.Discover(t.Context())[0].Source} {
		if s != (Source{Kind: "prometheus", Query: "q()", Server: bare + "/"}) {
			t.Errorf("got %+v", s)
		}
	}
}

func TestServersThatDoNotAnswerGiveUnknownWithAReason(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	huge := strings.Repeat("x", 1<<20)
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"422": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = io.WriteString(w, `{"status":"error","errorType":"execution","error":"found duplicate series"}`)
		}, "Prometheus says execution: found duplicate series"},
		"400": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"status":"error","errorType":"bad_data","error":"1:3: parse error"}`)
		}, "Prometheus says bad_data: 1:3: parse error"},
		"503": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, "Service\nUnavailable")
		}, "server error: 503: Service Unavailable"},
		"error with 200": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"status":"error","errorType":"timeout","error":"query timed out"}`)
		}, "Prometheus says timeout: query timed out"},
		"html": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, "this is not how Prometheus answers: invalid character '<' looking for beginning of value"},
		"redirect elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		}, "this is not how Prometheus answers: bad response code 302"},
		"range": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"status":"success","data":{"resultType":"matrix","result":[]}}`)
		}, "the query gives a matrix, and a value for each series is wanted"},
		"slow": {func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}, "no answer within 200ms"},
		"closed": {func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }, "the connection was closed without an answer"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newTestModel(t)
			m.serve(t, c.answer)
			w := m.mustCompile(t, prometheusBody("open", "q()", "value > 0", `timeout = "200ms"`, "absent = false"))
			same(t, m.observe(t, w, "open"), "open = unknown ["+c.want+"]")
		})
	}
	t.Run("huge", func(t *testing.T) {
		m := newTestModel(t)
		m.serve(t, func(w http.ResponseWriter, _ *http.Request) {
			for range 1 << 10 {
				if _, err := io.WriteString(w, huge); err != nil {
					return
				}
			}
		})
		w := m.mustCompile(t, prometheusBody("open", "q()", "value > 0", `timeout = "1m"`))
		same(t, m.observe(t, w, "open"), "open = unknown [the answer is larger than 32 MiB]")
	})
	t.Run("refused", func(t *testing.T) {
		m := newTestModel(t)
		m.vars["at"] = cty.StringVal(refusedAddress(t))
		w := m.mustCompile(t, prometheusBody("open", "q()", "value > 0", "absent = false"))
		same(t, m.observe(t, w, "open"), "open = unknown [connection refused]")
	})
	t.Run("freshness", func(t *testing.T) {
		m := newTestModel(t)
		m.servePrometheus(t, map[string]func() promAnswer{"q()": fixed("{} 1")})
		w := m.mustCompile(t, prometheusBody("open", "q()", "value > 0", `freshness = "f"`))
		same(t, m.observe(t, w, "open"), "open = unknown [freshness: Prometheus says bad_data: no answer to f]")
	})
}

func TestTheEndOfTheContextIsNoAnswerOfPrometheus(t *testing.T) {
	m := newTestModel(t)
	asked := make(chan struct{}, 10)
	m.serve(t, func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	})
	w := m.mustCompile(t, prometheusBody("open", "q()", "value > 0", "absent = false"))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	same(t, m.show(w.Observe(ctx, m.u, m.refs(t, "open"), time.Time{})), "open = unknown [interrupted: context canceled]")
}

// bigFleet is a model of very many services.
func bigFleet(n int) *testModel {
	mod := model.New()
	service := mod.AddType("service", nil)
	for i := range n {
		service.AddObject(fmt.Sprintf("svc-%d", i))
	}
	mod.AddFluent(&model.Fluent{Name: "up", Kind: model.KindBool, Params: []model.Param{{Name: "s", Type: service}}})
	mod.Link()
	return &testModel{Model: mod, u: model.NewUniverse(mod), vars: map[string]cty.Value{}}
}

func TestTenThousandSeriesAreOneRequest(t *testing.T) {
	const n = 10_000
	m := bigFleet(n)
	var series []string
	for i := range n {
		series = append(series, fmt.Sprintf("service=svc-%d,instance=10.0.0.1:9100,job=node %d", i, i%2))
	}
	log := m.servePrometheus(t, map[string]func() promAnswer{timed("up"): func() promAnswer { return marked(time.Now(), time.Second, series...) }})
	w := m.mustCompile(t, prometheusBody("up", "up", "value > 0", `max_age = "1m"`, `timeout = "1m"`))
	rs := w.Observe(t.Context(), m.u, []model.Ref{{Fluent: m.Fluent("up")}}, time.Now())
	if len(rs) != n {
		t.Fatalf("%d readings", len(rs))
	}
	for i, r := range rs {
		if r.Value != model.BoolValue(i%2 == 1) {
			t.Fatalf("%s", m.show(rs[i:i+1]))
		}
	}
	same(t, log.lines(), "POST /api/v1/query")
}

func BenchmarkTenThousandSeries(b *testing.B) {
	const n = 10_000
	m := bigFleet(n)
	var series []string
	for i := range n {
		series = append(series, fmt.Sprintf("service=svc-%d,instance=10.0.0.1:9100,job=node %d", i, i%2))
	}
	var body strings.Builder
	marked(time.Now(), time.Second, series...).write(&body)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body.String()) }))
	defer s.Close()
	m.vars["at"] = cty.StringVal(s.URL)
	w, diags := m.compileIn(b.TempDir(), prometheusBody("up", "up", "value > 0"))
	if diags.HasErrors() {
		b.Fatal(diags)
	}
	defer w.Close()
	for b.Loop() {
		if rs := w.Observe(b.Context(), m.u, []model.Ref{{Fluent: m.Fluent("up")}}, time.Time{}); len(rs) != n || !rs[n-1].Value.Known() {
			b.Fatalf("%d readings", len(rs))
		}
	}
}
