package redaction

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

// TestWhatLooksLikeASecretIsTakenOut, and what is around it stays.
func TestWhatLooksLikeASecretIsTakenOut(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Authorization: Bearer abc.def-1", "Authorization: Bearer (redacted)"},
		{`curl -H 'authorization: basic dXNlcg=='`, `curl -H 'authorization: basic (redacted)'`},
		{`{"Authorization":"Bearer abc"}`, `{"Authorization":"Bearer (redacted)"}`},
		{`Authorization = "Bearer abc"`, `Authorization = "Bearer (redacted)"`},
		{"password=hunter2 next", "password=(redacted) next"},
		{"(password=hunter2), rest", "(password=(redacted)), rest"},
		{"PASSWD: hunter2", "PASSWD: (redacted)"},
		{"DB_PASSWORD=12345678", "DB_PASSWORD=(redacted)"},
		{`{"user":"u","password":"a \" b","n":1}`, `{"user":"u","password":"(redacted)","n":1}`},
		{`{\"api_key\": \"k 1\", \"n\": 1}`, `{\"api_key\": \"(redacted)\", \"n\": 1}`},
		{"api-key = 'k 1' rest", "api-key = '(redacted)' rest"},
		{"apikey := k1", "apikey := (redacted)"},
		{"clientSecret => s3", "clientSecret => (redacted)"},
		{"aws_secret_access_key=abc/def+1", "aws_secret_access_key=(redacted)"},
		{"?access_token=abc", "?access_token=(redacted)"},
		{"token: 7f3c", "token: (redacted)"},
		{"deploy --token 7f3c --to api", "deploy --token (redacted) --to api"},
		{"deploy --db-password 'a b' x", "deploy --db-password '(redacted)' x"},
		{"get https://u:p@ss@host/x failed", "get https://u:(redacted)@host/x failed"},
		{"redis://:pw@host", "redis://:(redacted)@host"},
		{"-----BEGIN RSA PRIVATE KEY-----\nMII\nxyz\n-----END RSA PRIVATE KEY-----\nok", "-----BEGIN RSA PRIVATE KEY-----(redacted)-----END RSA PRIVATE KEY-----\nok"},
		{"-----BEGIN PRIVATE KEY-----\nMII cut sho", "-----BEGIN PRIVATE KEY-----(redacted)"},
		{"sub eyJhbGciOiJI.eyJzdWIiOiI.c2ln end", "sub (redacted) end"},
		{"key AKIAIOSFODNN7EXAMPLE.", "key (redacted)."},
		{"a password=x and a token=y", "a password=(redacted) and a token=(redacted)"},
		{`password: "cut sho`, `password: "(redacted)`},
	} {
		if got := Patterns(nil).Text(c.text); got != c.want {
			t.Errorf("%q\n got %q\nwant %q", c.text, got, c.want)
		}
		if got := Patterns(nil).Text(c.want); got != c.want {
			t.Errorf("taken out twice, %q becomes %q", c.want, got)
		}
	}
}

