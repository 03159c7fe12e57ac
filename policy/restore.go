package policy

// Restore sets the progress to the one that a decision in the journal was based
// on, for a run that is gone on with after its process ended. What the Tracker
// has met before (failures, truth values, evidence of the round under way) stays
// as the events before that decision left it, and so does its start.
//
// What a call that was allowed could use at most counts as used until Called
// tells otherwise: its process may have ended before it could say.
func (t *Tracker) Restore(p Progress) {
	started := t.progress.Started
	t.progress = p
	t.progress.Started, t.progress.Now = started, started
	t.progress.Waited, t.progress.Paused = 0, false
	t.progress.Calls += p.NextCalls
	t.progress.Cost += p.NextCost
	t.open = Progress{Calls: p.NextCalls, Cost: p.NextCost}
	t.progress.NextCalls, t.progress.NextCost = 0, 0
}

// Unsettled keeps what calls could use at most as used, for good: the process
// that made them ended before it could say.
func (t *Tracker) Unsettled() { t.open = Progress{} }
