package world

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/fettleops/fettle/model"
)

// gigabyte is what a source or an actuator sends that has gone mad.
const gigabyte = 1 << 30

func TestProgramsThatMisbehaveWhereTheyAreAsked(t *testing.T) {
	for _, c := range []struct{ name, role, args, want string }{
		{"not executable", "", "", "unknown [not started: start FOLDER/plain: permission denied]"},
		{"a folder", "folder", "", "unknown [not started: start FOLDER: permission denied]"},
		{"a gigabyte", "gush", fmt.Sprintf(`, "%d"`, gigabyte), "unknown [the output is larger than 1024 KiB]"},
		{"ended by a signal", "signal", "", "unknown [signal: killed]"},
		{"closes stdout early", "close", `, "ok"`, `true {stdout = "ok"}`},
		{"closes stdout and hangs", "close", `, "ok", "hang"`, "unknown [no answer within 300ms]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newTestModel(t).withSelf(t)
			folder := t.TempDir()
			program := "[var.self" + c.args + "]"
			switch c.role {
			case "":
				program = `["./plain"]`
				if err := os.WriteFile(filepath.Join(folder, "plain"), []byte("#!/bin/sh\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			case "folder":
				program = `["./."]`
			}
			timeout := "1m"
			if strings.HasSuffix(c.want, "300ms]") {
				timeout = "300ms"
			}
			w, diags := m.compile(t, folder, `fluent "open" {
				observe "exec" {
					command = `+program+`
					env     = { WORLD_TEST_ROLE = "`+c.role+`" }
					value   = "stdout == 'ok'"
					timeout = "`+timeout+`"
				}
			}`)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			same(t, m.observe(t, w, "open"), "open = "+strings.ReplaceAll(c.want, "FOLDER", folder))
		})
	}
}

func TestProgramsThatMisbehaveWhereTheyAct(t *testing.T) {
	for _, c := range []struct{ name, role, args, want string }{
		{"not executable", "", "", "failed: not started: start FOLDER/plain: permission denied"},
		{"a gigabyte", "gush", fmt.Sprintf(`, "%d"`, gigabyte), "done: exit status 0"},
		{"ended by a signal", "signal", "", "unknown: signal: killed"},
		{"closes stdout early", "close", `, "ok"`, "done: exit status 0"},
		{"closes stdout and hangs", "close", `, "ok", "hang"`, "unknown: timed out after 300ms, killed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newTestModel(t).withSelf(t)
			folder := t.TempDir()
			program := "[var.self" + c.args + "]"
			if c.role == "" {
				program = `["./plain"]`
				if err := os.WriteFile(filepath.Join(folder, "plain"), []byte("#!/bin/sh\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			timeout := "1m"
			if strings.Contains(c.want, "300ms") {
				timeout = "300ms"
			}
			w, diags := m.compile(t, folder, `action "drain" {
				timeout = "`+timeout+`"
				run "exec" {
					command = `+program+`
					env     = { WORLD_TEST_ROLE = "`+c.role+`" }
				}
			}`)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			o := m.act(t.Context(), t, w, "drain", "api")
			same(t, string(o.Status)+": "+o.Message, strings.ReplaceAll(c.want, "FOLDER", folder))
			if len(o.Output) > maxOutput {
				t.Errorf("%d bytes of output are kept", len(o.Output))
			}
		})
	}
}

// A program that a signal ended has no exit code that an expression could judge.
func TestASignalIsNoExitCode(t *testing.T) {
	m := newTestModel(t).withSelf(t)
	for _, value := range []string{"exit_code == 0", "exit_code != 0", "exit_code < 0", "stdout == ''"} {
		w := m.mustCompile(t, `fluent "open" {
			observe "exec" {
				command = [var.self]
				env     = { WORLD_TEST_ROLE = "signal" }
				value   = "`+value+`"
				absent  = false
			}
		}`)
		same(t, m.observe(t, w, "open"), "open = unknown [signal: killed]")
	}
}

// pour sends a gigabyte of nothing, as long as somebody takes it.
func pour(w io.Writer) {
	chunk := make([]byte, 1<<20)
	for range gigabyte / len(chunk) {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

func TestServersThatMisbehave(t *testing.T) {
	m := newTestModel(t)
	release := make(chan struct{})
	m.serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/gigabyte":
			pour(w)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusTemporaryRedirect)
		case "/headers":
			for i := range 100 {
				w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 1<<10))
			}
		case "/page":
			_, _ = io.WriteString(w, "<html>Sign in</html>")
		case "/error":
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, "<html>stack trace</html>")
		case "/never":
			<-release
		}
	})
	t.Cleanup(func() { close(release) })
	m.vars["refused"], m.vars["stranger"] = cty.StringVal(refusedAddress(t)), cty.StringVal(strangerTLS(t))
	const unsigned = "tls: failed to verify certificate: x509: certificate signed by unknown authority"
	for _, c := range []struct{ name, url, observed, acted string }{
		{"refused", "var.refused", "connection refused", "failed: not sent: connection refused"},
		{"500", `"${var.at}/error"`, "HTTP 500 Internal Server Error; the answer is not JSON (text/html; charset=utf-8): <html>stack trace</html>", "failed: HTTP 500 Internal Server Error"},
		{"redirect loop", `"${var.at}/round"`, "HTTP 307 Temporary Redirect (redirect not followed); the answer is not JSON (text/html; charset=utf-8): <a href=\"/round\">Temporary Redirect</a>.", "failed: HTTP 307 Temporary Redirect (redirect not followed)"},
		{"HTML for JSON", `"${var.at}/page"`, "the answer is not JSON (text/html; charset=utf-8): <html>Sign in</html>", "done: HTTP 200 OK"},
		{"a gigabyte", `"${var.at}/gigabyte"`, "the answer is larger than 1024 KiB", "done: HTTP 200 OK"},
		{"endless headers", `"${var.at}/headers"`, "net/http: HTTP/1.x transport connection broken: net/http: server response headers exceeded 65536 bytes; aborted", "unknown: net/http: HTTP/1.x transport connection broken: net/http: server response headers exceeded 65536 bytes; aborted"},
		{"never answers", `"${var.at}/never"`, "no answer within 300ms", "unknown: no whole answer: timed out after 300ms"},
		{"certificate of a stranger", "var.stranger", unsigned, "failed: not sent: " + unsigned},
	} {
		t.Run(c.name, func(t *testing.T) {
			timeout := "1m"
			if c.name == "never answers" {
				timeout = "300ms"
			}
			w := m.mustCompile(t, `fluent "open" {
				observe "http" {
					url     = `+c.url+`
					value   = "body.up"
					timeout = "`+timeout+`"
				}
			}
			action "drain" {
				timeout = "`+timeout+`"
				run "http" { url = `+c.url+` }
			}`)
			same(t, strings.TrimSuffix(strings.SplitAfter(m.observe(t, w, "open"), "]")[0], "]"), "open = unknown ["+c.observed)
			o := m.act(t.Context(), t, w, "drain", "api")
			same(t, string(o.Status)+": "+o.Message, c.acted)
			if len(o.Output) > maxOutput {
				t.Errorf("%d bytes of output are kept", len(o.Output))
			}
		})
	}
}