// TestWhatIsNoSecretStays: fences are called tokens, and models may have fluents
// of any name.
func TestWhatIsNoSecretStays(t *testing.T) {
	for _, text := range []string{
		"broke in_lb(api), token 1042", "token: 1042", `{"token":1042}`, `{"token":"1042","n":2}`, "token=1042&x=1",
		"leases break KEY --token 1234 --reason \"ops1 is dead\"", "token_ok(api) = false", "secret_rotated(db) = true",
		"the fence token is 12 and the token is stale", "token = true", "password: unset", "token == 'abc'", "secret != \"x\"",
		"rotate_secret(api)", "tokens: many", "secretary: bob", "password: (sensitive)", `"password": "(sensitive)"`,
		"https://user:xxxxx@host/", "http://host:8080/a@b", "http://127.0.0.1:7000/services", "a public key: x",
		"-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----", "eyJ is short", "AKIA123", "password=",
		"in the api: nothing", "no passwords",
	} {
		if got := Patterns(nil).Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestPatternsOfTheAuthor(t *testing.T) {
	own := Patterns{regexp.MustCompile(`corp-[0-9]+`), regexp.MustCompile(`pin ([0-9]+)`), regexp.MustCompile(`red|sens`)}
	for text, want := range map[string]string{
		"card corp-12, pin 99":      "card (redacted), pin (redacted)",
		"a red (redacted) password": "a (redacted) (redacted) password",
		"(sensitive) pin 1":         "(sensitive) pin (redacted)",
		"password=corp-1":           "password=(redacted)",
	} {
		if got := own.Text(text); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}

// TestJSONStaysWhatItIs: strings are taken out one by one, names and numbers are
// not, and what is exact stays to the letter.
func TestJSONStaysWhatItIs(t *testing.T) {
	exact := Exact{Codes: Names("reason"), Keys: Names("action", "steps"), Trees: Names("changed")}
	raw := `{"token":1042,"password=x":"a","message":"password=\"a\" \u003cb\u003e","action":"set('token=abc')",` +
		`"steps":["login(password=x)"],"changed":{"m":"token=a","n":{"o":["token=a"]}},"facts":[{"action":"token=a","error":"token=a"},"secret: b"],"reasons":["token=a"]}`
	want := `{"token":1042,"password=x":"a","message":"password=\"(redacted)\" \u003cb\u003e","action":"set('token=abc')",` +
		`"steps":["login(password=x)"],"changed":{"m":"token=a","n":{"o":["token=a"]}},"facts":[{"action":"token=a","error":"token=(redacted)"},"secret: (redacted)"],"reasons":["token=(redacted)"]}`
	if got := string(Patterns(nil).JSON([]byte(raw), exact)); got != want || !json.Valid([]byte(got)) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestTimesAndCodesStay: whatever a pattern finds in them.
func TestTimesAndCodesStay(t *testing.T) {
	all := Patterns{regexp.MustCompile(`(?s).+`)}
	raw := `{"at":"2026-07-01T10:00:00.123456789Z","t":"2026-07-01T10:00:00+02:00","reason":"no_evidence","because":{"reason":"no evidence"},"n":"no_evidence"}`
	want := `{"at":"2026-07-01T10:00:00.123456789Z","t":"2026-07-01T10:00:00+02:00","reason":"no_evidence","because":{"reason":"(redacted)"},"n":"(redacted)"}`
	if got := string(all.JSON([]byte(raw), Exact{Codes: Names("reason")})); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// FuzzJSON promises that JSON stays JSON of the same form, whatever it says.
func FuzzJSON(f *testing.F) {
	f.Add(`{"a":"password=\"x\\","b":[1,"token: \u0022y"]}`)
	f.Add(`"://a:b\"@c"`)
	f.Add(`{"secret":{"secret":"secret=\\"}}`)
	own := Patterns{regexp.MustCompile(`"|\\|[{}]`)}
	f.Fuzz(func(t *testing.T, raw string) {
		var a, b any
		if json.Unmarshal([]byte(raw), &a) != nil {
			return
		}
		got := own.JSON([]byte(raw), Exact{})
		if json.Unmarshal(got, &b) != nil {
			t.Fatalf("%s became %s", raw, got)
		}
		if form(a) != form(b) {
			t.Errorf("%s became %s", raw, got)
		}
	})
}

// form is a value without the texts in it.
func form(v any) string {
	switch v := v.(type) {
	case string:
		return "s"
	case []any:
		out := ""
		for _, e := range v {
			out += form(e) + ","
		}
		return "[" + out + "]"
	case map[string]any:
		raw, _ := json.Marshal(keysOf(v)) //nolint:errchkjson // A map of strings.
		return string(raw)
	}
	raw, _ := json.Marshal(v) //nolint:errchkjson // A number, a bool or null.
	return string(raw)
}

func keysOf(v map[string]any) map[string]string {
	out := map[string]string{}
	for k, e := range v {
		out[k] = form(e)
	}
	return out
}

// TestRedactingIsLinear: the worst texts that come to mind are through at once.
// Were the time quadratic, this would not end.
func TestRedactingIsLinear(t *testing.T) {
	const n = 1 << 20
	for _, piece := range []string{
		"token=1&", "token=", "://a:", "://a:b@", `password="`, `\"token\":`, "-----BEGIN PRIVATE KEY-----", "eyJaaaaaaa.", "--token ", "password=a ", "(redacted)",
	} {
		text := strings.Repeat(piece, n/len(piece))
		if got := (Patterns{regexp.MustCompile(`x+y`)}).Text(text); len(got) == 0 {
			t.Errorf("%q: nothing is left", piece)
		}
	}
}
