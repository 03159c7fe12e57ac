package world

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"
	"pgregory.net/rapid"

	"github.com/fettleops/fettle/model"
)

// withSecret makes a text known as var.token, which is sensitive.
func (m *testModel) withSecret(secret string) *testModel {
	m.vars["token"] = cty.StringVal(secret)
	m.secrets = append(m.secrets, secret)
	return m
}

// hidesIt fails where a text shows a secret, or a piece of it.
func hidesIt(t *testing.T, what, text, secret string) {
	t.Helper()
	for i := range len(secret) - minHidden {
		if piece := secret[i : i+minHidden+1]; strings.Contains(text, piece) {
			t.Errorf("%s shows %q: %s", what, piece, text)
			return
		}
	}
	if !strings.Contains(text, hiddenMark) {
		t.Errorf("%s does not tell that something is left out: %s", what, text)
	}
}

const secret = `q/7 "w"&Zk<9ö+x\y`

func TestSecretsAreTakenOutOfReadings(t *testing.T) {
	m := newTestModel(t).withSelf(t).withSecret(secret)
	m.serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, `{"said": `+fmt.Sprintf("%q", r.FormValue("token"))+`}`)
	})
	m.vars["refused"] = cty.StringVal(refusedAddress(t))
	w := m.mustCompile(t, `fluent "version" {
		observe "http" {
			url   = "${var.at}/?token=${urlencode(var.token)}"
			value = "body.said"
		}
	}
	fluent "open" {
		observe "exec" {
			command = [var.self, "the token ${var.token} is wrong"]
			env     = { WORLD_TEST_ROLE = "fail" }
			value   = "stdout == 'fine'"
		}
	}
	fluent "up" {
		observe "http" {
			url   = "${var.refused}/?token=${urlencode(var.token)}"
			value = "body.said"
		}
	}`)
	readings := map[string]Reading{}
	for _, name := range []string{"version(api)", "open", "up(api)"} {
		text, args, _ := model.ParseAtom(name)
		a, err := m.u.FindAtom(text, args)
		if err != nil {
			t.Fatal(err)
		}
		readings[text] = w.Observe(t.Context(), m.u, []model.Ref{model.Ref(a)}, time.Time{})[0]
	}
	if v := readings["version"].Value; v != model.StringValue(secret) {
		t.Errorf("the value of a fluent was touched: %v %s", v, readings["version"].Err)
	}
	hidesIt(t, "the note", readings["version"].Note, secret)
	hidesIt(t, "the URL", readings["version"].Source.Query, secret)
	hidesIt(t, "the URL of no answer", readings["up"].Source.Query, secret)
	hidesIt(t, "the reason", readings["open"].Err, secret)
	hidesIt(t, "the command", readings["open"].Source.Query, secret)
}

func TestSecretsAreTakenOutOfOutcomes(t *testing.T) {
	m := newTestModel(t).withSelf(t).withSecret(secret)
	m.serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		body, _ := io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(w, "no: %s %q %s", r.FormValue("token"), r.FormValue("token"), body)
	})
	w := m.mustCompile(t, `action "drain" {
		run "exec" {
			command = [var.self, "wrong: ${var.token}"]
			env     = { WORLD_TEST_ROLE = "fail" }
		}
	}
	action "restart" {
		run "http" { url = "${var.at}/?token=${urlencode(var.token)}" }
	}
	action "place" {
		run "exec" { command = ["./${var.token}"] }
	}`)
	for _, c := range []struct {
		step []string
		of   func(Outcome) string
	}{
		{[]string{"drain", "api"}, func(o Outcome) string { return string(o.Output) }},
		{[]string{"restart", "api"}, func(o Outcome) string { return string(o.Output) }},
		{[]string{"place", "api", "n1"}, func(o Outcome) string { return o.Message }},
	} {
		o := m.act(t.Context(), t, w, c.step[0], c.step[1:]...)
		if o.Status != Failed {
			t.Errorf("%s: %+v", c.step[0], o)
		}
		hidesIt(t, c.step[0], c.of(o), secret)
	}
}

// A long output is cut in its middle, and each cut may go through a secret.
func TestASecretAcrossTheCutOfAnOutputIsTakenOut(t *testing.T) {
	const long = "correct-horse-battery-staple"
	m := newTestModel(t).withSelf(t).withSecret(long)
	w := m.mustCompile(t, `action "drain" {
		run "exec" {
			command = [var.self, var.token]
			env     = { WORLD_TEST_ROLE = "around" }
		}
	}`)
	o := m.act(t.Context(), t, w, "drain", "api")
	if !o.Cut {
		t.Error("nothing was cut")
	}
	for i := range len(long) - 3 {
		if strings.Contains(string(o.Output), long[i:i+4]) {
			t.Fatalf("the output shows %q", long[i:i+4])
		}
	}
}

