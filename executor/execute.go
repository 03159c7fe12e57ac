package executor

import (
	"context"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/policy"
)

// execute carries out the steps of an approved plan until one is refused,
// fails or diverges, which ends the round.
func (r *run) execute(ctx context.Context, p *accepted) (*Ended, error) {
	done := 0
	for i, g := range p.ground {
		n := i + 1
		skipped, err := r.skip(ctx, n, g)
		if err != nil {
			return nil, err
		}
		if skipped {
			continue
		}
		if end, err := r.mayAct(ctx, p, n); end != nil || err != nil {
			return end, err
		}
		f, err := r.newGuard(n, g, p.steps[i:]).do(ctx)
		if err != nil {
			return nil, err
		}
		if f == nil {
			done++
			continue
		}
		return r.endRound(ctx, f, done)
	}
	return nil, nil
}

// mayAct asks the policy, and a person where every step is to be confirmed.
func (r *run) mayAct(ctx context.Context, p *accepted, n int) (*Ended, error) {
	if end, err := r.decide(ctx, policy.PointAction); end != nil || err != nil {
		return end, err
	}
	if !r.AskSteps {
		return nil, nil
	}
	step := p.event.Steps[n-1]
	return r.ask(ctx, Question{Plan: p.event, Step: &step})
}

// skip tells whether all effects of the step hold already on a fresh
// observation, and records so.
func (r *run) skip(ctx context.Context, n int, g model.Ground) (bool, error) {
	if !r.holdsAlready(g) {
		return false, nil
	}
	fp := g.Footprint(r.u)
	r.merge(r.Observer.Observe(ctx, r.u, observable(append(fp.Read, fp.Write...)), r.Now()))
	if !r.holdsAlready(g) {
		return false, nil
	}
	ev := Skipped{StepRef: StepRef{Round: r.round, Step: n, Action: r.u.StepText(g)}}
	for _, a := range r.atoms(fp.Write) {
		if len(ev.Because) < maxCited {
			ev.Because = append(ev.Because, r.fact(a, r.Now()))
		}
	}
	return true, r.emit(ctx, StepSkipped, ev)
}

// holdsAlready tells whether the step would change nothing, all of it known.
func (r *run) holdsAlready(g model.Ground) bool {
	d := &model.Delta{}
	if fault := g.Effects(r.state, d); fault != nil || len(d.Writes) == 0 {
		return false
	}
	for _, w := range d.Writes {
		if w.Changed() || !w.New.Known() {
			return false
		}
	}
	return true
}

// endRound records why the round ended, and ends the run where the failure or
// the policy says so.
func (r *run) endRound(ctx context.Context, f *failure, done int) (*Ended, error) {
	if f.infra {
		r.progress.Errored(f.key, f.action)
	} else {
		r.progress.Failed(f.key, f.action)
	}
	ev := RoundEnd{Round: r.round, Key: f.key, Steps: done, Reason: f.reason}
	if err := r.emit(ctx, RoundEnded, ev); err != nil {
		return nil, err
	}
	switch {
	case f.checkpoint != "":
		return &Ended{Status: WaitingStatus, Reason: f.checkpoint, Message: f.reason}, nil
	case f.escalate != "":
		return &Ended{Status: Escalated, Reason: f.escalate, Message: f.reason}, nil
	}
	return nil, nil
}
