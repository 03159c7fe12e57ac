package load

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// testShape is the body of a test. Its plan is text, since a test may well be
// about a plan that names what does not exist.
var testShape = shape{
	settings: []setting{
		{"doc", isText},
		{"state", isStateName},
		{"facts", nil},
		{"values", nil},
		{"unknown", nil},
		{"observed", isValues(false)},
		{"goal", isGoal},
		{"plan", isPlan},
	},
	blocks: []nested{{name: "expect", required: true, shape: &shape{
		settings: []setting{
			{"valid", isFlag},
			{"step", integer(1, maxCount)},
			{"kind", words(violations...)},
			{"conditions", isTexts},
			{"steps", integer(0, maxCount)},
			{"max_steps", integer(0, maxCount)},
			{"cost", isAmount},
			{"max_cost", isAmount},
			{"unsolvable", isFlag},
			{"unobservable", isFlag},
			{"state", isValues(true)},
			{"unknown", areUnknown},
		},
		relations: relations{somethingExpected, atMostOne("steps", "max_steps"), atMostOne("cost", "max_cost")},
	}}},
	relations: relations{
		func(ld *loader, attrs hcl.Attributes, _ hcl.Range) { ld.state("", attrs) },
		exclude([]string{"state", "observed"}, []string{"facts", "values", "unknown"}), atMostOne("state", "observed"),
	},
}

// violations are the kinds of a report's critique.
var violations = []string{
	"syntax", "unknown_action", "wrong_arity", "unknown_object", "wrong_type", "precondition", "unknown_value",
	"effect_conflict", "invariant", "policy", "goal",
}

// isValues checks the values of ground fluents.
func isValues(derived bool) check {
	return func(ld *loader, attrs hcl.Attributes, name string) {
		r := ld.stateReader("")
		r.derived, r.expected = derived, derived
		r.values(attrs[name])
	}
}

// areUnknown checks a list of ground fluents, derived ones among them.
func areUnknown(ld *loader, attrs hcl.Attributes, name string) {
	r := ld.stateReader("")
	r.derived, r.expected = true, true
	r.atoms(attrs[name], false)
}

// isPlan checks that a plan is text, or a list of its steps.
func isPlan(ld *loader, attrs hcl.Attributes, name string) {
	const what = "a plan as text, or a list of its steps"
	v, ok := ld.value(attrs[name], cty.DynamicPseudoType, what)
	switch {
	case !ok, v.Type() == cty.String:
	case v.Type().IsTupleType(), v.Type().IsListType():
		ld.texts(attrs[name])
	default:
		ld.errorAt(attrs[name].Expr.Range(), "Wrong type", "%s takes %s.", name, what)
	}
}

// somethingExpected reports a test that cannot fail, and one whose wishes
// cannot be met together.
func somethingExpected(ld *loader, attrs hcl.Attributes, rng hcl.Range) {
	if len(attrs) == 0 {
		ld.errorAt(rng, "Nothing is expected", "A test that expects nothing cannot fail. Say for example valid = true.")
	}
	violated := given(attrs, []string{"step", "kind", "conditions"})
	for _, name := range []string{"valid", "unsolvable", "unobservable"} {
		if len(violated) > 0 && ld.isTrue(attrs[name]) {
			ld.errorAt(violated[0].NameRange, "Contradicting expectations", "%s speaks of a violation, and there is none with %s = true; remove one.", violated[0].Name, name)
		}
	}
	for _, name := range []string{"unsolvable", "unobservable"} {
		if ld.isTrue(attrs["valid"]) && ld.isTrue(attrs[name]) {
			ld.errorAt(attrs[name].NameRange, "Contradicting expectations", "With %s = true there is no plan that could be valid; remove one.", name)
		}
	}
	if ld.isTrue(attrs["unsolvable"]) && ld.isTrue(attrs["unobservable"]) {
		ld.errorAt(attrs["unobservable"].NameRange, "Contradicting expectations", "The search answers with one of unsolvable and unobservable; remove one.")
	}
}

func (ld *loader) isTrue(attr *hcl.Attribute) bool {
	if attr == nil {
		return false
	}
	v, diags := attr.Expr.Value(ld.l.Eval)
	return !diags.HasErrors() && v.IsKnown() && !v.IsNull() && v.Type() == cty.Bool && v.True()
}