func TestSecretsAreTakenOutOfErrorsOfRaising(t *testing.T) {
	m := newTestModel(t).withSelf(t).withSecret(secret)
	raise := func(role, args string) error {
		w := m.mustCompile(t, `action "drain" {
			run "exec" {
				command = [var.self]
				fence {
					command = [var.self, `+args+`, "--token=${var.token}"]
					env     = { WORLD_TEST_ROLE = "`+role+`" }
					reject  = [4]
				}
			}
		}`)
		return w.Raise(t.Context(), m.u, m.ground(t, "drain", "api"), Fence{Token: 7, Resources: []string{"in_lb(api)"}, Run: "r", ActionID: "a"})
	}
	if err := raise("fail", `"no"`); err == nil {
		t.Error("a fence that could not be raised is no error")
	} else {
		hidesIt(t, "the error", err.Error(), secret)
	}
	err := raise("exit", `"4"`)
	var h *HigherFenceError
	if !errors.As(err, &h) || h.Token != 7 {
		t.Fatalf("got %v", err)
	}
	hidesIt(t, "the refusal", err.Error(), secret)
	hidesIt(t, "the actuator", h.Error(), secret)
}

func TestSecretsAreTakenOutOfDiagnostics(t *testing.T) {
	m := newTestModel(t).withSecret("ftp://s3cret-place")
	_, diags := m.compile(t, t.TempDir(), `action "drain" {
		run "http" { url = var.token }
	}`)
	if !diags.HasErrors() {
		t.Fatal("a URL that is none is no mistake")
	}
	hidesIt(t, "the diagnostic", diags[0].Detail, "s3cret-place")
}

func TestHowSecretsAreTakenOut(t *testing.T) {
	key := "-----BEGIN KEY-----\n  MIIEpAIBAAKCAQEA\n-----END KEY-----\n"
	for _, c := range []struct{ name, secret, text, want string }{
		{"as it is", "hunter2!", "it is hunter2!.", "it is (sensitive)."},
		{"in JSON", `a"b/c`, `{"x": "a\"b/c", "y": "a\"b\/c"}`, `{"x": "(sensitive)", "y": "(sensitive)"}`},
		{"in JSON of ASCII", "schlüssel", `"schl\u00fcssel"`, `"(sensitive)"`},
		{"in HTML's JSON", "a<b>c&d", `"a\u003cb\u003ec\u0026d"`, `"(sensitive)"`},
		{"in a URL", "a b/c", "?x=a+b%2Fc&y=a%20b%2Fc&z=a+b%2fc", "?x=(sensitive)&y=(sensitive)&z=(sensitive)"},
		{"in a path", "a:b@c d", "http://a%3Ab%40c%20d@h/a:b@c%20d", "http://(sensitive)@h/(sensitive)"},
		{"of one line, from a file", "tok3n\n", "tok3n", "(sensitive)"},
		{"of several lines", key, "x MIIEpAIBAAKCAQEA y", "x (sensitive) y"},
		{"of several lines, as one", key, "-----BEGIN KEY----- MIIEpAIBAAKCAQEA -----END KEY-----", "(sensitive)"},
		{"clipped", "correct-horse", "the text correct-h…", "the text (sensitive)…"},
		{"clipped and quoted", "correct-horse", `got "the text correct-h"… then`, `got "the text (sensitive)"… then`},
		{"clipped to almost nothing", "correct-horse", "the text cor…", "the text cor…"},
		{"short", "abc", "abc", "abc"},
		{"of four characters", "äöüß", "äöüß", "(sensitive)"},
		{"twice", "abcd", "abcdabcd", "(sensitive)(sensitive)"},
		{"the longer of two", "abcd", "abcdefgh", "(sensitive)"},
	} {
		s := newSensitive([]string{c.secret, "abcdefgh"}, nil)
		if got := s.text(c.text); got != c.want {
			t.Errorf("%s: got %s want %s", c.name, got, c.want)
		}
	}
	if s := newSensitive([]string{"", "abc"}, nil); s.text("abc") != "abc" || s != nil {
		t.Error("what is too short is a secret")
	}
}

// However a text is divided into writes, it loses its secrets and nothing else.
func TestWritesDoNotSplitSecrets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secrets := rapid.SliceOfN(rapid.StringMatching("[ab]{4,7}"), 1, 3).Draw(t, "secrets")
		text := rapid.StringMatching("[abc]{0,60}").Draw(t, "text") + "."
		s := newSensitive(secrets, nil)
		whole, _ := s.scan(nil, []byte(text), true)
		var out strings.Builder
		h := &hiding{s: s, to: &out}
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "bytes")
			if _, err := h.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		h.flush()
		if out.String() != string(whole) {
			t.Fatalf("got %s want %s", &out, whole)
		}
		for _, secret := range secrets {
			if strings.Contains(out.String(), secret) {
				t.Fatalf("%s shows %s", &out, secret)
			}
		}
	})
}
