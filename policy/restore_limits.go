package policy

import (
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model"
)

// RestoreLimits bound how a run that stops short goes back, where on_stop is
// restore. They count apart from those of the run, which may be used up by then.
type RestoreLimits struct {
	MaxActions Limit[int]           // executions; absent: max_actions once more
	Deadline   Limit[time.Duration] // since going back began; absent: the run's deadline once more
}

var restoreSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "max_actions"}, {Name: "deadline"}}}

// restore reads the block of the limits of going back.
func (d *decoder) restore(b *hcl.Block) {
	content, diags := b.Body.Content(restoreSchema)
	inner := &decoder{p: d.p, prefix: "restore.", ctx: d.ctx, attrs: content.Attributes, given: map[string]bool{}, diags: diags}
	if n, ok := inner.count("max_actions", 0); ok {
		d.p.RestoreLimits.MaxActions = AtMost(n)
	}
	if t, ok := inner.duration("deadline", false); ok {
		d.p.RestoreLimits.Deadline = AtMost(t)
	}
	d.diags = append(d.diags, inner.diags...)
	d.p.ranges["restore"] = b.DefRange
}

// checkRestore warns of what is said of going back and does nothing.
func (p *Policy) checkRestore(m *model.Model) hcl.Diagnostics {
	var diags hcl.Diagnostics
	warn := func(rng *hcl.Range, summary, detail string) {
		diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: summary, Detail: detail, Subject: rng})
	}
	if _, written := p.ranges["restore"]; written && p.OnStop != Restore {
		warn(p.where("restore"), "Limits of what is not done", "A run goes back only where on_stop = \"restore\"; say so, or remove the block.")
	}
	if p.OnStop != Restore {
		return diags
	}
	var without []string
	for _, g := range m.Goals {
		if g.Severity == nil {
			without = append(without, g.Name)
		}
	}
	if len(without) > 0 {
		warn(p.where("on_stop"), "Nothing to go back to", fmt.Sprintf("A run goes back to the severity that it found, but %s: "+
			"say in the goal how bad a state is, as in severity = \"count(service, !in_lb(#))\".", goals(without)))
	}
	return diags
}

func goals(names []string) string {
	if len(names) == 1 {
		return "goal " + names[0] + " gives none"
	}
	return "the goals " + strings.Join(names, ", ") + " give none"
}

// GoingBack returns how many actions and how much time a run that stopped short
// has for going back.
func (p *Policy) GoingBack() (actions int, within time.Duration) {
	return p.RestoreLimits.MaxActions.Or(p.MaxActions), p.RestoreLimits.Deadline.Or(p.Deadline)
}

// PointRestore is before each execution of an action by which a run that stopped
// short goes back.
const PointRestore Point = "restore"

// RestoreProgress is how far a run is with going back.
type RestoreProgress struct {
	Ways        int        `json:"ways"`    // that were begun
	Actions     int        `json:"actions"` // executed
	Failure     FailureKey `json:"failure,omitempty"`
	SameFailure int        `json:"same_failure"` // how often that failure came in a row
	Started     time.Time  `json:"started"`
	Now         time.Time  `json:"now"`
	Paused      bool       `json:"paused,omitempty"`
}

// DecideRestore answers whether a run that stopped short may go on going back.
// It depends on its arguments alone.
func (p *Policy) DecideRestore(g RestoreProgress) Decision {
	d := decision{Decision: Decision{Point: PointRestore, Answer: Continue}}
	actions, within := p.GoingBack()
	used := max(0, g.Now.Sub(g.Started))
	if p.Mode == Suggest {
		d.stop(Denied, "mode = \"suggest\": nothing is carried out")
	}
	if used >= within {
		d.stop(Deadline, "%s = %s is over: going back began %s ago", p.restoreName("deadline", p.RestoreLimits.Deadline.Set), spell(within), spell(used))
	}
	if g.Actions >= actions {
		d.stop(Budget, "%s = %d reached: %d executed", p.restoreName("max_actions", p.RestoreLimits.MaxActions.Set), actions, g.Actions)
	}
	if g.Ways > p.MaxRounds {
		d.stop(Rounds, "max_rounds = %d reached: so many ways back were begun", p.MaxRounds)
	}
	if g.SameFailure >= p.SameFailureRetries {
		d.stop(NoProgress, "same_failure_retries = %d reached by %s", p.SameFailureRetries, g.Failure)
	}
	if g.Paused {
		d.wait(Paused, "actions are paused everywhere")
	}
	if d.Answer == Continue {
		d.Reasons = append(d.Reasons, fmt.Sprintf("%d of %d actions used", g.Actions, actions), fmt.Sprintf("%s of %s used", spell(used), spell(within)))
	}
	return d.Decision
}

// restoreName is how the limit is called where it was written.
func (p *Policy) restoreName(name string, own bool) string {
	if own {
		return "restore." + name
	}
	return name
}
