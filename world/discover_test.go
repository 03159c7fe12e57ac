package world

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/fettleops/fettle/model"
)

// found writes what was discovered of each type as one line: type = names, and
// in brackets why there may be more, in braces what the answer said.
func found(fs []Found) string {
	var b strings.Builder
	for _, f := range fs {
		quoted := make([]string, len(f.Objects))
		for i, o := range f.Objects {
			quoted[i] = model.Quote(o)
		}
		fmt.Fprintf(&b, "%s = %s", f.Type.Name, strings.Join(quoted, ", "))
		if f.Err != "" {
			fmt.Fprintf(&b, " [%s]", f.Err)
		}
		if f.Note != "" {
			fmt.Fprintf(&b, " {%s}", f.Note)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestObjectsAreDiscoveredByAProgram(t *testing.T) {
	const body, names = "items = \"body\"\nobject = \"id\"", "items = \"filter(split(stdout, '\\\\n'), # != '')\"\nobject = \"item\""
	for _, c := range []struct{ name, role, args, rest, want string }{
		{"JSON", "print", `"[{\"id\":\"n2\"},{\"id\":\"n1\"}]"`, body, "n1, n2"},
		{"lines of text", "print", `"n2\nn1\n"`, names, "n1, n2"},
		{"numbers", "print", `"[{\"id\":7},{\"id\":\"a\"}]"`, body, "7, a"},
		{"hostile names", "print", `"[\"$(id)\",\"-rf\",\"a\\nb\",\"a'b\\\"\",\"../x?y#z\",\"é\"]"`, "items = \"body\"\nobject = \"item\"", `'$(id)', '-rf', '../x?y#z', 'a\nb', 'a\'b"', 'é'`},
		{"duplicates are counted", "print", `"[{\"id\":\"n1\"},{\"id\":\"n2\"},{\"id\":\"n1\"}]"`, body, "n1, n2 {1 of 3 are duplicates}"},
		{"an item without a name", "print", `"[{\"id\":\"n1\"},{\"x\":1},{\"id\":null}]"`, body, "n1 [2 of 3 do not name an object: the answer has no id]"},
		{"an empty name", "print", `"[{\"id\":\"\"}]"`, body, " [1 of 1 do not name an object: the name is empty]"},
		{"a NUL", "print", `"[{\"id\":\"a\\u0000b\"}]"`, body, ` [1 of 1 do not name an object: the name "a\x00b" has a NUL]`},
		{"a long name", "print", `"[\"` + strings.Repeat("x", 257) + `\"]"`, "items = \"body\"\nobject = \"item\"", ` [1 of 1 do not name an object: the name "` + strings.Repeat("x", 60) + `"… is longer than 256 bytes]`},
		{"none", "print", `"[]"`, body, " [no node was found; where that is as it may be, say allow_empty = true]"},
		{"none, as it may be", "print", `"[]"`, body + "\nallow_empty = true", ""},
		{"no list", "print", `"{}"`, body, " [items wants a list, got an object with fields]"},
		{"no JSON", "print", `"oops"`, body, " [the answer is not JSON: oops]"},
		{"failing program", "exit", `"3", "[]"`, body, " [exit status 3]"},
		{"not in time", "hang", ``, body + "\ntimeout = \"100ms\"", " [no answer within 100ms]"},
		{"not there", "print", `"[]"`, body + "\ndir = \"nowhere\"", " [not started: "},
		{"too much", "flood", `"2000000"`, body, " [the output is larger than 1024 KiB]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newTestModel(t).withSelf(t)
			w := m.mustCompile(t, `type "node" {
				discover "exec" {
					command = `+strings.TrimSuffix("[var.self, "+c.args, ", ")+`]
					env     = { WORLD_TEST_ROLE = "`+c.role+`" }
					`+c.rest+`
				}
			}`)
			got := strings.TrimSuffix(found(w.Discover(t.Context())), "\n")
			want := "node = " + c.want
			if strings.HasSuffix(want, ": ") { // What the system says follows.
				got = got[:min(len(got), len(want))]
			}
			if got != want {
				t.Errorf("got %s want %s", got, want)
			}
		})
	}
}

func discoverHTTP(more string) string {
	return "type \"node\" {\n discover \"http\" {\n url = \"${var.at}/nodes\"\n items = \"body.nodes\"\n object = \"name\"\n" + more + "\n }\n}\n"
}

func TestObjectsAreDiscoveredByARequest(t *testing.T) {
	for _, c := range []struct {
		name, answer, more, want string
		status                   int
	}{
		{"a list", `{"nodes": [{"name": "n2"}, {"name": "n1"}]}`, "", "node = n1, n2", 200},
		{"a failure is no answer", `{"nodes": []}`, "allow_empty = true", "node =  [HTTP 503 Service Unavailable]", 503},
		{"nor is one whose list is empty", `{"nodes": []}`, "", "node =  [HTTP 500 Internal Server Error]", 500},
		{"a page", `<html>`, "", "node =  [the answer is not JSON (text/html; charset=utf-8): <html>]", 200},
		{"a key twice", `{"nodes": [], "nodes": [{"name": "n1"}]}`, "", `node =  [the answer gives the key "nodes" twice]`, 200},
		{"a redirect to elsewhere", ``, "", "node =  [HTTP 302 Found (redirect not followed)]", 302},
		{"half a list", `{"nodes": [{"name": "n1"}`, "", `node =  [the answer is not JSON (text/plain; charset=utf-8): {"nodes": [{"name": "n1"}]`, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newTestModel(t)
			log := m.serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "http://elsewhere.invalid/")
				w.WriteHeader(c.status)
				fmt.Fprint(w, c.answer)
			})
			got := strings.TrimSuffix(found(m.mustCompile(t, discoverHTTP(c.more)).Discover(t.Context())), "\n")
			if got != c.want {
				t.Errorf("got %s want %s", got, c.want)
			}
			same(t, log.lines(), "GET /nodes")
		})
	}
}

