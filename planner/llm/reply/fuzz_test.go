package reply_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/fettleops/fettle/planner/llm/reply"
)

// hostile are texts that repeat what opens something and never closes it, or
// that are many of one thing.
var hostile = []string{
	"{", "[{", `{"a":`, `["`, `"`, `{\"`, `{"steps":[{"action":"a","args":["b"]},`, `{"steps":1}` + "\n", `{"action":"a"}` + "\n", `{"a":1}`,
	"<think>", "</think>", "<think></think>", "```\n", "```json\n", "(", "(plan\n", "(plan (", "a(", "a('", "**", "`", "1. ", "- x y\n",
	"(a b)\n", "1. a(b) - c\n", "fit\n\n", "[PLAN]\n(a b)\n", "```\na(b)\n```\n", "prose is here\n", "\n", "\x00", "\xff", "<html>", `'{"`,
}

// TestALongReplyIsReadToItsEnd has no clock: what takes more than time in
// proportion to its length would not end within a test's.
func TestALongReplyIsReadToItsEnd(t *testing.T) {
	for _, unit := range hostile {
		n := 32 << 10
		checkReading(t, strings.Repeat(unit, n/len(unit)))
		checkReading(t, strings.Repeat(unit, n/len(unit))+"\n"+drainDB)
	}
	for _, unit := range []string{"{", "(a b)\n"} {
		n := 10 << 20
		checkReading(t, strings.Repeat(unit, n/len(unit)))
	}
	var list strings.Builder // Numbered steps that explanations part.
	for i := range 5_000 {
		list.WriteString(strings.Repeat("1", 1+i%5) + ". fit\nwhy not\n")
	}
	checkReading(t, list.String())
	p := reply.Parse(strings.Repeat("drain(api)\n", 2<<20))
	if want := "line 1: a reply of more than 16 MiB is not read; " + answerForm; p.Unreadable == nil || p.Unreadable.Error() != want {
		t.Errorf("%v\nexpected %s", p.Unreadable, want)
	}
}

// checkReading holds what is read in a text against what is so for any.
func checkReading(t *testing.T, text string) {
	t.Helper()
	p := reply.Parse(text)
	if p.NoPlan && (len(p.Steps) > 0 || p.Unreadable != nil) {
		t.Fatalf("no plan, and yet %v, %v", p.Steps, p.Unreadable)
	}
	if e := p.Unreadable; e != nil && (e.Line < 1 || e.Line > 1+strings.Count(text, "\n")+strings.Count(text, `\n`) || e.Message == "") {
		t.Fatalf("line %d: %q", e.Line, e.Message)
	}
	for _, st := range p.Steps {
		if st.Line < 1 {
			t.Fatalf("%v has no line", st)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range hostile {
		f.Add(strings.Repeat(s, 3))
	}
	for _, s := range []string{
		both, "```json\n" + both + "\n```", "<think>x</think>" + drainDB, `"{\"steps\": [\"fit\"]}"`, "1. drain(api)\n2. Restart it\n",
		"[PLAN]\n(drain api)\n[PLAN_END]", "(plan (a b) (c d))", "No plan exists.", "- **drain(api)**: why\n", `{"steps": ["fit",],}`, "a\r\nb(c)\r\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		checkReading(t, text)
		if a, b := reply.Parse(text), reply.Parse(text); !reflect.DeepEqual(a, b) {
			t.Fatalf("%v, then %v", a, b)
		}
	})
}
