package validator_test

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

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
		{"half", "drain(api", `line 1: "drain(api" is not an action; write name(arg, …)` + "\n"},
		{"half a group", "(a b) (c d\n(e", "1: a(b)\n" + `line 1: "(a b) (c d" is not an action; write name(arg, …)` + "\n" + `line 2: "(e" is not an action; write name(arg, …)` + "\n"},
		{"two on a line", "drain(api) restart(api)", `line 1: "drain(api) restart(api)" is not an action; write name(arg, …)` + "\n"},
		{"glued", "(drain'api')", `line 1: "(drain'api')" is not an action; write name(arg, …)` + "\n"},
		{"comma missing", "a(b c)\na(,)\na(b,)", `line 1: "a(b c)" is not an action; write name(arg, …)` + "\n" + `line 2: "a(,)" is not an action; write name(arg, …)` + "\n" + `line 3: "a(b,)" is not an action; write name(arg, …)` + "\n"},
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