// Names come from the world, and reach a program as they are or not at all.
func TestNoNameIsReadTwice(t *testing.T) {
	mod := model.New()
	service := mod.AddType("service", nil)
	names := []string{"$(id)", "`id`", "a b", `a"b`, "a'b", "two\nlines", "*", "; true", "${var.self}", "%{ if true }", "-rf", "--", "nul\x00x"}
	for _, n := range names {
		service.AddObject(n)
	}
	p := model.Param{Name: "s", Type: service}
	mod.AddFluent(&model.Fluent{Name: "version", Kind: model.KindString, Params: []model.Param{p}})
	mod.AddAction(&model.Action{Name: "drain", Params: []model.Param{p}, Slots: 1})
	mod.Link()
	m := (&testModel{Model: mod, u: model.NewUniverse(mod), vars: map[string]cty.Value{}}).withSelf(t)
	w := m.mustCompile(t, `fluent "version" {
		observe "exec" {
			command = [var.self, s]
			env     = { WORLD_TEST_ROLE = "print" }
			value   = "stdout"
		}
	}
	action "drain" {
		run "exec" {
			command = [var.self, "--name=${s}", "x"]
			env     = { WORLD_TEST_ROLE = "print" }
		}
	}`)
	readings := w.Observe(t.Context(), m.u, []model.Ref{{Fluent: m.Fluent("version")}}, time.Time{})
	for i, n := range names {
		r := readings[i]
		got, known := r.Value.Text()
		o := m.act(t.Context(), t, w, "drain", n)
		switch {
		case strings.Contains(n, "\x00"):
			if known || !strings.HasPrefix(r.Err, "not started: ") || o.Status != Failed || !strings.HasPrefix(o.Message, "not started: ") {
				t.Errorf("%q: %s; %s: %s", n, r.Err, o.Status, o.Message)
			}
			continue
		case strings.HasPrefix(n, "-"):
			if known || !strings.Contains(r.Err, "would be read as an option") || !strings.HasSuffix(r.Source.Query, " "+n) {
				t.Errorf("%q: %q, %s: %q", n, got, r.Source.Query, r.Err)
			}
			if n == "--" { // Also behind a fixed text, where it could not be told from one.
				continue
			}
		case got != n:
			t.Errorf("%q is observed as %q: %s", n, got, r.Err)
		}
		if want := "--name=" + n + "\nx\n"; o.Status != Done || string(o.Output) != want {
			t.Errorf("%q: %s: %s, %q", n, o.Status, o.Message, o.Output)
		}
	}
}

