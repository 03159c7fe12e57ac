package policy

// Counted returns the actions of the history, which is the same in all the facts,
// that rules count when they are asked about each of them. The ruling on the facts
// is the same where their history is cut down to these, and of them only what they
// are and when they began is kept: for all that, see times.
func (p *Policy) Counted(all ...Facts) []Deed {
	if len(all) == 0 || len(all[0].History) == 0 || p.RulesReach() == 0 {
		return nil
	}
	noted := make([]bool, len(all[0].History))
	for _, f := range all {
		f.noted = noted
		p.Rule(f)
	}
	var out []Deed
	for i, d := range all[0].History {
		if noted[i] {
			out = append(out, Deed{Action: d.Action, Ground: d.Ground, At: d.At})
		}
	}
	return out
}
