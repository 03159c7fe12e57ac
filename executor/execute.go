package executor

import (
	"context"
	"fmt"

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
		if err := r.askPause(ctx); err != nil {
			f := &failure{kind: "infrastructure", infra: true, reason: err.Error()}
			f.key = policy.NewFailureKey(f.kind, "")
			return r.endRound(ctx, f, done)
		}
		if end, err := r.mayAct(ctx, p, n); end != nil || err != nil || !r.open {
			return end, err
		}
		gd := r.newGuard(n, g, p.steps[i:])
		f, err := gd.do(ctx)
		if err != nil {
			return nil, err
		}
		if f != nil {
			return r.endRound(ctx, f, done)
		}
		if !gd.skipped {
			done++
		}
	}
	return nil, nil
}

// askPause looks whether somebody pulled the kill switch, right before an
// action. Arm compares it once more.
func (r *run) askPause(ctx context.Context) error {
	ctx, cancel := r.bounded(ctx)
	defer cancel()
	rec, paused, err := r.Locker.Paused(ctx)
	if err != nil && ctx.Err() == nil { // What was cut ends the run right after this.
		return fmt.Errorf("whether actions are paused is not known: %w", err)
	}
	r.progress.Paused(paused)
	r.paused = rec
	return nil
}

// mayAct asks the policy, and a person where a step is to be confirmed.
func (r *run) mayAct(ctx context.Context, p *accepted, n int) (*Ended, error) {
	end, err := r.decide(ctx, policy.PointAction)
	if end != nil && end.Reason == policy.Paused {
		end.Message = r.paused.String()
	}
	if end != nil || err != nil {
		return end, err
	}
	return r.askStep(ctx, p, n)
}

// skip tells whether all effects of the step hold already on a fresh
// observation, and records so.
func (r *run) skip(ctx context.Context, n int, g model.Ground) (bool, error) {
	if r.stopped(ctx) || !r.holdsAlready(g) {
		return false, nil
	}
	fp := g.Footprint(r.u)
	octx, cancel := r.bounded(ctx)
	r.merge(r.guarding(octx, r.Settings[g.Action], observable(append(fp.Read, fp.Write...))))
	err := r.recallFor(octx, fp.Write...)
	cancel()
	if err != nil || !r.holdsAlready(g) { // What cannot be read is met again under lease.
		return false, nil
	}
	return true, r.skipped(ctx, Skipped{StepRef: StepRef{Round: r.round, Step: n, Action: r.u.StepText(g)}}, fp.Write)
}

// skipped records that every effect of the step was seen to hold already.
func (r *run) skipped(ctx context.Context, ev Skipped, writes []model.Ref) error {
	vals, blobs := r.values()
	ev.Values = vals
	for _, a := range r.atoms(writes) {
		if len(ev.Because) < maxCited {
			ev.Because = append(ev.Because, r.fact(a, r.Now()))
		}
	}
	if err := r.emit(ctx, StepSkipped, ev, blobs...); err != nil {
		return err
	}
	r.journalled()
	return nil
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

// endRound records why the round ended, and ends the run where the failure says so.
func (r *run) endRound(ctx context.Context, f *failure, done int) (*Ended, error) {
	switch {
	case f.kind == repeated: // Counted as such: that nothing new was tried teaches nothing.
	case f.infra:
		r.progress.Errored(f.key, f.action)
	default:
		r.progress.Failed(f.key, f.action)
	}
	ev := RoundEnd{
		Round: r.round, Kind: f.kind, Action: f.action, Infra: f.infra, Key: f.key, Steps: done, Reason: f.reason, InDoubt: r.doubts(),
	}
	r.open, r.fenced = false, ""
	if f.kind == fenceKind {
		r.fenced = f.reason
	}
	if err := r.emit(ctx, RoundEnded, ev); err != nil {
		return nil, err
	}
	return f.end, nil
}
