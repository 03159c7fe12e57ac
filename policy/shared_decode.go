package policy

import (
	"fmt"
	"time"

	"github.com/hashicorp/hcl/v2"
)

var sharedSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{
	{Name: "window"},
	{Name: "max_per_object"},
	{Name: "max_per_action"},
	{Name: "max_total"},
	{Name: "cooldown"},
	{Name: "breaker"},
	{Name: "breaker_reset"},
	{Name: "ineffective"},
}}

// shared reads the limits that hold for all controllers together.
func (d *decoder) shared(b *hcl.Block) {
	content, diags := b.Body.Content(sharedSchema)
	in := &decoder{p: d.p, prefix: "shared.", ctx: d.ctx, attrs: content.Attributes, given: map[string]bool{}, diags: diags}
	s := &d.p.Shared
	s.Window = in.span("window").Value
	s.MaxPerObject = in.most("max_per_object", 0)
	s.MaxPerAction = in.most("max_per_action", 0)
	s.MaxTotal = in.most("max_total", 0)
	s.Cooldown = in.span("cooldown")
	s.Breaker = in.most("breaker", 1)
	s.BreakerReset = in.span("breaker_reset")
	s.Ineffective = in.span("ineffective")
	if s.Breaker.Value > sharedRuns {
		in.invalid("breaker", in.attrs["breaker"].Expr.Range(), fmt.Sprintf("The last %d runs towards a goal are kept to be counted; breaker can be %d at most.", sharedRuns, sharedRuns))
	}
	in.together(b.DefRange)
	d.diags = append(d.diags, in.diags...)
	d.p.ranges["shared"] = b.DefRange
}

// together checks what the attributes of a shared block need of one another.
func (d *decoder) together(rng hcl.Range) {
	counts := d.given["max_per_object"] || d.given["max_per_action"] || d.given["max_total"]
	switch {
	case counts && !d.given["window"]:
		d.report(hcl.DiagError, rng, "Missing window", "max_per_object, max_per_action and max_total count the actions of a span of time. Add, for example:\n\n  window = \"1h\"")
	case d.given["window"] && !counts:
		d.report(hcl.DiagError, *d.p.where("shared.window"), "Nothing to count", "window is the span in which max_per_object, max_per_action and max_total count; give one of them, or leave it out.")
	case d.given["breaker_reset"] && !d.given["breaker"]:
		d.report(hcl.DiagError, *d.p.where("shared.breaker_reset"), "Nothing to reset", "breaker_reset is for how long a breaker stays open. Add, for example:\n\n  breaker = 3")
	case len(d.attrs) == 0:
		d.report(hcl.DiagError, rng, "Empty shared block", "It limits nothing. Give limits, or leave it out.")
	}
}

func (d *decoder) most(name string, least int) Limit[int] {
	n, ok := d.count(name, least)
	return Limit[int]{Value: n, Set: ok}
}

// span reads a duration over which earlier actions or runs are looked at.
func (d *decoder) span(name string) Limit[time.Duration] {
	t, ok := d.duration(name, false)
	if ok && t > SharedReach {
		d.invalid(name, d.attrs[name].Expr.Range(), fmt.Sprintf("What all controllers did is looked at for 7 days; %s can be that long at most, got %s.", name, spell(t)))
		return Limit[time.Duration]{}
	}
	return Limit[time.Duration]{Value: t, Set: ok}
}
