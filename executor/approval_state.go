package executor

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/policy"
)

// approval is a person's yes to a plan, or to a step of one, as Arm compares it.
type approval struct {
	at       time.Time
	by       string
	hash     string // of the plan that the yes was given to
	id       string
	revision int64
}

// approvals is what a run knows of the answers to its plans.
type approvals struct {
	approved map[string]approval // plans that a person said yes to, by their hash
	approval *approval           // of the plan under way, where it needed one
	stepYes  *approval           // of the step under way, where that one needed one

	plans    map[string]Plan     // that were asked about, by their hash
	why      map[string][]string // what they were asked about because of
	rejected map[string]Reply    // plans that are not to be proposed again
	stuck    bool                // nothing but those was proposed in this round so far

	answered *Reply           // what a person answered that the run has not followed yet
	granted  *grantedStep     // the yes to a step, given while the run waited
	recalled map[toldKey]bool // answers that the journal has
	begun    begunPlan        // the plan of the round that is gone on with
}

// begunPlan is a plan that was accepted in the round under way, and how many of
// its steps are behind it.
type begunPlan struct {
	hash string
	done int
}

// grantedStep is a step of a plan that a person said yes to.
type grantedStep struct {
	hash string // of the plan as it is gone on with
	step int
	approval
}

// toldKey tells answers apart.
type toldKey struct {
	hash   string
	step   int
	answer string
	at     int64 // in ns; 0 in journals of older versions, which do not tell
}

func (v Approved) told() toldKey {
	k := toldKey{hash: v.PlanHash, step: v.Step, answer: v.Answer}
	if v.At != nil {
		k.at = v.At.UnixNano()
	}
	return k
}

// untold tells whether the journal does not have an answer yet.
func (r *run) untold(rep Reply) bool {
	k := rep.event(0).told()
	old := k
	old.at = 0
	return !r.recalled[k] && !r.recalled[old]
}

func newApprovals() approvals {
	return approvals{
		approved: map[string]approval{}, plans: map[string]Plan{}, why: map[string][]string{}, rejected: map[string]Reply{}, recalled: map[toldKey]bool{},
	}
}

// approvalGood tells whether an approval has not expired. Whoever says yes to
// every plan beforehand does so for as long as this process drives the run.
func (r *run) approvalGood(a approval) bool {
	lasts := r.Policy.ApprovalExpires
	return !lasts.Set || r.Preapproved != "" && a.by == r.Preapproved || r.Now().Sub(a.at) < lasts.Value
}

// expiry is when what begins now is too old, nil where the policy says nothing.
func expiry(p *policy.Policy, now time.Time) *time.Time {
	if !p.ApprovalExpires.Set {
		return nil
	}
	at := now.Add(p.ApprovalExpires.Value).UTC()
	return &at
}

// standing finds in the store what people answered: the approvals that the
// journal tells of, of which those that are no longer there were taken back, and
// what was answered while nobody drove the run, the last of which is followed.
func (r *run) standing(ctx context.Context) error {
	ctx, cancel := r.recording(ctx)
	defer cancel()
	all, _, err := repliesTo(ctx, r.Beliefs.Client, r.Locker.Keys(), r.Journal.ID())
	if err != nil {
		return err
	}
	r.approved = map[string]approval{}
	for _, rep := range all {
		if rep.ModelHash != "" && rep.ModelHash != r.ModelHash || r.changed && rep.ModelHash == "" {
			continue // What was approved means something else now.
		}
		if rep.yes() && rep.Step == 0 {
			r.approved[rep.PlanHash] = r.approvalOf(rep)
		}
		r.answered = nil
		if r.untold(rep) {
			r.answered = &rep
		}
	}
	if r.PlanFile != nil && r.answered != nil && r.answered.yes() { // Whoever goes on with the run gives another.
		r.answered = nil
	}
	if !r.reopened || r.PlanFile != nil {
		r.begun = begunPlan{}
	}
	return nil
}

func (r *run) approvalOf(rep Reply) approval {
	return approval{at: rep.At, by: rep.By, hash: rep.PlanHash, id: replyID(rep.Run, rep.PlanHash, rep.Step), revision: rep.revision}
}

// planAccepted folds an accepted plan in.
func (p *past) planAccepted(v Plan) {
	p.tried = v.Tried
	p.plans[v.PlanHash] = v
	p.begun = begunPlan{hash: v.PlanHash}
}

// stepOver notes that a step of the plan is behind the run.
func (p *past) stepOver(step int) { p.begun.done = max(p.begun.done, step) }

// asked folds in what a question was asked because of.
func (p *past) asked(v Asked) { p.why[v.PlanHash] = v.Why }

// answer folds in what became of a question.
func (p *past) answer(v Approved) {
	if v.Answer != AnswerYes && v.Answer != AnswerNo {
		return
	}
	p.recalled[v.told()] = true
	p.progress.Learned(policy.Evidence{Kind: policy.PersonDecided, What: decidedWhat(v)})
	if v.Answer == AnswerNo && v.Feedback != "" {
		p.rejected[v.PlanHash] = Reply{By: v.By, Feedback: v.Feedback, PlanHash: v.PlanHash, Step: v.Step}
	}
}

// turnedDown tells whether a person has rejected the plan.
func (p *past) turnedDown(steps []model.Step) bool {
	_, ok := p.rejected[PlanHash(p.model, p.GoalName, steps)]
	return ok
}

// decidedWhat says what a person decided.
func decidedWhat(v Approved) string {
	what := "the plan was "
	if v.Step != 0 {
		what = "a step was "
	}
	if v.Answer == AnswerYes {
		return what + "approved"
	}
	return what + "rejected"
}

// conditions are what an action is armed under, beside its own leases: those of
// the run, and that the approval of the step stands where it needed one.
func (g *guard) conditions() []clientv3.Cmp {
	out := g.run.conditions()
	if a := g.stepYes; a != nil {
		out = append(out, g.stands(*a))
	}
	return out
}

// stands is the condition that an approval stands and has not expired.
func (r *run) stands(a approval) clientv3.Cmp {
	k := r.Locker.Keys()
	if !r.approvalGood(a) {
		return k.ApprovalStands(a.id, never)
	}
	return k.ApprovalStands(a.id, a.revision)
}

// never is a revision that no key has.
const never = -1
