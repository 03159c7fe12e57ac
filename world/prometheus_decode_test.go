package world

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// vectorOf is a success whose value is a vector of these elements.
func vectorOf(elements string) string {
	return `{"status":"success","data":{"resultType":"vector","result":[` + elements + `]}}`
}

// malformed are answers that a Prometheus does not give, and why they are none.
var malformed = []struct{ body, why string }{
	{``, "unexpected end of JSON input"},
	{`{}`, "it says neither success nor error"},
	{`null`, "it says neither success nor error"},
	{`[]`, "a JSON array"},
	{`"success"`, "a JSON string"},
	{`{"status":null,"data":{"resultType":"vector","result":[]}}`, "it says neither success nor error"},
	{`{"status":1}`, "its status is a JSON number"},
	{`{"status":"success"}`, "it has no data"},
	{`{"status":"success","data":null}`, "it has no data"},
	{`{"status":"success","data":[]}`, "its data is a JSON array"},
	{`{"status":"success","data":{}}`, "it has no result"},
	{`{"status":"success","data":{"resultType":"vector"}}`, "it has no result"},
	{`{"status":"success","data":{"resultType":"vector","result":null}}`, "its result is null"},
	{`{"status":"success","data":{"resultType":"vector","result":{}}}`, "a JSON object"},
	{`{"status":"success","data":{"resultType":"vector","result":[1,"2"]}}`, "a JSON number"},
	{`{"status":"success","data":{"resultType":null,"result":[]}}`, `its result is of type ""`},
	{`{"status":"success","data":{"resultType":"cube","result":[]}}`, `its result is of type "cube"`},
	{`{"status":"success","data":{"resultType":7,"result":[]}}`, "its data.resultType is a JSON number"},
	{`{"status":"success","data":{"resultType":"scalar","result":null}}`, "series 1 of 1 has no value"},
	{`{"status":"success","data":{"resultType":"scalar","result":[]}}`, `a sample is [time, "value"], and this is []`},
	{`{"status":"success","warnings":"x","data":{"resultType":"vector","result":[]}}`, "its warnings is a JSON string"},
	{vectorOf(`null`), "series 1 of 1 is null"},
	{vectorOf(`{}`), "series 1 of 1 has no labels"},
	{vectorOf(`{"metric":{},"value":[1,"1"]},{"metric":null,"value":[1,"1"]}`), "series 2 of 2 has no labels"},
	{vectorOf(`{"metric":[],"value":[1,"1"]}`), "its metric is a JSON array"},
	{vectorOf(`{"metric":{"a":null},"value":[1,"1"]}`), `series 1 of 1 has a label "a" that is null`},
	{vectorOf(`{"metric":{"a":5},"value":[1,"1"]}`), `series 1 of 1 has a label "a" that is 5`},
	{vectorOf(`{"metric":{}}`), "series 1 of 1 has no value"},
	{vectorOf(`{"metric":{},"value":null}`), "series 1 of 1 has no value"},
	{vectorOf(`{"metric":{},"histogram":null}`), "series 1 of 1 has no value"},
	{vectorOf(`{"metric":{},"value":[]}`), `a sample is [time, "value"], and this is []`},
	{vectorOf(`{"metric":{},"value":[1]}`), `a sample is [time, "value"], and this is [1]`},
	{vectorOf(`{"metric":{},"value":[1,null]}`), `a sample is [time, "value"], and this is [1,null]`},
	{vectorOf(`{"metric":{},"value":[1,1]}`), `a sample is [time, "value"], and this is [1,1]`},
	{vectorOf(`{"metric":{},"value":[null,"1"]}`), `a sample is [time, "value"], and this is [null,"1"]`},
	{vectorOf(`{"metric":{},"value":["1","1"]}`), `a sample is [time, "value"], and this is ["1","1"]`},
	{vectorOf(`{"metric":{},"value":[1,"1","2"]}`), `a sample is [time, "value"], and this is [1,"1","2"]`},
	{vectorOf(`{"metric":{},"value":[1,""]}`), `a sample is [time, "value"], and this is [1,""]`},
	{vectorOf(`{"metric":{},"value":[1,"1x"]}`), `a sample is [time, "value"], and this is [1,"1x"]`},
	{vectorOf(`{"metric":{},"value":[1,"1e999"]}`), `a sample is [time, "value"], and this is [1,"1e999"]`},
	{vectorOf(`{"metric":{},"value":{"0":1,"1":"1"}}`), `a sample is [time, "value"], and this is {"0":1,"1":"1"}`},
	{vectorOf(`{"metric":{},"value":"1"}`), `a sample is [time, "value"], and this is "1"`},
}

