package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Covers are the written bounds within which the approval of one plan of a run
// holds for a later plan of the same run. Every bound that is set must hold; a
// block that sets none is a mistake.
type Covers struct {
	SameActions bool   // its ground actions are all among those of the approved plan
	MaxRisk     string // of each of its steps, which must state one; "": any
	MaxSteps    Limit[int]
	MaxCost     Limit[float64] // of the plan, as its actions' cost says
}

// CoveredPlan is what the bounds look at of a plan.
type CoveredPlan struct {
	Steps       []string // ground actions
	Risks       []string // of the steps, in their order
	Cost        float64
	Unprotected []string // ground actions that may act late
	Asked       []string // why a person is asked about it, other than by the mode
}

// riskWords are the risks that a model can state, the least first.
var riskWords = []string{"low", "medium", "high"}

// Covered tells whether the approval of one plan holds for another within the
// bounds. Where it does not, why says what stands in the way. Whatever the
// bounds, a plan is not covered that has an unprotected step, or a reason to ask,
// which the approved plan had not: nobody was asked about that.
func (c Covers) Covered(approved, later CoveredPlan) (why string, ok bool) {
	switch {
	case c.SameActions && beyond(later.Steps, approved.Steps) != "":
		return beyond(later.Steps, approved.Steps) + " is no action of the approved plan", false
	case !c.MaxSteps.Allows(len(later.Steps)):
		return fmt.Sprintf("it has %d steps, max_steps = %d", len(later.Steps), c.MaxSteps.Value), false
	case !c.MaxCost.Allows(later.Cost):
		return fmt.Sprintf("it costs %g, max_cost = %g", later.Cost, c.MaxCost.Value), false
	case beyond(later.Unprotected, approved.Unprotected) != "":
		return beyond(later.Unprotected, approved.Unprotected) + " is unprotected, and was not in the approved plan", false
	case beyond(later.Asked, approved.Asked) != "":
		return "it was not asked about this: " + beyond(later.Asked, approved.Asked), false
	}
	return c.risky(later)
}

// risky holds the risks of a plan against the bound. A step that states none is
// beyond it: what cannot be checked is not allowed.
func (c Covers) risky(later CoveredPlan) (why string, ok bool) {
	if c.MaxRisk == "" {
		return "", true
	}
	most := slices.Index(riskWords, c.MaxRisk)
	for i, risk := range later.Risks {
		switch n := slices.Index(riskWords, risk); {
		case n < 0:
			return later.Steps[i] + " states no risk, max_risk = " + c.MaxRisk, false
		case n > most:
			return fmt.Sprintf("the risk of %s is %s, max_risk = %s", later.Steps[i], risk, c.MaxRisk), false
		}
	}
	return "", true
}

// beyond returns the first of the texts that is not among the others, "" where all are.
func beyond(texts, others []string) string {
	for _, s := range texts {
		if !slices.Contains(others, s) {
			return s
		}
	}
	return ""
}

var coversSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "same_actions"}, {Name: "max_steps"}, {Name: "max_cost"}, {Name: "max_risk"}}}

// covers reads the block approval_covers.
func (d *decoder) covers(b *hcl.Block) {
	content, diags := b.Body.Content(coversSchema)
	inner := &decoder{p: d.p, prefix: "approval_covers.", ctx: d.ctx, attrs: content.Attributes, given: map[string]bool{}, diags: diags}
	c := &Covers{}
	if v, _, ok := inner.value("same_actions", cty.Bool); ok {
		c.SameActions = v.True()
	}
	if n, ok := inner.count("max_steps", 1); ok {
		c.MaxSteps = AtMost(n)
	}
	if v, rng, ok := inner.number("max_cost"); ok {
		if v < 0 {
			inner.invalid("max_cost", rng, fmt.Sprintf("max_cost is the cost of a plan and cannot be negative, got %g.", v))
		}
		c.MaxCost = AtMost(v)
	}
	inner.word("max_risk", riskWords, func(w string) { c.MaxRisk = w })
	if len(inner.diags) == 0 && *c == (Covers{}) {
		inner.report(hcl.DiagError, b.DefRange, "No bounds",
			"This would have the approval of one plan hold for any other. Write at least one of "+strings.Join([]string{"same_actions = true", "max_steps", "max_cost", "max_risk"}, ", ")+".")
	}
	d.diags = append(d.diags, inner.diags...)
	d.p.ApprovalCovers = c
	d.p.ranges["approval_covers"] = b.DefRange
}
