package executor

import (
	"encoding/json"

	"github.com/fettleops/fettle/world/redaction"
)

// exact is what stays in events, questions and intents to the letter, whatever
// looks like a secret there: names, ground atoms, steps, conditions, values of
// fluents, hashes and ids. A run is gone on with, and replayed, from them.
var exact = redaction.Exact{
	Keys: redaction.Names(
		// Of a run and its model.
		"run", "goal", "scope", "mode", "model_hash", "version", "host", "file", "sha256", "status", "was", "adopted", "released", "kept",
		// Names, atoms and values.
		"fluent", "value", "to", "want", "now", "condition", "missing", "type", "open", "new", "gone", "invariants", "what",
		"Action", "Args", "Params",
		// Plans, steps and rules.
		"plan", "plan_hash", "covers", "tried_key", "failure_key", "planner", "action", "action_id", "steps", "risk", "how", "way_back",
		"restored", "resources", "in_doubt", "ground", "objects", "actions", "adds", "deletes", "unsure", "unprotected", "irreversible",
		"rule", "effect", "name", "id", "by", "why", "limit", "word", "of", "trial",
		// Words of a closed list.
		"kind", "verdict", "next", "answer", "point", "outcome", "verified",
	),
	Codes: redaction.Names("reason"),
	Trees: redaction.Names("changed", "facts", "expect", "before", "progress", "objects", "labels", "args", "sets", "failures", "violation"),
}

// hiding returns what takes out of the JSON that is written of a run whatever
// looks like a secret, by the built-in patterns and by those of the model.
func hiding(own redaction.Patterns) func(json.RawMessage) json.RawMessage {
	return func(raw json.RawMessage) json.RawMessage { return own.JSON(raw, exact) }
}
