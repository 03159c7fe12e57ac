package llm_test

import (
	"strings"
	"testing"

	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/planner/llm"
)

func TestOpinions(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       planner.Opinion
		err        string
	}{
		{"accepts", `{"accept": true, "changes": []}`, planner.Opinion{Accept: true}, ""},
		{"accepts whatever it would change", `{"accept": true, "changes": [{"step": 1, "text": "nicer"}]}`, planner.Opinion{Accept: true}, ""},
		{
			"revises, in prose and a fence", "I think {so}:\n```json\n{\"accept\": false, \"changes\": [{\"step\": 2, \"text\": \"restart\\nit\"}]}\n```",
			planner.Opinion{Changes: []planner.Change{{Step: 2, Text: "restart it"}}},
			"",
		},
		{"names a step that there is not", `{"accept": false, "changes": [{"step": 4, "text": "x"}, {"step": 0, "text": "y"}, {"step": 1, "text": " "}]}`, planner.Opinion{}, "names no step"},
		{"says neither", `{"changes": [{"step": 1, "text": "x"}]}`, planner.Opinion{}, "no opinion"},
		{"prose", "Looks good to me.", planner.Opinion{}, "no opinion: Looks good to me."},
		{"nothing", "", planner.Opinion{}, "no opinion"},
		{"braces without end", strings.Repeat("{", 100_000), planner.Opinion{}, "no opinion"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := llm.ReadOpinion(c.text, 3)
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Fatalf("error %v, want %q", err, c.err)
			}
			if got.Accept != c.want.Accept || len(got.Changes) != len(c.want.Changes) || len(got.Changes) > 0 && got.Changes[0] != c.want.Changes[0] {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
