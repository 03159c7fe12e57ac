package executor

import (
	"encoding/json"

	"github.com/fettleops/fettle/journal"
)

// BodiesOf returns the digests of the bodies that an event refers to and without
// which the run cannot be replayed: the model, a plan that it was given, and
// observed values that are too many for the event. Outputs are not among them.
func BodiesOf(e journal.Event) (sums []string) {
	var v struct {
		Model json.RawMessage `json:"model"` // In other events than these two it is a name.
		Plan  json.RawMessage `json:"plan"`
		Body  *journal.Ref    `json:"changed_body"`
	}
	if json.Unmarshal(e.Data, &v) != nil {
		return nil
	}
	if v.Body != nil {
		sums = append(sums, v.Body.SHA256)
	}
	if e.Kind != RunStarted && e.Kind != RunResumed {
		return sums
	}
	var model RecordedModel
	if len(v.Model) > 0 && json.Unmarshal(v.Model, &model) == nil {
		for _, part := range model.Parts {
			sums = append(sums, part.SHA256)
		}
	}
	var plan journal.Ref
	if len(v.Plan) > 0 && json.Unmarshal(v.Plan, &plan) == nil && plan.SHA256 != "" {
		sums = append(sums, plan.SHA256)
	}
	return sums
}
