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
	how      string   // it was given, where not by a person who was asked
	hash     string   // of the plan that the yes was given to
	why      []string // what it was asked because of
	round    int      // that it is for: that plan, or the rest of it; 0 where it is void
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

	answered *Reply          // what a person answered that the run has not followed yet
	granted  *grantedStep    // the yes to a step, given while the run waited
	recalled map[toldKey]int // the rounds of the answers that the journal has; 0 of those that are void
	blanket  string          // whoever has said yes to every plan beforehand, as is written down
	begun    begunPlan       // the plan of the round that is gone on with
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
	_, told := r.toldIn(rep)
	return !told
}

// toldIn is the round in which the journal tells of an answer.
func (r *run) toldIn(rep Reply) (round int, told bool) {
	k := rep.event(0).told()
	if round, told = r.recalled[k]; told {
		return round, true
	}
	k.at = 0
	round, told = r.recalled[k]
	return round, told
}

func newApprovals() approvals {
	return approvals{
		approved: map[string]approval{}, plans: map[string]Plan{}, why: map[string][]string{}, rejected: map[string]Reply{}, recalled: map[toldKey]int{},
	}
}

// approvalGood tells whether an approval has not expired. Whoever says yes to
// every plan beforehand does so for as long as this process drives the run.
func (r *run) approvalGood(a approval) bool {
	lasts := r.Policy.ApprovalExpires
	return !lasts.Set || r.Preapproved != "" && a.how == r.Preapproved || r.Now().Sub(a.at) < lasts.Value
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

// approvalOf is the approval that a reply gives. One that the journal does not
// tell of yet is for the round under way.
func (r *run) approvalOf(rep Reply) approval {
	a := approval{
		at: rep.At, by: rep.By, how: rep.How, hash: rep.PlanHash, why: rep.Why, round: r.round,
		id: replyID(rep.Run, rep.PlanHash, rep.Step), revision: rep.revision,
	}
	if round, told := r.toldIn(rep); told {
		a.round = round
	}
	if len(a.why) == 0 { // It was given to an older version, which asked all the same.
		a.why = r.why[rep.PlanHash]
	}
	return a
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
func (p *past) asked(v Asked) {
	p.why[v.PlanHash] = v.Why
	if v.Step == 0 {
		p.askedWith(v.PlanHash, p.plans[v.PlanHash], v.Round)
	}
}

// answer folds in what became of a question.
func (p *past) answer(v Approved) {
	switch v.Answer {
	case AnswerYes, AnswerNo:
	case AnswerVoid:
		p.voided(v)
		return
	default:
		return
	}
	p.recalled[v.told()] = v.Round
	if v.How != "" {
		p.blanket = v.By
	}
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
