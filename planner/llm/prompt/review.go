package prompt

import (
	"fmt"
	"strings"

	"github.com/fettleops/fettle/model"
)

const reviewSystem = `You read plans for fettle, which carries out operations on computer systems. The plan was simulated and is valid: every step is possible, no invariant is broken, and it reaches the goal. You are its second reader, before a person approves it.

Judge it by the goal and its acceptance criteria alone. Do not invent criteria. Accept it if every criterion is met and nothing in it works against the goal's sentence, even if you can imagine a better plan. Otherwise require changes, each of one step, only as many as are needed.

` + dataRule + `

Answer with one JSON object and nothing else: {"accept": true, "changes": []} or
{"accept": false, "changes": [{"step": NUMBER, "text": "what must change and why, in one sentence"}]}. Steps count from 1.`

// RenderReview renders the question to a critic: the goal's sentence, the
// acceptance criteria, the model and the plan, and nothing of how the plan came
// about. Of the input, attempts, rejections, feedback, example, labels, lessons and
// templates are not used.
func RenderReview(in Input, plan []model.Step) (Prompt, error) {
	in.Attempts, in.Rejected, in.Example, in.Labels, in.Lessons, in.Override = nil, nil, nil, nil, nil, nil
	t, err := parseTemplates(nil)
	if err != nil {
		return Prompt{}, err
	}
	r := newRenderer(in, t)
	var lines []string
	for i, st := range plan {
		var args []string
		for _, a := range st.Args {
			args = append(args, r.text(a, maxName))
		}
		lines = append(lines, object("step", fmt.Sprint(i+1), "action", r.text(st.Action, maxName), "args", list(args)))
	}
	parts := []string{"# The model\n\n" + r.fixed.Model}
	if notes := strings.TrimSpace(in.Notes); notes != "" {
		parts = append(parts, "# Notes from the operator\n\n"+notes)
	}
	parts = append(parts, "# The goal\n\n"+r.fixed.Goal)
	parts = append(parts, "# The state from which the plan starts\n\n"+r.state(), "# The plan\n\n"+data("plan", lines))
	p := Prompt{System: r.redacted(reviewSystem), User: r.redacted(strings.Join(parts, "\n\n"))}
	p.Tokens = Tokens(p.System) + Tokens(p.User)
	if in.ContextTokens > 0 && p.Tokens > in.ContextTokens {
		return Prompt{}, &SizeError{Tokens: p.Tokens, Limit: in.ContextTokens}
	}
	return p, nil
}

// ReviewSchema is the JSON Schema of a critic's answer.
const ReviewSchema = `{"type": "object", "additionalProperties": false, "required": ["accept", "changes"], "properties": {"accept": {"type": "boolean"}, "changes": {"type": "array", "items": {"type": "object", "additionalProperties": false, "required": ["step", "text"], "properties": {"step": {"type": "integer"}, "text": {"type": "string"}}}}}}`