func TestDiscoveryOfAServerThatIsDownSaysSo(t *testing.T) {
	m := newTestModel(t)
	m.vars["at"] = cty.StringVal(refusedAddress(t))
	same(t, found(m.mustCompile(t, discoverHTTP("")).Discover(t.Context())), "node =  [connection refused]")
}

func TestDiscoveryThatIsInterruptedFoundNothing(t *testing.T) {
	m := newTestModel(t)
	asked := make(chan struct{})
	m.serve(t, func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	})
	w := m.mustCompile(t, discoverHTTP(""))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	same(t, found(w.Discover(ctx)), "node =  [interrupted: context canceled]")
}

func TestSecretsOfDiscoveryAreNotShown(t *testing.T) {
	m := newTestModel(t)
	m.secrets = []string{"hunter2hunter2"}
	m.serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Header.Get("X-Token"), " hunter2hunter2")
	})
	fs := m.mustCompile(t, discoverHTTP(`headers = { X-Token = "opensesame" }`)).Discover(t.Context())
	same(t, found(fs), "node =  [the answer is not JSON (text/plain; charset=utf-8): [redacted] (sensitive)]")
}

func discoverSeries(query, object string) string {
	return fmt.Sprintf("type \"node\" {\n discover \"prometheus\" {\n address = var.at\n query = %q\n object = %q\n }\n}\n", query, object)
}

