package reply

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/fettleops/fettle/model"
)

// Bounds of what a schema spells out. Providers refuse schemas with more than
// 1,000 words or 15,000 letters, and with many alternatives.
const (
	maxWords        = 500
	maxLetters      = 10_000
	maxAlternatives = 24
	maxWord         = 64 // bytes of an object's name
)

// schema is a JSON Schema, or a part of one.
type schema map[string]any

// Schema returns the JSON Schema of an answer: steps, with the names of the
// allowed actions (nil: any) and, where they are few, of the objects, those of
// each action's own parameters; and why there is no plan, or null. It keeps to
// what the strict modes of OpenAI and of Anthropic take: every key is required
// and no other allowed, and how many steps (0: any) and arguments there may be
// is told, not enforced. The same model gives the same schema.
func Schema(u *model.Universe, allowed []*model.Action, maxSteps int) json.RawMessage {
	var actions []*model.Action
	for _, a := range u.Actions {
		if allowed == nil || slices.Contains(allowed, a) {
			actions = append(actions, a)
		}
	}
	about := "The whole plan, in order; [] where there is none."
	if maxSteps > 0 {
		about = fmt.Sprintf("The whole plan, in order, at most %d steps; [] where there is none.", maxSteps)
	}
	out, err := json.Marshal(keys(schema{
		"steps":   schema{"type": "array", "description": about, "items": stepSchema(u, actions)},
		"no_plan": schema{"type": []string{"string", "null"}, "description": "Why there is no plan; null where there is one."},
	}))
	if err != nil {
		panic(err) // There is nothing in it but words.
	}
	return out
}

// keys is an object with exactly these keys.
func keys(properties schema) schema {
	names := make([]string, 0, len(properties))
	for name := range properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return schema{"type": "object", "properties": properties, "required": names, "additionalProperties": false}
}

// stepSchema describes a step as exactly as the bounds allow: by action, by all
// names, by the actions' names alone.
func stepSchema(u *model.Universe, actions []*model.Action) schema {
	if s, ok := byAction(u, actions); ok {
		return s
	}
	b := &bounds{}
	s := keys(schema{"action": b.word(actionNames(actions)), "args": schema{"type": "array", "items": schema{"type": "string"}}})
	all := &bounds{words: b.words, letters: b.letters}
	args := all.word(objectNames(u, actions...))
	if all.within() {
		s["properties"].(schema)["args"] = schema{"type": "array", "items": args}
		return s
	}
	if !b.within() {
		s["properties"].(schema)["action"] = schema{"type": "string"}
	}
	return s
}

// byAction gives each action an alternative of its own; false where that is
// more than the bounds allow.
func byAction(u *model.Universe, actions []*model.Action) (schema, bool) {
	if len(actions) == 0 || len(actions) > maxAlternatives {
		return nil, false
	}
	b := &bounds{}
	var steps []schema
	for _, a := range actions {
		args := schema{"type": "array", "description": about(a), "items": b.word(objectNames(u, a))}
		steps = append(steps, keys(schema{"action": b.word([]string{a.Name}), "args": args}))
		if !b.within() {
			return nil, false
		}
	}
	return schema{"anyOf": steps}, true
}

// about tells what arguments an action takes.
func about(a *model.Action) string {
	if len(a.Params) == 0 {
		return "no arguments: []"
	}
	return "the arguments of " + a.Signature()
}

func actionNames(actions []*model.Action) []string {
	var names []string
	for _, a := range actions {
		names = append(names, a.Name)
	}
	return names
}

// objectNames returns the objects that the actions' parameters range over, each
// once, in the order of the parameters; no more than the bounds can take.
func objectNames(u *model.Universe, actions ...*model.Action) []string {
	var names []string
	seen := map[string]bool{}
	for _, a := range actions {
		for _, p := range a.Params {
			for _, o := range u.Objects(p.Type) {
				name := u.Name(p.Type, o)
				if !seen[name] {
					seen[name] = true
					names = append(names, name)
				}
				if len(names) > maxWords {
					return names
				}
			}
		}
	}
	return names
}

// bounds counts what a schema spells out.
type bounds struct{ words, letters int }

func (b *bounds) within() bool { return b.words <= maxWords && b.letters <= maxLetters }

// word is one of the names; any string where there are none, or where one is
// more than a plain word: objects may be named by the world, and a schema has no
// data sections in which text from outside is told as such.
func (b *bounds) word(names []string) schema {
	s := schema{"type": "string"}
	if slices.ContainsFunc(names, func(n string) bool { return !model.Bare(n) || len(n) > maxWord }) {
		return s
	}
	for _, n := range names {
		b.words++
		b.letters += len(n)
	}
	if len(names) > 0 {
		s["enum"] = names
	}
	return s
}
