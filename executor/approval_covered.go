package executor

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/fettleops/fettle/policy"
)

// covered finds the approval of another plan of this run that holds for this one
// too, by the bounds that the policy writes down, and tells of it. Nil: none does.
func (r *run) covered(ctx context.Context, p *accepted) (*approval, error) {
	bounds := r.Policy.ApprovalCovers
	if bounds == nil {
		return nil, nil
	}
	later := r.coveredPlan(p.event, r.ownReasons(p))
	later.Unprotected = unprotected(p.event)
	for _, hash := range slices.Sorted(maps.Keys(r.approved)) {
		plan, known := r.plans[hash]
		given := r.approved[hash]
		if !known || given.hash != hash { // Only what a person saw covers others.
			continue
		}
		earlier := r.coveredPlan(plan, given.why)
		earlier.Unprotected = saidUnprotected(later.Unprotected, given.why)
		if _, ok := bounds.Covered(earlier, later); !ok {
			continue
		}
		a, err := r.approvedBefore(ctx, hash)
		if err != nil {
			return nil, err
		}
		if a == nil {
			continue
		}
		return a, r.tell(ctx, r.coveredBy(*a, p.event.PlanHash, "approval_covers"))
	}
	return nil, nil
}

func (r *run) coveredBy(a approval, planHash, bounds string) Approved {
	at := a.at
	return Approved{Round: r.round, Answer: AnswerCovered, By: a.by, How: a.how, At: &at, PlanHash: planHash, Covers: a.hash, Bounds: bounds}
}

// coveredPlan is what the bounds look at.
func (r *run) coveredPlan(p Plan, why []string) policy.CoveredPlan {
	out := policy.CoveredPlan{Cost: p.Cost}
	for _, s := range p.Steps {
		out.Steps, out.Risks = append(out.Steps, s.Action), append(out.Risks, s.Risk)
	}
	for _, w := range why {
		if w != modeAsks && !strings.HasPrefix(w, unprotectedAsks) {
			out.Asked = append(out.Asked, r.reasonKey(w))
		}
	}
	return out
}

// unprotectedAsks begins the reason to ask about steps that may act late.
const unprotectedAsks = "unprotected, and may act late: "
