package reply_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/planner/llm/reply"
)

// plans draws plans with names that need quotes in them.
func plans(arg *rapid.Generator[string]) *rapid.Generator[[]model.Step] {
	step := rapid.Custom(func(t *rapid.T) model.Step {
		return model.Step{
			Action: rapid.StringMatching(`[a-z][a-z_]{0,8}`).Draw(t, "action"),
			Args:   rapid.SliceOfN(arg, 1, 3).Draw(t, "args"),
		}
	})
	return rapid.SliceOfN(step, 1, 6)
}

// asJSON writes an answer with these steps.
func asJSON(t *rapid.T, steps []model.Step) string {
	type written struct {
		Action string   `json:"action"`
		Args   []string `json:"args"`
	}
	var list []written
	for _, st := range steps {
		list = append(list, written{st.Action, st.Args})
	}
	b, err := json.MarshalIndent(map[string]any{"steps": list, "no_plan": nil}, "", rapid.SampledFrom([]string{"", "  "}).Draw(t, "indent"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// around are ways to put an answer into a reply.
var around = []func(string) string{
	func(s string) string { return "```json\n" + s + "\n```" },
	func(s string) string { return "````\n```json\n" + s + "\n```\n````" },
	func(s string) string { return "Here is the plan for (api):\n\n" + s + "\n\nIt reaches the goal." },
	func(s string) string { return "<think>\ndrop(everything)\n" + quoted(s) + "</think>\n" + s },
	func(s string) string { return "drop(everything)\n</think>\n" + s },
	func(s string) string { return "\ufeff\n\n" + s + "\r\n" },
}

// twiceCoded are ways that only JSON bears.
var twiceCoded = []func(string) string{
	quoted,
	func(s string) string { return "The answer: " + quoted(s) },
	func(s string) string { return strings.ReplaceAll(s, "]}", "],}") },
}

// same tells whether the steps are those that were written.
func same(got, want []model.Step) bool {
	return len(got) == len(want) && reflect.DeepEqual(bare(got), bare(want))
}

func bare(steps []model.Step) []string {
	var out []string
	for _, st := range steps {
		out = append(out, fmt.Sprintf("%q %q", st.Action, st.Args))
	}
	return out
}

// anyName draws names of any sort, without what makes a JSON text ambiguous to
// the generator's own edits.
var anyName = rapid.StringMatching(`[a-z0-9_.:/@ '\\"{}\[(),;#-]{1,8}`).Filter(func(s string) bool { return strings.TrimSpace(s) != "" })

func TestAnAnswerInJSONIsFoundWhateverStandsAroundIt(t *testing.T) {
	ways := append(append([]func(string) string{}, around...), twiceCoded...)
	rapid.Check(t, func(t *rapid.T) {
		want := plans(anyName).Draw(t, "plan")
		text := asJSON(t, want)
		if i := rapid.IntRange(-1, len(ways)-1).Draw(t, "way"); i >= 0 {
			text = ways[i](text)
		}
		if p := reply.Parse(text); p.Unreadable != nil || p.NoPlan || !same(p.Steps, want) {
			t.Fatalf("%v, %v\n%s", p.Steps, p.Unreadable, text)
		}
	})
}

// listed are ways to write a step in a list.
var listed = []func(int, string) string{
	func(_ int, s string) string { return s },
	func(i int, s string) string { return fmt.Sprintf("%d. %s", i+1, s) },
	func(i int, s string) string { return fmt.Sprintf("%d) `%s`", i+1, s) },
	func(i int, s string) string { return fmt.Sprintf("**Step %d:** %s", i+1, s) },
	func(i int, s string) string {
		return fmt.Sprintf("%d. **%s** - for a reason\n   - and another", i+1, s)
	},
	func(_ int, s string) string { return "- " + s + "," },
	func(_ int, s string) string { return s + " # so it is" },
}

func TestAPlanAsTextIsFoundWhateverStandsAroundIt(t *testing.T) {
	name := rapid.StringMatching(`[a-z0-9_.:/@ '\\"{}\[(),;-]{1,8}`).Filter(func(s string) bool { return strings.TrimSpace(s) != "" })
	rapid.Check(t, func(t *rapid.T) {
		want := plans(name).Draw(t, "plan")
		write := rapid.SampledFrom(listed).Draw(t, "list")
		var lines []string
		for i, st := range want {
			lines = append(lines, write(i, st.String()))
		}
		text := strings.Join(lines, "\n")
		if i := rapid.IntRange(-1, len(around)-1).Draw(t, "way"); i >= 0 {
			text = around[i](text)
		}
		if p := reply.Parse(text); p.Unreadable != nil || p.NoPlan || !same(p.Steps, want) {
			t.Fatalf("%v, %v\n%s", p.Steps, p.Unreadable, text)
		}
	})
}

func TestAnAnswerThatIsCutAnywhereIsUnreadable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := asJSON(t, plans(anyName).Draw(t, "plan"))
		cut := text[:rapid.IntRange(0, len(text)-1).Draw(t, "at")]
		before := rapid.SampledFrom([]string{"", "```json\n", "Here it is: ", "1. drain(api)\n\n"}).Draw(t, "before")
		p := reply.Parse(before + cut)
		if p.Unreadable == nil && (cut != "" && strings.TrimSpace(cut) != "{" || before == "") {
			t.Fatalf("%v\n%s%s", p.Steps, before, cut)
		}
	})
}
