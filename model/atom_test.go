package model_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fettleops/fettle/model"
)

func TestAtomsAreReadAndWritten(t *testing.T) {
	tests := []struct{ text, again, err string }{
		{"lock_free", "lock_free", ""},
		{" noop ( ) ", "noop", ""},
		{"in_lb(api)", "in_lb(api)", ""},
		{"f( a ,b )", "f(a, b)", ""},
		{"f('web 1', \"x\")", "f('web 1', x)", ""},
		{"f(web-1:9100/a.b@c)", "f(web-1:9100/a.b@c)", ""},
		{"f('-a', '')", "f('-a', '')", ""},
		{`f('it\'s', '\\', '\n\t\x00\u{e9}\u{FEFF}')`, `f('it\'s', '\\', '\n\t\x00é\u{feff}')`, ""},
		{`f('\xff')`, `f('\xff')`, ""},
		{"", "", "expected a name at character 1, found the end"},
		{"é(a)", "", "expected a name at character 1, found 'é'"},
		{"f(a", "", `expected "," or ")" at character 4, found the end`},
		{"f(a b)", "", `expected "," or ")" at character 5, found 'b'`},
		{"f(a,)", "", "expected an argument at character 5, found ')'"},
		{"f(a) g", "", "expected the end at character 6, found 'g'"},
		{"f('a", "", "expected a closing quote at character 5, found the end"},
		{`f('a\`, "", "expected an escaped character at character 6, found the end"},
		{`f('\q')`, "", `expected one of \' \" \\ \n \t \xNN \u{N} at character 5, found 'q'`},
		{`f('\u{110000}')`, "", "expected a character number such as u{e9} at character 5, found 'u'"},
		{`f('\u{d800}')`, "", "expected a character number such as u{e9} at character 5, found 'u'"},
		{"f('\\x\x11\x12')", "", `expected one of \' \" \\ \n \t \xNN \u{N} at character 5, found 'x'`},
	}
	for _, tt := range tests {
		name, args, err := model.ParseAtom(tt.text)
		switch {
		case tt.err != "":
			if err == nil || err.Error() != tt.err {
				t.Errorf("%s: error %v, want %s", tt.text, err, tt.err)
			}
		case err != nil:
			t.Errorf("%s: %v", tt.text, err)
		case model.FormatAtom(name, args...) != tt.again:
			t.Errorf("%s is written as %s, want %s", tt.text, model.FormatAtom(name, args...), tt.again)
		}
	}
}

func TestEveryNameSurvivesTheGrammarOfAtoms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		args := rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })), 0, 4).Draw(t, "args")
		text := model.FormatAtom("f", args...)
		if strings.ContainsAny(text, "\n\r\x00") {
			t.Fatalf("%q has control characters", text)
		}
		name, again, err := model.ParseAtom(text)
		if err != nil || name != "f" || !slices.Equal(again, args) {
			t.Fatalf("%s is read as %s%q, %v; want %q", text, name, again, err, args)
		}
	})
}

func FuzzParseAtom(f *testing.F) {
	for _, s := range []string{"f", "f(a, 'b')", `f('\x00\u{e9}')`, "f(", "'", "f(\"\\", "\xff", "f(a)b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name, args, err := model.ParseAtom(s)
		if err != nil {
			return
		}
		text := model.FormatAtom(name, args...)
		name2, args2, err := model.ParseAtom(text)
		if err != nil || name2 != name || !slices.Equal(args, args2) {
			t.Fatalf("%q is written as %q and read as %q %q, %v", s, text, name2, args2, err)
		}
	})
}
