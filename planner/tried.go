package planner

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/validator"
)

// Tried remembers which plans were tried from which states. The zero value is
// not usable; a nil *Tried remembers nothing. Not safe for concurrent use.
type Tried struct{ counts map[string]int }

// NewTried returns an empty memory.
func NewTried() *Tried { return &Tried{map[string]int{}} }

// Count returns how often the key was tried.
func (t *Tried) Count(key string) int {
	if t == nil {
		return 0
	}
	return t.counts[key]
}

// Add counts the key once more. A round does so for the plan it returns.
func (t *Tried) Add(key string) {
	if t != nil {
		t.counts[key]++
	}
}

// Key identifies a plan together with the truth values, at the start, of the
// conjuncts that bear on it: those of the goal, of its steps' preconditions and
// of the invariants. Numbers that jitter within these make no difference.
func Key(p validator.Problem, steps []model.Step) string {
	k := key{h: sha256.New(), p: p}
	k.text(p.GoalName)
	k.cond(p.Goal, p.GoalArgs)
	for _, inv := range p.U.Invariants {
		k.cond(inv.Cond, nil)
	}
	for _, st := range steps {
		k.text(st.String())
		if g, fault := p.U.Bind(st, nil); fault == nil {
			k.cond(g.Action.Precondition, g.Args)
		}
	}
	return hex.EncodeToString(k.h.Sum(nil))
}

type key struct {
	h hash.Hash
	p validator.Problem
}

func (k *key) text(s string) {
	io.WriteString(k.h, s) //nolint:errcheck // A hash takes everything.
	k.h.Write([]byte{0})
}

// cond writes the truth values of the parts of a condition, which are the same
// and in the same order whatever the state.
func (k *key) cond(c *model.Cond, args []int32) {
	var truths []byte
	for _, part := range c.Parts(k.p.U, args) {
		truths = append(truths, '0'+byte(part.Eval(k.p.Start)))
	}
	k.text(string(truths))
}
