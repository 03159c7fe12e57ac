package planner

// Uptake counts how a proposer uses critiques.
type Uptake struct {
	Critiques int `json:"critiques"` // that were followed by another proposal of the same proposer
	Used      int `json:"used"`      // after which that proposal no longer had the failure
}

// uptake compares an attempt with the one before it.
func (r *round) uptake(a *Attempt) {
	if len(r.attempts) == 0 {
		return
	}
	before := &r.attempts[len(r.attempts)-1]
	if before.Proposer != a.Proposer || before.Outcome != Fail || a.Outcome == Error {
		return
	}
	u := r.result.Uptake[a.Proposer]
	u.Critiques++
	if before.key != a.key {
		u.Used++
	}
	r.result.Uptake[a.Proposer] = u
}
