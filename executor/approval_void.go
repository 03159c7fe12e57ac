package executor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// RoundOver is the reason of an approval that is void because the round that it
// was given in has ended, and the run plans anew.
const RoundOver = "the round that it was given in has ended"

// suffices tells whether an approval lets the plan be carried out: it was given
// in this round, and whatever the plan is asked about because of now, it was then.
func (r *run) suffices(a approval, p *accepted) bool {
	if a.round != r.round || r.unheard(append(r.wayAsks(p), p.asks...), a.why) {
		return false
	}
	names := unprotected(p.event)
	return len(saidUnprotected(names, a.why)) == len(names)
}

// unheard tells whether there is a reason to ask that was none of the others.
func (r *run) unheard(why, before []string) bool {
	said := map[string]bool{}
	for _, w := range before {
		said[r.reasonKey(w)] = true
	}
	return slices.ContainsFunc(why, func(w string) bool {
		rule := r.ruleOf(w)
		return !said[r.reasonKey(w)] && (rule == "" || !said[rule]) // It asked about this step, or about the whole plan.
	})
}

// stepOf begins the step that a rule asks about, behind the name of the rule.
const stepOf = " ("

// reasonKey is by what reasons to ask are compared: a rule by its name, with the
// step that it asks about, anything else by its text.
func (r *run) reasonKey(why string) string {
	rule := r.ruleOf(why)
	if rule == "" {
		return why
	}
	rest := why[len(rule):]
	if !strings.HasPrefix(rest, stepOf) {
		return rule
	}
	of, _, reasoned := strings.Cut(rest, "): ")
	if !reasoned {
		of = strings.TrimSuffix(rest, ")")
	}
	return rule + of
}

// ruleOf is the beginning of a reason to ask that names a rule, "" where none is.
func (r *run) ruleOf(why string) string {
	found, about := "", "rule "
	if strings.HasPrefix(why, backAsks) {
		about = backAsks + about
	}
	for i := range r.Policy.Rules {
		name := about + r.Policy.Rules[i].Name
		rest, ok := strings.CutPrefix(why, name)
		if ok && (rest == "" || strings.HasPrefix(rest, ": ") || strings.HasPrefix(rest, stepOf)) && len(name) > len(found) {
			found = name
		}
	}
	return found
}

// saidUnprotected are those of the steps that the reasons name as unprotected.
func saidUnprotected(names, why []string) []string {
	var out []string
	for _, w := range why {
		list, ok := strings.CutPrefix(w, unprotectedAsks)
		if !ok {
			continue
		}
		for _, name := range names {
			if strings.Contains(", "+list+", ", ", "+name+", ") {
				out = append(out, name)
			}
		}
	}
	return out
}

// newRound makes the approvals void that were given in the rounds before: what
// is planned now is asked about. With approval_covers they are kept, for what
// they cover.
func (r *run) newRound(ctx context.Context) error {
	r.granted = nil
	for _, hash := range slices.Sorted(maps.Keys(r.approved)) {
		a, ok := r.approved[hash]
		if !ok || r.answered != nil && r.answered.PlanHash == a.hash { // The answer is yet to be followed.
			continue
		}
		switch {
		case r.Policy.ApprovalCovers != nil:
		case a.hash != hash: // What is left of the plan that was approved, which goes with that.
			delete(r.approved, hash)
		case a.how != "": // It was for every plan.
			if _, err := r.drop(ctx, a); err != nil {
				return err
			}
			delete(r.approved, hash)
		default:
			if err := r.void(ctx, a, RoundOver); err != nil {
				return err
			}
		}
	}
	return nil
}

// void takes an approval away that is no longer one, and tells of it. Where it
// has been replaced meanwhile, that answer is to be followed (r.answered).
func (r *run) void(ctx context.Context, a approval, why string) error {
	dropped, err := r.drop(ctx, a)
	if err != nil {
		return err
	}
	if !dropped {
		return r.replaced(ctx, a)
	}
	at := a.at
	ev := Approved{Round: r.round, Answer: AnswerVoid, By: a.by, How: a.how, At: &at, PlanHash: a.hash, Reason: why}
	r.voided(ev)
	return r.tell(ctx, ev)
}

// replaced notes what an approval has been replaced by.
func (r *run) replaced(ctx context.Context, a approval) error {
	delete(r.approved, a.hash)
	rep, err := r.replyAt(ctx, a.id)
	if err == nil && rep != nil && r.untold(*rep) {
		r.answered = rep
	}
	return err
}

// voided notes that an answer no longer lets its plan be carried out.
func (r *run) voided(v Approved) {
	k := v.told()
	k.answer = AnswerYes
	r.recalled[k] = 0
	for hash, a := range r.approved {
		if a.hash != v.PlanHash {
			continue
		}
		if a.round = 0; r.Policy.ApprovalCovers == nil {
			delete(r.approved, hash)
			continue
		}
		r.approved[hash] = a
	}
}

// drop deletes an approval, unless it has been replaced or deleted meanwhile. It is done
// before the journal tells of it: what is lost between them is asked about anew.
// With approval_covers it stays, for what it covers.
func (r *run) drop(ctx context.Context, a approval) (dropped bool, err error) {
	if r.Policy.ApprovalCovers != nil {
		return true, nil
	}
	ctx, cancel := r.recording(ctx)
	defer cancel()
	key := r.Locker.Keys().Approval(a.id)
	same := clientv3.Compare(clientv3.ModRevision(key), "=", a.revision)
	resp, err := r.Beliefs.Client.Txn(ctx).If(r.owner.Cmp(), same).Then(clientv3.OpDelete(key)).Commit()
	if err != nil {
		return false, fmt.Errorf("take a void approval away: %w", err)
	}
	return resp.Succeeded, nil
}
