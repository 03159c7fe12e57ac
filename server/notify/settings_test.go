package notify

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

func decode(t *testing.T, kind, text string) (Settings, hcl.Diagnostics) {
	t.Helper()
	f, diags := hclsyntax.ParseConfig([]byte(text), "m.fettle.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return Decode(kind, "n", f.Body, nil, "/srv/model")
}

func TestABlockIsRead(t *testing.T) {
	for _, c := range []struct {
		kind, text string
		want       Settings
	}{
		{"http", `url = "http://h"`, Settings{On: byDefault, After: 15 * time.Minute, Timeout: 10 * time.Second, URL: "http://h", Method: "POST"}},
		{
			"http", "url = \"http://h\"\nmethod = \"PUT\"\nheaders = { a = \"b\" }\ntimeout = \"3s\"\non = [\"waiting_long\"]\nafter = \"1h\"",
			Settings{
				On: []Occasion{WaitingLong}, After: time.Hour, Timeout: 3 * time.Second, URL: "http://h", Method: "PUT", Headers: map[string]string{"a": "b"},
			},
		},
		{"exec", `command = ["page", "./x"]`, Settings{
			On: byDefault, After: 15 * time.Minute, Timeout: 10 * time.Second, Method: "POST", Command: []string{"page", "./x"}, Dir: "/srv/model",
		}},
		{"exec", "command = [\"./page\"]\ndir = \"sub\"\nenv = { A = \"b\" }\non = []", Settings{
			On: nil, After: 15 * time.Minute, Timeout: 10 * time.Second, Method: "POST", Command: []string{filepath.Join("/srv/model", "page")},
			Dir: filepath.Join("/srv/model", "sub"), Env: map[string]string{"A": "b"},
		}},
	} {
		c.want.Kind, c.want.Name = c.kind, "n"
		got, diags := decode(t, c.kind, c.text)
		if diags.HasErrors() || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %s: %v\ngot  %+v\nwant %+v", c.kind, c.text, diags, got, c.want)
		}
	}
}

func TestWhatCannotBeSentIsAMistake(t *testing.T) {
	for text, want := range map[string]string{
		`headers = { "a b" = "c" }`:                    `"a b" is no name of a header.`,
		`headers = { a = "b\nc: d" }`:                  `The value of the header "a" has characters that HTTP cannot send, such as a line break.`,
		`command = ["a\u0000b"]`:                       "No program can be given a NUL byte: take it out of command and env.",
		"command = [\"a\"]\nenv = { \"A=B\" = \"c\" }": `"A=B" is no name of an environment variable.`,
	} {
		kind := "exec"
		if strings.HasPrefix(text, "headers") {
			kind, text = "http", "url = \"http://h\"\n"+text
		}
		if _, diags := decode(t, kind, text); len(diags) != 1 || diags[0].Detail != want {
			t.Errorf("%s: %v, want %q", text, diags, want)
		}
	}
}
