package load

import "github.com/fettleops/fettle/model"

// same tells whether two expressions of one declaration say the same, whatever
// slots their quantifiers bind.
func same(a, b *model.Expr) bool { return alike(a, b, nil) }

// alike compares expressions under pairs of slots that stand for each other.
func alike(a, b *model.Expr, bound map[int]int) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Op != b.Op || a.Kind != b.Kind || a.Type != b.Type || a.Const != b.Const || a.Fluent != b.Fluent || a.Over != b.Over || len(a.Args) != len(b.Args) {
		return false
	}
	switch a.Op {
	case model.OpSlot:
		slot, ok := bound[a.Slot]
		if !ok {
			slot = a.Slot
		}
		return slot == b.Slot
	case model.OpAll, model.OpAny, model.OpOne, model.OpCount, model.OpSum, model.OpMin, model.OpMax:
		if a.Slot != b.Slot {
			inner := map[int]int{a.Slot: b.Slot}
			for x, y := range bound {
				if x != a.Slot {
					inner[x] = y
				}
			}
			bound = inner
		}
	}
	for i := range a.Args {
		if !alike(a.Args[i], b.Args[i], bound) {
			return false
		}
	}
	return true
}

// opposites tells whether two conditions can never both hold: one is the
// negation of the other, or they want different values of one thing.
func opposites(a, b *model.Expr) bool {
	if same((&model.Expr{Op: model.OpNot, Kind: model.KindBool, Args: []*model.Expr{a}}).NNF(), b.NNF()) {
		return true
	}
	x, v := wanted(a)
	y, w := wanted(b)
	return x != nil && y != nil && v != w && same(x, y)
}

// wanted takes apart x == 'on': what is compared, and the constant.
func wanted(e *model.Expr) (*model.Expr, model.Value) {
	if e.Op != model.OpEq {
		return nil, model.Value{}
	}
	for i, side := range e.Args {
		if side.Op == model.OpConst || side.Op == model.OpObject {
			return e.Args[1-i], side.Const
		}
	}
	return nil, model.Value{}
}

// mentions tells whether an expression reads a slot.
func mentions(e *model.Expr, slot int) bool {
	var u slots
	u.exprs(e)
	return u[slot]
}
