package load

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	exprfile "github.com/expr-lang/expr/file"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"pgregory.net/rapid"

	"github.com/fettleops/fettle/model"
)

// seeds are models, and files that are none.
func seeds(t testing.TB) []string {
	whole, err := os.ReadFile("testdata/whole/main.fettle.hcl")
	if err != nil {
		t.Fatal(err)
	}
	w := string(whole)
	deep := func(open, end string, n int) string {
		return "invariant \"i\" {\n  condition = " + strings.Repeat(open, n) + "1" + strings.Repeat(end, n) + "\n}\n"
	}
	in := func(cond string) string { return vocabulary + "invariant \"i\" {\n  condition = \"" + cond + "\"\n}\n" }
	return []string{
		w, w[:len(w)/2], w[len(w)/3:], "\xef\xbb\xbf" + w, strings.ReplaceAll(w, "\n", "\r\n"), strings.ReplaceAll(w, "\n", "\r"),
		strings.ReplaceAll(w, "api", "a\x00pi"), w + "\xff\xfe", settingsModel, vocabulary, "", "\x00", "{", "\"", "<<EOT",
		deep("(", ")", 1e5), deep("[", "]", 1e5), deep("{a=", "}", 1e5), deep("-", "", 1e5), deep("!", "", 1e5), deep("1+", "", 1e5),
		deep("true ? 1 : ", "", 1e5), deep("\"${", "}\"", 1e5), deep("f(", ")", 1e5), deep("1+\n", "", 1e5), deep("(1+\n", ")", 1e5),
		deep("(\n", "\n)", 1e5), "locals {\n  a = x" + strings.Repeat("[0]", 1e5) + "\n}\n", strings.Repeat("a {\n", 1e5), strings.Repeat("a \"", 1e5),
		in(strings.Repeat("(", 2000) + "frozen" + strings.Repeat(")", 2000)), in(strings.Repeat("!", 3000) + "frozen"),
		in(strings.Repeat("-", 3000) + "1 > 0"), in(strings.Repeat("{", 3000)), in(strings.Repeat("all(service, ", 300)),
		in("let a = 1; let b = a; a in [b, a] && \\u0000 #"), in("up('\\\\u{110000}') && up(\\\"\\\\xff\\\")"), in("#"), in("let a0 = frozen && frozen; " + doubling(60) + "a60"), in(strings.Repeat("1 < (", 300) + "1" + strings.Repeat(") < 1", 300) + " > 0"),
		in(strings.Repeat("(", 60) + "frozen" + strings.Repeat(" in [true, false])", 60)), in(strings.Repeat("(", 100) + "frozen" + strings.Repeat(" ?: frozen)", 100)),
		in("all(service, #)"),
		"locals {\n  a = local.b\n  b = local.a\n}\n", "type \"a\" { parent = a }\nfluent \"a\" { derive = \"a\" }\n",
	}
}

// doubling declares n variables, each twice the one before.
func doubling(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "let a%d = a%d && a%d; ", i, i-1, i-1)
	}
	return b.String()
}

// checkText loads a text as a model and looks at what must hold whatever it says.
func checkText(t testing.TB, text string) {
	ld := newLoader(Options{})
	ld.parse("m.fettle.hcl", []byte(text))
	ld.build()
	diags := ld.diags.sorted()
	for _, d := range diags {
		if d.Summary == "" || d.Detail == "" || !utf8.ValidString(d.Summary) {
			t.Errorf("a diagnostic that says nothing: %+v", d)
		}
		if s := d.Subject; s != nil && (s.Start.Byte > s.End.Byte || s.End.Byte > len(text)) && s.Filename == "m.fettle.hcl" {
			t.Errorf("%s: outside the file: %v", d.Summary, s)
		}
	}
	if diags.HasErrors() {
		return
	}
	u := model.NewUniverse(ld.m)
	for _, n := range ld.m.States {
		s := u.Named(n)
		for _, g := range ld.m.Goals {
			if len(g.Params) == 0 {
				g.Cond.Explain(s, nil)
			}
		}
	}
	if n := len(ld.l.Unsourced()); n > len(ld.m.Fluents) {
		t.Errorf("%d of %d fluents have no source", n, len(ld.m.Fluents))
	}
	for _, d := range ld.l.Doubts() {
		if d.Severity != hcl.DiagWarning || d.Subject == nil || d.Subject.Filename != "m.fettle.hcl" {
			t.Errorf("%s: no warning, or nowhere", d.Summary)
		}
	}
	for _, d := range ld.l.Unobeyed() {
		if d.Subject == nil {
			t.Errorf("%s: nowhere", d.Summary)
		}
	}
}

func TestForeignTextNeverPanics(t *testing.T) {
	for _, s := range seeds(t) {
		checkText(t, s)
	}
}

func FuzzLoad(f *testing.F) {
	for _, s := range seeds(f) {
		if len(s) < 1<<14 {
			f.Add(s)
		}
	}
	f.Fuzz(func(t *testing.T, text string) { checkText(t, text) })
}

func FuzzCondition(f *testing.F) {
	for _, s := range []string{"frozen", "all(service, let q = #; up(q))", "up(api-1)", "mode(api) in ['on', x]", "a ?: b", "::f()", "1 | f(2)", "#", "[1:2]", "if a {b} else {c}", "max(map(service, load(#)))", "x ?? y", "b'\\x00'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		r := strings.NewReplacer("\\", "\\\\", "\"", "\\\"", "\n", "\\n", "\r", "\\r", "${", "$${", "%{", "%%{", "\x00", " ")
		checkText(t, vocabulary+"invariant \"i\" {\n  condition = \""+r.Replace(text)+"\"\n}\n")
	})
}

