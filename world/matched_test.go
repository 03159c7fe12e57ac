package world

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// matched observes a fluent and says what its answer matched.
func (m *testModel) matched(t *testing.T, w *World, fluent string) string {
	t.Helper()
	got := w.Observe(t.Context(), m.u, m.refs(t, fluent), time.Time{})
	for _, r := range got {
		if r.Matched != got[0].Matched {
			t.Fatal("instances of one answer tell different matches")
		}
	}
	if got[0].Matched == nil {
		return "nothing was shared out"
	}
	return got[0].Matched.String()
}

func TestAnAnswerTellsWhatOfItNamesAnObject(t *testing.T) {
	for _, c := range []struct {
		fluent, labels string
		series         []string
		want           string
	}{
		{"up", `labels = { s = "service" }`, []string{"service=api 1", "service=db 0"}, "matched 2 of 2 series by label service"},
		{"up", `labels = { s = "service" }`, nil, "the answer has no series"},
		{
			"up", `labels = { s = "service" }`,
			[]string{"__name__=up,instance=x 1", "service=db 0", "service=ghost,b=1 1"},
			`matched 1 of 3 series by label service; ignored 2: up{instance="x"} (no label service), {b="1", service="ghost"} (no service is named "ghost")`,
		},
		{
			"up", `labels = { s = "service" }`,
			[]string{"a=1 1", "a=2 1", "a=3 1", "a=4 1"},
			`matched 0 of 4 series by label service; ignored 4: {a="1"} (no label service), {a="2"} (no label service), {a="3"} (no label service), …`,
		},
		{
			"runs", "labels = {\n s = \"service\"\n n = \"node\"\n}",
			[]string{"service=api,node=n1 1", "service=api,node=n9 1", "service=x,node=n2 1"},
			`matched 1 of 3 series by label service (a service in 2), node (a node in 2); ignored 2: {node="n9", service="api"} (no node is named "n9"), {node="n2", service="x"} (no service is named "x")`,
		},
		{"open", "", []string{"{} 1"}, "matched 1 of 1 series"},
	} {
		m := newTestModel(t)
		m.servePrometheus(t, map[string]func() promAnswer{"q()": fixed(c.series...)})
		w, diags := m.compile(t, t.TempDir(), "fluent \""+c.fluent+"\" {\n observe \"prometheus\" {\n address = var.at\n query = \"q()\"\n value = \"value > 0\"\n "+c.labels+"\n }\n}\n")
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		same(t, m.matched(t, w, c.fluent), c.want)
	}
}

func TestAListTellsWhichOfItsItemsNameAnObject(t *testing.T) {
	m := newTestModel(t)
	m.serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `[{"name":"api","up":true},{"name":"ghost","key":"abcdefgh-secret"},{"up":false}]`)
	})
	m.secrets = []string{"abcdefgh-secret"}
	w := m.mustCompile(t, `fluent "up" {
		observe "http" {
			url    = var.at
			items  = "body"
			object = "name"
			value  = "up"
		}
	}
	fluent "open" {
		observe "http" {
			url   = var.at
			value = "len(body) > 2"
		}
	}`)
	got := m.matched(t, w, "up")
	want := `matched 1 of 3 items; ignored 2: {"key":"(sensitive)","name":"ghost"} (no service is named "ghost"), {"up":false} (the answer has no name)`
	same(t, got, want)
	same(t, m.matched(t, w, "open"), "nothing was shared out")
	if strings.Contains(got, "abcdefgh") {
		t.Error("a secret is shown")
	}
}