// crowd is a server that answers nobody until as many are asking as may, and
// counts them.
type crowd struct {
	mu         sync.Mutex
	here, most int
	full       chan struct{}
}

func (c *crowd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	c.here++
	if c.most = max(c.most, c.here); c.here == maxQueries && c.most == maxQueries {
		select {
		case <-c.full:
		default:
			close(c.full)
		}
	}
	c.mu.Unlock()
	select {
	case <-c.full:
	case <-r.Context().Done():
	}
	c.mu.Lock()
	c.here--
	c.mu.Unlock()
	_, _ = io.WriteString(w, "1")
}

func TestSourcesAreAskedSideBySideAndNoMoreThanSixteenAtATime(t *testing.T) {
	m := bigFleet(100)
	c := &crowd{full: make(chan struct{})}
	m.serve(t, c.ServeHTTP)
	w := m.mustCompile(t, `fluent "up" {
		observe "http" {
			url     = "${var.at}/${s}"
			value   = "body == 1"
			timeout = "1m"
		}
	}`)
	for _, r := range w.Observe(t.Context(), m.u, []model.Ref{{Fluent: m.Fluent("up")}}, time.Time{}) {
		if r.Value != model.BoolValue(true) {
			t.Fatal(m.show([]Reading{r}))
		}
	}
	if c.most != maxQueries {
		t.Errorf("%d were asking at a time, want %d", c.most, maxQueries)
	}
}

func TestOneFailedSourceLeavesTheOthersAlone(t *testing.T) {
	m := newTestModel(t).withSelf(t)
	release := make(chan struct{})
	m.serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/never" {
			<-release
		}
		_, _ = io.WriteString(w, `{"up": true}`)
	})
	t.Cleanup(func() { close(release) })
	m.vars["refused"] = cty.StringVal(refusedAddress(t))
	w, diags := m.compile(t, t.TempDir(), `fluent "open" {
		observe "http" {
			url     = "${var.at}/never"
			value   = "body.up"
			timeout = "300ms"
		}
	}
	fluent "belief" {
		observe "http" {
			url   = var.at
			value = "body.up"
		}
	}
	fluent "up" {
		observe "prometheus" {
			address = var.refused
			query   = "up"
			labels  = { s = "service" }
			value   = "value > 0"
		}
	}
	fluent "version" {
		observe "exec" {
			command = [var.self, "v1"]
			env     = { WORLD_TEST_ROLE = "print" }
			value   = "stdout"
		}
	}`)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	same(t, m.observe(t, w, "open", "belief", "up(api)", "version(api)"), `
open = unknown [no answer within 300ms]
belief = true {up = true}
up(api) = unknown [connection refused]
version(api) = 'v1' {stdout = "v1"}`)
}
