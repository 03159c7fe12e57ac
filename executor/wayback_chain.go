package executor

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fettleops/fettle/model"
)

// chain undoes from a state what was done, the newest first, until the severity
// is known to be no higher than at the start. What names no undo, whose undo
// cannot be applied there, or has nothing to do, is passed over: whether the rest
// suffices is for the severity to tell. Nil where it does not, with why.
func (r *run) chain(from *model.State, done []actedStep) ([]model.Step, string) {
	t := r.trial(from)
	var why []string
	for i := len(done) - 1; i >= 0; i-- {
		st := done[i].step
		undo, ok := r.undo(st)
		said := r.noUndo(st)
		if ok {
			if said = t.take(undo); said == "" && r.fine(t.s) {
				return t.steps, ""
			}
		}
		if said == "" || len(why) == maxWhys || !r.bore(done[i:i+1]) {
			continue
		}
		if said = st.String() + " " + said; !slices.Contains(why, said) {
			why = append(why, said)
		}
	}
	if len(why) == 0 {
		why = append(why, fmt.Sprintf("after the undo of what was done it is %s", r.severity(t.s)))
	}
	return nil, strings.Join(why, "; ")
}

// maxWhys bounds the actions of which it is told why they cannot be undone.
const maxWhys = 2

// noUndo says why a step has no undo.
func (r *run) noUndo(st model.Step) string {
	if a := r.u.Action(st.Action); a != nil && r.Settings[a].Irreversible {
		return "is not reversible"
	}
	return "names no undo"
}

// trial follows steps from a state without the validator, which explains at
// length what only has to be known to fail.
type trial struct {
	r     *run
	s     *model.State
	d     model.Delta
	steps []model.Step // that were taken
}

func (r *run) trial(from *model.State) *trial {
	s := from.Clone()
	s.Track()
	return &trial{r: r, s: s}
}

// take carries a step out where that may be and changes something, and else says
// why not.
func (t *trial) take(st model.Step) string {
	u := t.r.u
	g, fault := u.Bind(st, nil)
	if fault != nil {
		return "is undone by " + st.String() + ", which means nothing now: " + fault.Message
	}
	if !t.r.allows(g.Action) {
		return "is undone by " + st.String() + ", which " + t.r.whyNotUsed(g.Action)
	}
	if g.Applicable(t.s, &t.d) != model.True {
		return "is undone by " + st.String() + ", which cannot be applied then: it needs " + needs(g, t.s)
	}
	if fault := g.Effects(t.s, &t.d); fault != nil {
		return "is undone by " + st.String() + ": " + fault.Message
	}
	changes := false
	for _, w := range t.d.Writes {
		changes = changes || w.Changed()
	}
	if !changes {
		return "is undone by " + st.String() + ", which would change nothing"
	}
	t.d.Commit(t.s)
	if b := g.Worsened(t.s, &t.d); b != nil {
		t.d.Revert(t.s)
		return "is undone by " + st.String() + ", which would break " + b.Invariant.Name
	}
	t.steps = append(t.steps, st)
	return ""
}

func (r *run) whyNotUsed(a *model.Action) string {
	if r.Settings[a].Irreversible {
		return "is not reversible"
	}
	return "is not among the goal's actions"
}

func needs(g model.Ground, s *model.State) string {
	var out []string
	for _, f := range g.Action.Precondition.Explain(s, g.Args) {
		out = append(out, f.Text)
	}
	return strings.Join(out, ", ")
}

// leads tells whether the steps can be taken from a state, one after the other,
// to one that is no worse than the start.
func (r *run) leads(from *model.State, steps []model.Step) bool {
	t := r.trial(from)
	for _, st := range steps {
		if t.take(st) != "" {
			return false
		}
	}
	return r.fine(t.s)
}

// String says what is known of a severity.
func (l level) String() string {
	switch {
	case l.lo == l.hi && !math.IsInf(l.lo, 0):
		return model.FormatNumber(l.lo)
	case math.IsInf(l.lo, 0) && math.IsInf(l.hi, 0):
		return "unknown"
	case math.IsInf(l.hi, 0):
		return model.FormatNumber(l.lo) + " or more"
	case math.IsInf(l.lo, 0):
		return model.FormatNumber(l.hi) + " or less"
	}
	return model.FormatNumber(l.lo) + " to " + model.FormatNumber(l.hi)
}

// bound says what severity the run may leave.
func bound(most float64) string {
	if math.IsInf(most, 0) {
		return "unknown"
	}
	return model.FormatNumber(most)
}