// What is missing from an answer is no zero, no empty answer, and no absence.
func TestAnswersThatPrometheusDoesNotGiveAreUnknownWithAReason(t *testing.T) {
	m := newTestModel(t)
	body := ""
	m.serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })
	plain := m.mustCompile(t, prometheusBody("open", "q()", "value < 1", "absent = false"))
	timely := m.mustCompile(t, prometheusBody("open", "q()", "value < 1", "absent = false", `freshness = "f()"`))
	found := m.mustCompile(t, discoverSeries("q()", "labels.node")+prometheusBody("open", "m", "value < 1", "absent = false"))
	for _, c := range malformed {
		body = c.body
		want := "this is not how Prometheus answers: " + c.why
		same(t, m.observe(t, plain, "open"), "open = unknown ["+want+"]")
		same(t, m.observe(t, found, "open"), "open = unknown ["+want+"]")
		same(t, m.observe(t, timely, "open"), "open = unknown [freshness: "+want+"]")
		if f := found.Discover(t.Context())[0]; len(f.Objects) > 0 || f.Err != want {
			t.Errorf("%s: found %q: %s, want %s", c.body, f.Objects, f.Err, want)
		}
	}
	for body, want := range map[string]string{
		`{"status":"success","data":{"resultType":"string","result":[1,"x"]}}`:              "the query gives a string, and a value for each series is wanted",
		`{"status":"success","data":{"resultType":"matrix","result":null}}`:                 "the query gives a matrix, and a value for each series is wanted",
		vectorOf(`{"metric":{},"histogram":[1,{"count":"1"}]}`):                             "the sample is a histogram",
		vectorOf(`{"metric":{},"histogram":[1,{}],"value":[1,"1"]}`):                        "the sample is a histogram",
		`{"status":"success","warnings":[null],"data":{"resultType":"vector","result":[]}}`: "no series is about open, but the answer may not be whole: a warning without a text",
	} {
		in, err := readInstant(http.StatusOK, []byte(body))
		got := ""
		switch {
		case err != nil:
			got = err.Error()
		case len(in.vector) == 0:
			got = "no series is about open, but the answer may not be whole: " + in.partial
		default:
			got = in.samples()[0].odd
		}
		same(t, got, want)
	}
}

// Some proxies let nothing through but GET.
func TestAPrometheusThatTakesNoPOSTIsAskedByGET(t *testing.T) {
	m := newTestModel(t)
	log := m.serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		if r.URL.Query().Get("query") == "sum(a + b)" {
			_, _ = io.WriteString(w, vectorOf(`{"metric":{},"value":[1,"1"]}`))
		}
	})
	same(t, m.observe(t, m.mustCompile(t, prometheusBody("open", "sum(a + b)", "value > 0")), "open"), "open = true {value = 1}")
	same(t, log.lines(), "POST /api/v1/query\nGET /api/v1/query?query=sum%28a+%2B+b%29")
}