// FuzzPlaces writes any text between the quotes of a string or into a heredoc,
// and holds the place of each of its characters to HCL's own lexer.
func FuzzPlaces(f *testing.F) {
	for _, s := range []string{
		"frozen", "a\\u00e9b\\U0001F600", "\\n\\t\\\\ \\\"x\\\" $${y} %%{z}", "日本 && e\u0301", "up(api) &&\r\n  !frozen", "a\n\n   b\n c", "$$ %% $", "\ufeffa", "😀\t.",
	} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, text string, heredoc bool) {
		if len(text) > 300 { // Each place is sought from the start.
			return
		}
		open, end := "x = \"", "\"\n"
		if heredoc {
			open, end = "x = <<-EOT\n", "\n  EOT\n"
		}
		checkPlaces(t, open+text+end)
	})
}

// checkPlaces reads the attribute x of a text as a condition, where HCL finds
// a plain string in it.
func checkPlaces(t *testing.T, text string) {
	file, diags := Parse("m.fettle.hcl", []byte(text))
	body, ok := file.Body.(*hclsyntax.Body)
	if diags.HasErrors() || !ok || body.Attributes["x"] == nil {
		return
	}
	e := body.Attributes["x"].Expr
	ld := newLoader(Options{})
	ld.sources["m.fettle.hcl"] = []byte(text)
	src, ok := ld.source(e, "a condition")
	if !ok {
		return
	}
	v, diags := e.Value(nil)
	if diags.HasErrors() || cty.NormalizeString(src.text) != v.AsString() {
		t.Fatalf("%q is read as %q, and HCL reads %v", text, src.text, v)
	}
	runes := []rune(src.text)
	if src.at == nil {
		return // No map: a mistake stands where the whole text does.
	}
	if len(src.at) != len(runes)+1 {
		t.Fatalf("%q: %d places for %d characters", text, len(src.at), len(runes))
	}
	// A mark that combines does not join the quote before it: HCL counts from
	// where the literal starts.
	from := src.rangeOf(exprfile.Location{}).Start
	for i, r := range runes {
		rng := src.rangeOf(exprfile.Location{From: i, To: i + 1})
		if rng.Start.Byte < e.Range().Start.Byte || rng.End.Byte > e.Range().End.Byte || src.at[i] >= src.at[i+1] {
			t.Fatalf("%q: character %d stands at %d to %d", text, i, rng.Start.Byte, rng.End.Byte)
		}
		written := text[src.at[i]:src.at[i+1]]
		if first, _ := utf8.DecodeRuneInString(written); first != r && written[0] != '\\' && !strings.HasPrefix(written, "{") {
			t.Fatalf("%q: %q stands where %q is written", text, r, written)
		}
		want := from
		if at := rng.Start.Byte - from.Byte; at > 0 {
			want = column(text[from.Byte:], at)
			if want.Line == 1 {
				want.Column += from.Column - 1
			}
			want.Line += from.Line - 1
		}
		if rng.Start.Line != want.Line || rng.Start.Column != want.Column {
			t.Fatalf("%q: character %d in line %d, column %d, want %d, %d", text, i, rng.Start.Line, rng.Start.Column, want.Line, want.Column)
		}
	}
}

// TestPlacesAreExact writes a marked word into random text, in every way that
// HCL can write it, and looks where the diagnostic says it is.
func TestPlacesAreExact(t *testing.T) {
	pieces := []string{"frozen && ", "version == 'é' && ", "version == '日本' && ", "version == 'e\u0301' && ", "version == '😀' && ", "( ", "  ", "\t", "!frozen && "}
	escaped := []string{`version == \"x\" && `, `version == '\u00e9' && `, `version == '\\n' && `, `version == '$${x}' && `, `\u0066rozen && `, `version == '%%{' && `, `\t`}
	rapid.Check(t, func(t *rapid.T) {
		heredoc := rapid.Bool().Draw(t, "heredoc")
		all := append([]string{"\n    "}, pieces...)
		open, end := "<<-EOT\n    ", "\n    EOT\n"
		if !heredoc {
			all = append(append([]string(nil), pieces...), escaped...)
			open, end = `"`, "\"\n"
		}
		before := strings.Join(rapid.SliceOfN(rapid.SampledFrom(all), 0, 12).Draw(t, "before"), "")
		after := strings.Repeat(")", strings.Count(before, "( "))
		text := vocabulary + "invariant \"i\" {\n  condition = " + open + before + "bogus" + after + end + "}\n"
		ld := newLoader(Options{})
		ld.parse("m.fettle.hcl", []byte(text))
		ld.build()
		if len(ld.diags.all) != 1 {
			t.Fatalf("%s\n%s", text, told(ld.l, ld.diags.all))
		}
		s := ld.diags.all[0].Subject
		if at := strings.Index(text, "bogus"); s.Start.Byte != at || s.End.Byte != at+len("bogus") {
			t.Fatalf("%s\nbyte %d to %d, want %d", text, s.Start.Byte, s.End.Byte, at)
		}
		if want := column(text, s.Start.Byte); s.Start.Line != want.Line || s.Start.Column != want.Column {
			t.Fatalf("%s\nline %d, column %d, want %d, %d", text, s.Start.Line, s.Start.Column, want.Line, want.Column)
		}
	})
}

// column finds a position as HCL's own lexer counts it: by the start of an
// attribute put in its place.
func column(text string, at int) hcl.Pos {
	sc := hcl.NewRangeScanner([]byte(text[:at]), "", func(data []byte, _ bool) (int, []byte, error) { return len(data), data, nil })
	sc.Scan()
	return sc.Range().End
}