func TestObjectsAreDiscoveredInSeries(t *testing.T) {
	m := newTestModel(t)
	log := m.servePrometheus(t, map[string]func() promAnswer{
		"up": fixed("node=n2,job=a 1", "node=n1,job=a NaN", "node=n1,job=b 0"),
		"partial": func() promAnswer {
			return promAnswer{series: []string{"node=n1 1"}, warnings: []string{"a store is down"}}
		},
		"strange": fixed("node=n1 1", "job=b 1"),
		"none":    fixed(),
		"one":     func() promAnswer { return promAnswer{scalar: "1"} },
	})
	for _, c := range []struct{ query, want string }{
		{"up", "node = n1, n2 {1 of 3 are duplicates}"},
		{"partial", "node = n1 [the answer may not be whole: a store is down] {warning: a store is down}"},
		{"strange", "node = n1 [1 of 2 do not name an object: the answer has no labels.node]"},
		{"none", "node =  [no node was found; where that is as it may be, say allow_empty = true]"},
		{"one", "node =  [1 of 1 do not name an object: the answer has no labels.node]"},
		{"bad", "node =  [Prometheus says bad_data: no answer to bad]"},
	} {
		same(t, found(m.mustCompile(t, discoverSeries(c.query, "labels.node")).Discover(t.Context())), c.want)
	}
	same(t, log.lines(), strings.TrimSpace(strings.Repeat("POST /api/v1/query\n", 6)))
}

func TestTypesAreDiscoveredSideBySide(t *testing.T) {
	m := newTestModel(t)
	var asked atomic.Int32
	both := make(chan struct{})
	m.serve(t, func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 2 {
			close(both)
		}
		select { // Neither is answered before both are asked.
		case <-both:
		case <-r.Context().Done():
			return
		}
		fmt.Fprintf(w, `{"nodes": [{"name": %q}]}`, r.URL.Path)
	})
	w := m.mustCompile(t, discoverHTTP("")+strings.NewReplacer(`"node"`, `"service"`, "/nodes", "/services").Replace(discoverHTTP("")))
	same(t, found(w.Discover(t.Context())), "service = '/services'\nnode = '/nodes'")
}

func TestTenThousandObjectsAreOneRequest(t *testing.T) {
	const n = 10_000
	m := newTestModel(t)
	var series []string
	for i := range n {
		series = append(series, fmt.Sprintf("node=n%05d,job=x 1", i))
	}
	log := m.servePrometheus(t, map[string]func() promAnswer{"up": fixed(series...)})
	f := m.mustCompile(t, discoverSeries("up", "labels.node")).Discover(t.Context())[0]
	if len(f.Objects) != n || f.Objects[0] != "n00000" || f.Objects[n-1] != "n09999" || f.Err != "" {
		t.Fatalf("%d objects, %s", len(f.Objects), f.Err)
	}
	same(t, log.lines(), "POST /api/v1/query")
}

func TestMoreObjectsThanAModelCanHaveAreNone(t *testing.T) {
	m := newTestModel(t)
	m.serve(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"nodes": [`)
		for i := range maxObjects {
			fmt.Fprintf(w, `%d,`, i)
		}
		fmt.Fprint(w, `"x"]}`)
	})
	w := m.mustCompile(t, strings.Replace(discoverHTTP(""), `object = "name"`, `object = "item"`, 1))
	same(t, found(w.Discover(t.Context())), "node =  [it gives more than 50000 objects]")
}

func TestARealPrometheusTellsWhichObjectsThereAre(t *testing.T) {
	m := newTestModel(t)
	target := &exporter{}
	target.set(false, `node_up{node="n1"} 1`, `node_up{node="n2"} 0`)
	m.startPrometheus(t, target)
	w := m.mustCompile(t, discoverSeries("node_up", "labels.node"))
	await := func(want string) {
		t.Helper()
		limit := time.After(30 * time.Second)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for got := ""; got != want; got = strings.TrimSpace(found(w.Discover(t.Context()))) {
			select {
			case <-limit:
				t.Fatalf("got %s, want %s", got, want)
			case <-tick.C:
			}
		}
	}
	await("node = n1, n2")
	target.set(false, `node_up{node="n1"} 1`, `node_up{node="n3"} 1`)
	await("node = n1, n3")
	target.set(true)
	await("node =  [no node was found; where that is as it may be, say allow_empty = true]")
}