func TestWhatIsNotToldOfTargetsIsLeftOut(t *testing.T) {
	for body, want := range map[string]string{
		``: "map[]", `null`: "map[]", `{}`: "map[]", `[]`: "map[]", `{"data":null}`: "map[]", `{"data":{"activeTargets":null}}`: "map[]",
		`{"data":{"activeTargets":[null,{},{"labels":null,"scrapeInterval":"1s"},{"labels":{"job":null},"scrapeInterval":"1s"}]}}`: "map[]",
		`{"data":{"activeTargets":[{"labels":{"job":"a"},"scrapeInterval":"15s"},{"labels":{"job":"a"},"scrapeInterval":"1m"}]}}`:  "map[a:1m0s]",
		`{"data":{"activeTargets":[{"labels":{"job":"a"},"scrapeInterval":"200y"},{"labels":{"job":"b"},"scrapeInterval":"x"}]}}`:  "map[]",
		`{"data":{"activeTargets":[{"labels":{"job":"a"},"scrapeInterval":5}]}}`:                                                   "map[]",
	} {
		same(t, fmt.Sprint(readIntervals([]byte(body))), want)
	}
}

// FuzzPrometheus reads what a server answers to a query and of its targets. What
// is taken for an answer must be there as the text has it.
func FuzzPrometheus(f *testing.F) {
	for _, c := range malformed {
		f.Add(200, c.body)
	}
	f.Add(200, vectorOf(`{"metric":{"__name__":"up","__fettle__":"value","a":"b"},"value":[1,"1"]},{"metric":{"__fettle__":"time","a":"b"},"value":[1,"0.5"]}`))
	f.Add(200, vectorOf(`{"metric":{"a":"b"},"value":[1e3,"NaN"]},{"metric":{},"histogram":[1,{}]}`))
	f.Add(200, `{"status":"success","warnings":["w"],"infos":["i"],"data":{"resultType":"scalar","result":[1.5,"+Inf"]}}`)
	f.Add(422, `{"status":"error","errorType":"execution","error":"e"}`)
	f.Add(200, `{"data":{"activeTargets":[{"labels":{"job":"a"},"scrapeInterval":"15s"}]}}`)
	f.Fuzz(func(t *testing.T, code int, body string) {
		for job, every := range readIntervals([]byte(body)) {
			if job == "" || every < 0 || 2*every < every {
				t.Errorf("%q every %s", job, every)
			}
		}
		in, err := readInstant(code, []byte(body))
		if err != nil {
			_ = (&promQuery{}).why(t.Context(), err)
			return
		}
		in.sent = time.Now()
		if _, twice := repeated([]byte(body)); code/100 == 2 && !twice && strings.ToLower(body) == body {
			heldAgainst(t, in, body)
		}
		for _, told := range in.times() {
			if told.taken.at.After(in.sent) {
				t.Errorf("a sample of the future: %s", body)
			}
		}
		for _, s := range in.samples() {
			if s.labels[mark] != nil || s.taken.at.After(in.sent) {
				t.Errorf("%v of %s", s, body)
			}
		}
	})
}

// heldAgainst compares what was read with the JSON as it is.
func heldAgainst(t *testing.T, in *instantAnswer, body string) {
	t.Helper()
	var top struct {
		Status string
		Data   struct {
			ResultType string
			Result     []any
		}
	}
	if err := json.Unmarshal([]byte(body), &top); err != nil || top.Status != "success" {
		t.Fatalf("%v: an answer was read of %s", err, body)
	}
	points := [][]any{top.Data.Result}
	if top.Data.ResultType == "vector" {
		points = nil
		for _, e := range top.Data.Result {
			series := e.(map[string]any)
			point, _ := series["value"].([]any)
			if series["histogram"] != nil {
				point = nil
			}
			points = append(points, point)
		}
	}
	if len(points) != len(in.vector) {
		t.Fatalf("%d series are read of %s", len(in.vector), body)
	}
	for i, p := range points {
		if p == nil {
			if !in.vector[i].isHistogram() {
				t.Errorf("series %d of %s has no value", i, body)
			}
			continue
		}
		v, err := strconv.ParseFloat(p[1].(string), 64)
		if got := in.vector[i].Point; err != nil || got.at != p[0] || got.value != v && !math.IsNaN(v) {
			t.Errorf("series %d of %s: got %v", i, body, got)
		}
	}
}
