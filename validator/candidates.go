package validator

import "github.com/fettleops/fettle/model"

// maxCandidates bounds the actions that are tried at one place.
const maxCandidates = 4096

// candidates returns the ground actions that are applicable before the step
// with this index, in the order of the model; only those of the actions given,
// nil for all.
func (r *repairer) candidates(index int, only []bool) []model.Ground {
	r.walk(index)
	c := &choice{repairer: r}
	for _, a := range r.v.U.Actions {
		if only != nil && !only[a.ID()] || r.v.allowed != nil && !r.v.allowed[a.ID()] {
			continue
		}
		c.action(a)
		if !c.choose(0) {
			break
		}
	}
	return c.found
}

// choice is the choice of one action's arguments, parameter by parameter:
// each conjunct is looked at as soon as it has all of its arguments.
type choice struct {
	*repairer
	a     *model.Action
	env   []int32
	level [][]*model.Expr // conjuncts by the number of arguments that they need
	found []model.Ground
}

func (c *choice) action(a *model.Action) {
	n := len(a.Params)
	c.a, c.env, c.level = a, make([]int32, max(a.Slots, n)), make([][]*model.Expr, n+1)
	if a.Precondition == nil {
		return
	}
	c.env = make([]int32, max(a.Slots, n, a.Precondition.Slots))
	for _, e := range a.Precondition.Conjuncts {
		need := 0
		e.Walk(func(x *model.Expr) bool {
			if x.Op == model.OpSlot && x.Slot < n {
				need = max(need, x.Slot+1)
			}
			return true
		})
		c.level[need] = append(c.level[need], e)
	}
}

// choose tries every argument from parameter k on; false where the work or the
// room is used up.
func (c *choice) choose(k int) bool {
	if c.spent() || len(c.found) == maxCandidates {
		return false
	}
	c.left--
	for _, e := range c.level[k] {
		c.left -= c.w.expr(e)
		if e.Eval(c.s, c.env) != model.True {
			return true
		}
	}
	if k == len(c.a.Params) {
		c.found = append(c.found, model.Ground{Action: c.a, Args: append([]int32(nil), c.env[:k]...)})
		return true
	}
	for _, o := range c.v.U.Objects(c.a.Params[k].Type) {
		c.env[k] = o
		if !c.choose(k + 1) {
			return false
		}
	}
	return true
}
