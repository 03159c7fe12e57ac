package validator_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/validator"
)

// lines writes what was read: "line: step" each, or the error.
func lines(r io.Reader) string {
	var b strings.Builder
	for st, err := range validator.ReadPlan(r) {
		switch {
		case err != nil:
			fmt.Fprintf(&b, "%v\n", err)
		case st.Params != nil:
			fmt.Fprintf(&b, "%d: %s %q by %q\n", st.Line, st.Action, st.Args, st.Params)
		default:
			fmt.Fprintf(&b, "%d: %s\n", st.Line, st)
		}
	}
	return b.String()
}

func TestPlansAreReadInEveryForm(t *testing.T) {
	const prose = `"Sure, here is the plan:" is not an action; write name(arg, …)`
	tests := []struct{ name, text, want string }{
		{"empty", "", ""},
		{"atoms", "drain(api)\n\n  restart( api , db )\nnoop\nnoop()", "1: drain(api)\n3: restart(api, db)\n4: noop\n5: noop\n"},
		{"comments", "# first\n; second\ndrain(api) # third\nrestart(api);fourth\n(a b) ; fifth", "3: drain(api)\n4: restart(api)\n5: a(b)\n"},
		{"quoted", `drain('web 1#;)') # x` + "\n" + `drain("it's", 'it\'s')`, "1: drain('web 1#;)')\n2: drain('it\\'s', 'it\\'s')\n"},
		{"bare", "act(web-1:9100, a.b/c@d)", "1: act(web-1:9100, a.b/c@d)\n"},
		{"PDDL", "(drain api) (restart api)(noop)\n( move a  'b c' )", "1: drain(api)\n1: restart(api)\n1: noop\n2: move(a, 'b c')\n"},
		{"temporal", "0.000: (drain api) [1]\n1.5: (restart api) [10.000]\n2: noop", "1: drain(api)\n2: restart(api)\n3: noop\n"},
		{"lists", "1. drain(api)\n2) restart(api)\n10. (a b)\n3.(a b)\n- noop\n* noop\n- (a b) (c d)", "1: drain(api)\n2: restart(api)\n3: a(b)\n4: a(b)\n5: noop\n6: noop\n7: a(b)\n7: c(d)\n"},
		{"a name of digits is no number", "1(api)\n2\n1.5", "1: 1(api)\n2: 2\n3: 1.5\n"},
		{"fences", "```text\ndrain(api)\n```\n~~~\n", "2: drain(api)\n"},
		{"BOM and CRLF", "\ufeffdrain(api)\r\nrestart(api)\r\n", "1: drain(api)\n2: restart(api)\n"},
		{"prose", "drain(api)\n\nSure, here is the plan:", "1: drain(api)\nline 3: " + prose + "\n"},
		{"half", "drain(api", `line 1: "drain(api" is not an action: a closing parenthesis is missing; write name(arg, …)` + "\n"},
		{"half a group", "(a b) (c d\n(e", "1: a(b)\n" + `line 1: "(a b) (c d" is not an action: a closing parenthesis is missing; write name(arg, …)` + "\n" + `line 2: "(e" is not an action: a closing parenthesis is missing; write name(arg, …)` + "\n"},
		{"two on a line", "drain(api) restart(api)", `line 1: "drain(api) restart(api)" is not an action: "restart(api)" follows it; write name(arg, …)` + "\n"},
		{"a word behind a group", "(pick-up c) extra\n(a) (b) [1] c (d)", `line 1: "(pick-up c) extra" is not an action: "extra" follows it; write name(arg, …)` + "\n2: a\n" + `line 2: "(a) (b) [1] c (d)" is not an action: "c" follows it; write name(arg, …)` + "\n"},
		{"glued", "(drain'api')", `line 1: "(drain'api')" is not an action: a space is missing before "'api'"; write name(arg, …)` + "\n"},
		{"comma missing", "a(b c)\na(,)\na(b,)", `line 1: "a(b c)" is not an action: a comma or a closing parenthesis is missing before "c"; write name(arg, …)` + "\n" + `line 2: "a(,)" is not an action: "," is no name; write name(arg, …)` + "\n" + `line 3: "a(b,)" is not an action: ")" is no name; write name(arg, …)` + "\n"},
		{"bytes", "a\x00b\n\xff\xfe", "line 1: \"a\\x00b\" is not an action; write name(arg, …)\nline 2: \"\\xff\\xfe\" is not an action; write name(arg, …)\n"},
		{"long", strings.Repeat("é", 100) + " is long", `line 1: "` + strings.Repeat("é", 30) + `…" is not an action; write name(arg, …)` + "\n"},

		{"JSON", `{"steps": [{"action": "drain", "args": ["api"]}, {"action": "noop"}, {"action": "noop", "args": null}]}`, "1: drain(api)\n1: noop\n1: noop\n"},
		{"JSON by name", "{\"goal\": {\"steps\": 1}, \"steps\": [\n{\"action\": \"move\", \"args\": {\"to\": \"b\", \"from\": 1}}]}", "2: move [\"b\" \"1\"] by [\"to\" \"from\"]\n"},
		{"JSON list", "[\n  {\"action\": \"a\",\n   \"args\": []},\n \"b(c)\"]", "2: a\n4: b(c)\n"},
		{"JSON in a fence", "```json\n{\"steps\": [{\"action\": \"a\"}]}\n```\nThat is all.", "2: a\nline 4: \"That is all.\" is not an action; write name(arg, …)\n"},
		{"JSON lines", "{\"action\": \"a\"}\n{\"args\": [\"x\"], \"action\": \"b\"}\n", "1: a\n2: b(x)\n"},
		{"JSON values on a line", `{"action": "a"} [{"action": "b"}]` + "\n\n" + `{"action": "c"}; d` + "\ne", "1: a\n1: b\n3: c\n4: e\n"},
		{
			"JSON steps that are none", `[1, {"act": "x"}, {"action": 1}, {"action": "a", "args": [[]]}, {"action": "a", "args": "x"}, "a b", {"action": "z"}]`,
			"line 1: 1 is not a step; write {\"action\": \"name\", \"args\": [\"arg\", …]}\n" +
				"line 1: {\"act\":\"x\"} is not a step; write {\"action\": \"name\", \"args\": [\"arg\", …]}\n" +
				"line 1: {\"action\":1} is not a step; write {\"action\": \"name\", \"args\": [\"arg\", …]}\n" +
				"line 1: {\"action\":\"a\",\"args\":[[]]} is not a step; write {\"action\": \"name\", \"args\": [\"arg\", …]}\n" +
				"line 1: {\"action\":\"a\",\"args\":\"x\"} is not a step; write {\"action\": \"name\", \"args\": [\"arg\", …]}\n" +
				"line 1: \"a b\" is not a step; write {\"action\": \"name\", \"args\": [\"arg\", …]}\n1: z\n",
		},
		{"JSON without steps", `{"plan": []}`, "line 1: a JSON object without \"steps\" is no plan; write {\"steps\": [{\"action\": \"name\", \"args\": [\"arg\", …]}]}\n"},
		{"JSON with steps of another form", `{"steps": {"a": [1]}, "x": 1}`, "line 1: \"steps\" is not a list; write {\"steps\": [{\"action\": \"name\", \"args\": [\"arg\", …]}]}\n"},
		{"JSON that ends", "{\"steps\": [\n{\"action\": \"a\"},\n{\"action\"", "2: a\nline 3: the plan is not well-formed JSON: it ends too early; write {\"steps\": [{\"action\": \"name\", \"args\": [\"arg\", …]}]}\n"},
		{"JSON cut in a string", "{\"steps\": [\n{\"action\": \"a\"},\n{\"action\": \"rest\n", "2: a\nline 3: the plan is not well-formed JSON: it ends too early; write {\"steps\": [{\"action\": \"name\", \"args\": [\"arg\", …]}]}\n"},
		{"JSON cut after a step", "[{\"action\": \"a\"},\r\n", "1: a\nline 1: the plan is not well-formed JSON: it ends too early; write {\"steps\": [{\"action\": \"name\", \"args\": [\"arg\", …]}]}\n"},
		{"JSON with a line end in a string", "[\"a\nb\"]", "line 1: the plan is not well-formed JSON: invalid character '\\n' in string literal; write {\"steps\": [{\"action\": \"name\", \"args\": [\"arg\", …]}]}\n"},
		{"JSON behind a BOM", "\ufeff[\"a\"]\r\n\r\nb\r\n", "1: a\n3: b\n"},
		{"JSON behind spaces", "  {\"action\": \"a\"}", "1: a\n"},
		{"JSON with other keys", `[{"why": {"action": 1}, "action": "a", "Args": ["x"], "args": ["y"], "ACTION": "b"}]`, "1: a(y)\n"},
		{"JSON key twice", `[{"action": "a", "args": [], "action": "b"}, {"action": "c"}]`, "line 1: {\"action\":\"a\",\"args\":[],\"action\":\"b\"} is not a step: \"action\" is given twice; write {\"action\": \"name\", \"args\": [\"arg\", …]}\n1: c\n"},
		{"JSON argument twice", `{"action": "a", "args": {"x": "1", "x": "2"}}`, "line 1: {\"action\":\"a\",\"args\":{\"x\":\"1\",\"x\":\"2\"}} is not a step: \"x\" is given twice; write {\"action\": \"name\", \"args\": [\"arg\", …]}\n"},
		{"JSON steps twice", "{\"steps\": [{\"action\": \"a\"}],\n\"steps\": [{\"action\": \"b\"}]}", "1: a\nline 2: \"steps\" is given twice; write {\"steps\": [{\"action\": \"name\", \"args\": [\"arg\", …]}]}\n"},
		{"JSON argument that is none", `[{"action": "a", "args": [true]}, {"action": null}]`, "line 1: {\"action\":\"a\",\"args\":[true]} is not a step; write {\"action\": \"name\", \"args\": [\"arg\", …]}\nline 1: {\"action\":null} is not a step; write {\"action\": \"name\", \"args\": [\"arg\", …]}\n"},
		{"JSON with bytes that are none", "[\"a\xff\"]", "line 1: \"a\ufffd\" is not a step; write {\"action\": \"name\", \"args\": [\"arg\", …]}\n"},
		{"offending words", "(unstack b *)\n(a b\na(b 'c)\na('\\q')", `line 1: "(unstack b *)" is not an action: "*" is no name; write name(arg, …)` + "\n" + `line 2: "(a b" is not an action: a closing parenthesis is missing; write name(arg, …)` + "\n" + `line 3: "a(b 'c)" is not an action: a comma or a closing parenthesis is missing before "'c"; write name(arg, …)` + "\n" + `line 4: "a('\\q')" is not an action: "'\\q'" is no name; write name(arg, …)` + "\n"},
		{"a pipe that ends half-way", "drain(api)\nrest", "1: drain(api)\n2: rest\n"},
		{"NUL in an argument", "a(b\x00)", `line 1: "a(b\x00)" is not an action: a comma or a closing parenthesis is missing before "\x00"; write name(arg, …)` + "\n"},
		{"JSON that breaks", "{\"steps\": [\n{\"action\": \"a\"},\n}]", "2: a\nline 3: the plan is not well-formed JSON: invalid character '}' looking for beginning of value; write {\"steps\": [{\"action\": \"name\", \"args\": [\"arg\", …]}]}\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := lines(strings.NewReader(tt.text)); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if got := lines(iotest.OneByteReader(strings.NewReader(tt.text))); got != tt.want {
				t.Errorf("byte by byte: got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// Ten thousand kinds of nesting must not cost a stack.
func TestDeepNestingIsOneMessage(t *testing.T) {
	for _, text := range []string{strings.Repeat("[", 1e6), strings.Repeat(`{"steps":`, 1e5), `{"steps": ` + strings.Repeat(`{"a":`, 1e5), strings.Repeat("(", 1e6)} {
		n := 0
		for _, err := range validator.ReadPlan(strings.NewReader(text)) {
			if n++; err == nil || len(err.Error()) > 300 {
				t.Errorf("%.20s…: %.300v", text, err)
			}
		}
		if n == 0 || n > 2 {
			t.Errorf("%.20s…: %d messages", text, n)
		}
	}
}

// What never ends is not held in memory.
func TestEndlessValuesAreGivenUp(t *testing.T) {
	much := bytes.Repeat([]byte("x"), 40<<20)
	for _, start := range []string{"", `["`, `{"steps": [{"action": "`, `{"x": "`} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		n := 0
		for _, err := range validator.ReadPlan(io.MultiReader(strings.NewReader(start), bytes.NewReader(much))) {
			var syntax *validator.SyntaxError
			if n++; !errors.As(err, &syntax) || syntax.Line != 1 || !strings.Contains(syntax.Message, "of more than 16 MiB is no") {
				t.Errorf("%s: %v", start, err)
			}
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; n != 1 || used > 256<<20 {
			t.Errorf("%s: %d steps, %d MiB", start, n, used>>20)
		}
	}
}

func TestALineOfAMegabyteIsReadWhole(t *testing.T) {
	n := 0
	for _, err := range validator.ReadPlan(strings.NewReader(strings.Repeat("(drain api) ", 100_000) + "\n(drain api)")) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 100_001 {
		t.Errorf("%d steps", n)
	}
}

func TestManyJSONValuesAreReadInLinearTime(t *testing.T) {
	for _, sep := range []string{"\n", " ", "\n\n;\n"} {
		n := 0
		text := strings.Repeat(`{"action": "a"}`+sep, 50_000)
		for _, err := range validator.ReadPlan(strings.NewReader(text)) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n != 50_000 {
			t.Errorf("%d steps", n)
		}
	}
}

func TestAReadErrorEndsTheValidation(t *testing.T) {
	broken := errors.New("broken pipe")
	for _, text := range []string{"drain(api)\n", `{"steps": [{"action": "drain", "args": ["api"]},`} {
		r := validator.Validate(classic(t), validator.ReadPlan(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken))))
		if !errors.Is(r.Err, broken) || r.Valid {
			t.Errorf("%q: Err is %v, valid %v", text, r.Err, r.Valid)
		}
	}
}

func TestAConsumerMayStopEarly(t *testing.T) {
	for _, text := range []string{"a\nb\n", "(a) (b)", `[{"action": "a"}, {"action": "b"}]`, `{"action": "a"}` + "\nb", "?\nb", "[1, 2]"} {
		n := 0
		for st, err := range validator.ReadPlan(strings.NewReader(text)) {
			if n++; err == nil && st.Action != "a" {
				t.Errorf("%q: %s first", text, st)
			}
			break
		}
		if n != 1 {
			t.Errorf("%q: %d", text, n)
		}
	}
}

func TestMemoryDoesNotGrowWithThePlan(t *testing.T) {
	p, _ := switches(t, 10, 0, true)
	const pair = "on(h1)\noff(h1)\n"
	use := func(steps int) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := validator.Validate(p, validator.ReadPlan(io.LimitReader(&endless{text: pair}, int64(steps/2*len(pair)))))
		runtime.ReadMemStats(&after)
		if !r.Valid || r.Steps != steps {
			t.Fatalf("%d steps, %s", r.Steps, r.Critique)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := use(1000), use(100_000); many > few+64<<10 {
		t.Errorf("%d bytes for 1,000 steps, %d for 100,000", few, many)
	}
}

// endless repeats a text.
type endless struct {
	text string
	at   int
}

func (e *endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = e.text[e.at]
		e.at = (e.at + 1) % len(e.text)
	}
	return len(b), nil
}

func FuzzReadPlan(f *testing.F) {
	for _, s := range []string{"drain(api)\n# x\n", "(a b) [1] (c", "0.0: (a 'b') [1]", `{"steps":[{"action":"a","args":{"x":1}}]}`, "[[[[", "1. a('\\x')", "\ufeff```\n{\"action\":\"a\"}\n```", "a(\x00)\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		line, n := 0, 0
		for st, err := range validator.ReadPlan(strings.NewReader(s)) {
			at := st.Line
			var syntax *validator.SyntaxError
			if errors.As(err, &syntax) {
				at = syntax.Line
			} else if err != nil {
				t.Fatal(err)
			}
			if n++; at < line || at > 1+strings.Count(s, "\n") {
				t.Fatalf("line %d after %d", at, line)
			}
			line = at
			if err == nil && st.Params == nil && model.Bare(st.Action) && st.Action[0] > '9' {
				if again := lines(strings.NewReader(st.String())); again != "1: "+st.String()+"\n" {
					t.Fatalf("%q is read back as %q", st.String(), again)
				}
			}
		}
		if n > len(s)+1 {
			t.Fatalf("%d steps of %d bytes", n, len(s))
		}
	})
}

// FuzzValidate promises that no plan breaks a report, makes it long, or makes it
// another the second time.
func FuzzValidate(f *testing.F) {
	for _, s := range []string{shortest, swapped, "drain(api)\nfoo\n", "drian(api)", "readd(api", `[{"action": "drain", "args": {"s": "ap"}}]`, "grow(api)\ngrow(api)", "evict(node-1, api)", "drain(api)\ndrain(db)\xff"} {
		f.Add(s)
	}
	p := fleet(f)
	f.Fuzz(func(t *testing.T, s string) {
		report := func() string {
			r := validator.Validate(p, plan(s))
			doc, err := r.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			if err := r.WriteText(&b); err != nil {
				t.Fatal(err)
			}
			if b.Len()+len(doc) > 10_000 {
				t.Fatalf("%d bytes of text, %d of JSON", b.Len(), len(doc))
			}
			return string(doc) + b.String()
		}
		if one, two := report(), report(); one != two {
			t.Fatalf("first %s\nthen %s", one, two)
		}
	})
}

// TestJSONStepsAreThoseOfTheStandardDecoder promises that names with escapes,
// quotes and braces in them arrive as they were written, in any layout.
func TestJSONStepsAreThoseOfTheStandardDecoder(t *testing.T) {
	type step struct {
		Action string            `json:"action"`
		Args   []string          `json:"args,omitempty"`
		Named  map[string]string `json:"-"`
	}
	text := rapid.StringOf(rapid.SampledFrom([]rune(`ab"\{}[],: é<&` + "\n\t\u2028")))
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
			return step{text.Draw(t, "action"), rapid.SliceOfN(text, 0, 3).Draw(t, "args"), rapid.MapOfN(text, text, 0, 3).Draw(t, "named")}
		}), 1, 4).Draw(t, "steps")
		var doc []any
		for _, s := range steps {
			if len(s.Args) == 0 {
				doc = append(doc, map[string]any{"action": s.Action, "args": s.Named, "note": []any{s.Action, 1.5}})
			} else {
				doc = append(doc, s)
			}
		}
		data, err := json.MarshalIndent(map[string]any{"steps": doc}, "", rapid.SampledFrom([]string{"", "\t"}).Draw(t, "indent"))
		if err != nil {
			t.Fatal(err)
		}
		i := 0
		for st, err := range validator.ReadPlan(bytes.NewReader(data)) {
			if err != nil {
				t.Fatalf("%s: %v", data, err)
			}
			want := steps[i]
			if i++; st.Action != want.Action || len(want.Args) > 0 && !slices.Equal(st.Args, want.Args) {
				t.Fatalf("%s: got %q", data, st)
			}
			for k, name := range st.Params {
				if v, ok := want.Named[name]; !ok || st.Args[k] != v || len(st.Params) != len(want.Named) {
					t.Fatalf("%s: got %q by %q", data, st.Args, st.Params)
				}
			}
		}
		if i != len(steps) {
			t.Fatalf("%s: %d steps", data, i)
		}
	})
}
