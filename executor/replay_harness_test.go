package executor

import "github.com/fettleops/fettle/model"

// replays holds the run to it that each of its decisions comes out the same
// when it is derived again from the journal.
func (r *rig) replays() {
	r.Helper()
	out := r.replayed(r.source())
	for _, d := range out.Differs {
		r.Logf("its last event: %s", r.events[len(r.events)-1].Data)
		r.Errorf("replay of event %d (%s): %s: %s is recorded as\n  %s\nderived as\n  %s\nthe run: %v", d.Seq, d.Kind, d.Decision, d.Part, d.Recorded, d.Derived, r.kinds())
	}
}

// source is the run that was written last, as the journal has it.
func (r *rig) source() ReplaySource {
	j, id := r.journal(), r.events[0].Run
	return ReplaySource{
		Events: j.Events(testCtx(r), id), Body: func(sum string) ([]byte, error) { return j.Blob(testCtx(r), id, sum) },
		Model: func(string, string, *RecordedModel) (ReplayModel, error) { return r.judging(), nil },
	}
}

// judging is the rig's model as a replay needs it.
func (r *rig) judging() ReplayModel {
	c := r.config
	return ReplayModel{Universe: model.NewUniverse(c.Universe.Model), Goal: c.Goal, GoalArgs: c.GoalArgs, Policy: c.Policy, Settings: c.Settings}
}

func (r *rig) replayed(src ReplaySource) Replayed {
	r.Helper()
	out, err := Replay(testCtx(r), src)
	must(r, err)
	return out
}
