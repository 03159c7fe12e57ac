package load

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
)

// test checks a test block: its parts, and, where these are sound, whether
// they make a test that can be run.
func (ld *loader) test(b *Block) {
	before := len(ld.diags.all)
	ld.shaped(b.Body, b.Range, &testShape)
	if len(ld.diags.all) > before {
		return
	}
	c := ld.content(b.Body, testShape.schema())
	expect := ld.content(ld.single(c.Blocks, "expect").Body, testShape.blocks[0].shape.schema())
	ld.testStart(b.Range, c.Attributes)
	if c.Attributes["plan"] != nil {
		ld.testOfPlan(c.Attributes, expect.Attributes)
	} else {
		ld.testOfSearch(b.Range, c.Attributes, expect.Attributes)
	}
}

// testStart reports a test of which nothing says where it starts.
func (ld *loader) testStart(rng hcl.Range, attrs hcl.Attributes) {
	n := len(ld.m.States)
	if given(attrs, []string{"state", "facts", "values", "unknown", "observed"}) != nil || n == 1 {
		return
	}
	ld.errorAt(rng, "No state to start from", "The model has %s, so a test says where it starts: state names a state, facts and values write one, observed gives observations.", counted(n, "state"))
}

// testOfPlan reports what only a search can answer, and a goal that is to be
// missed and is not named.
func (ld *loader) testOfPlan(attrs, expect hcl.Attributes) {
	if kind := expect["kind"]; kind != nil && attrs["goal"] == nil && literal(kind.Expr) == "goal" {
		ld.errorAt(kind.Expr.Range(), "No goal to miss", "With a plan only a goal that is named is checked; say which with goal.")
	}
	for _, name := range []string{"unsolvable", "unobservable"} {
		if attr := expect[name]; attr != nil {
			ld.errorAt(attr.NameRange, "Contradicting expectations", "%s is said of a goal and not of one plan; remove it, or the test's plan.", name)
		}
	}
}

// testOfSearch reports a test without a plan for which none can be sought, or
// of which a violation is expected: the plan that is found has none.
func (ld *loader) testOfSearch(rng hcl.Range, attrs, expect hcl.Attributes) {
	n := len(ld.m.Goals)
	switch {
	case attrs["goal"] != nil:
	case n != 1:
		ld.errorAt(rng, "No goal to plan for", "Without plan the test plans for a goal, and the model has %s; say which with goal.", counted(n, "goal"))
	case len(ld.m.Goals[0].Params) > 0:
		ld.errorAt(rng, "No goal to plan for", "Without plan the test plans for a goal, and %s takes %s; say for what with goal.", ld.m.Goals[0].Name, takes(ld.m.Goals[0].Params))
	}
	for _, attr := range given(expect, []string{"step", "kind", "conditions"}) {
		ld.errorAt(attr.NameRange, "No plan to violate anything", "%s speaks of a violation, and a plan that is found has none; write the plan.", attr.Name)
	}
	for _, name := range []string{"unsolvable", "unobservable"} {
		if !ld.isTrue(expect[name]) {
			continue
		}
		for _, attr := range given(expect, []string{"steps", "max_steps", "cost", "max_cost", "state", "unknown"}) {
			ld.errorAt(attr.NameRange, "Contradicting expectations", "With %s = true there is no plan, and nothing of which %s could be told; remove one.", name, attr.Name)
		}
	}
	if attr := expect["valid"]; attr != nil && !ld.isTrue(attr) {
		ld.errorAt(attr.NameRange, "No plan to violate anything", "A plan that is found is valid. Write the plan, or say unsolvable = true where there is none.")
	}
}

func counted(n int, noun string) string {
	switch n {
	case 0:
		return "no " + noun
	case 1:
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
