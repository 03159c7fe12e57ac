package load

import (
	"fmt"
	"slices"

	"github.com/fettleops/fettle/model"
)

// maxUndoWrites bounds the writes of a step that are looked at.
const maxUndoWrites = 32

// undoTrial tries an action and its undo in a state of unknowns.
type undoTrial struct {
	u            *model.Universe
	s            *model.State
	action, undo model.Ground
}

// bind chooses objects for the action's parameters, different ones where there
// are enough.
func (t *undoTrial) bind(a *model.Action, undo string) bool {
	used := map[*model.Type]map[int32]bool{}
	t.action = model.Ground{Action: a}
	names := map[string]string{}
	for _, p := range a.Params {
		root := p.Type.Root()
		if used[root] == nil {
			used[root] = map[int32]bool{}
		}
		objects := t.u.Objects(p.Type)
		if len(objects) == 0 {
			return false
		}
		o := objects[0]
		for _, x := range objects {
			if !used[root][x] {
				o = x
				break
			}
		}
		used[root][o] = true
		t.action.Args = append(t.action.Args, o)
		names[p.Name] = t.u.Name(p.Type, o)
	}
	name, args, err := model.ParseAtom(undo)
	if err != nil {
		return false
	}
	for i, arg := range args {
		if n, ok := names[arg]; ok {
			args[i] = n
		}
	}
	var fault *model.Fault
	t.undo, fault = t.u.Bind(model.Step{Action: name, Args: args}, nil)
	return fault == nil
}

// try returns what is wrong with the undo, nothing where nothing is found.
func (t *undoTrial) try() string {
	assumed := t.assume()
	defer assumed.Revert(t.s)
	var did, undid model.Delta
	if !t.possible() || t.action.Effects(t.s, &did) != nil {
		return ""
	}
	writes := append([]model.Write(nil), did.Writes...)
	did.Commit(t.s)
	missing := t.undo.Action.Precondition.Explain(t.s, t.undo.Args)
	fault := t.undo.Effects(t.s, &undid)
	did.Revert(t.s)
	for _, f := range missing {
		if f.Truth == model.False {
			return fmt.Sprintf("After %s, %s cannot be applied: it needs %s. Name an action that can be, or leave undo out.", t.u.StepText(t.action), t.u.StepText(t.undo), f.Text)
		}
	}
	if fault != nil || len(writes) > maxUndoWrites {
		return ""
	}
	var left []string
	for _, w := range writes {
		if t.remains(w) {
			left = append(left, t.u.Text(model.Atom{Fluent: w.Fluent, Args: t.u.Args(w.Fluent, w.Index)}))
		}
	}
	be := "is not what it was"
	switch len(left) {
	case 0:
		return ""
	case 1:
	default:
		be = "are not what they were"
	}
	return fmt.Sprintf("After %s and %s, %s %s before. Name an action that restores it all, or leave undo out.", t.u.StepText(t.action), t.u.StepText(t.undo), listed(left), be)
}

// assume puts what the precondition demands of single fluents into the state.
func (t *undoTrial) assume() *model.Delta {
	d := &model.Delta{}
	for _, part := range t.parts() {
		f, v := part, model.BoolValue(true)
		switch part.Op {
		case model.OpNot:
			f, v = part.Args[0], model.BoolValue(false)
		case model.OpEq:
			f, v = part.Args[0], t.value(part.Args[1])
		}
		if f.Op != model.OpFluent || f.Fluent.Derived != nil || !v.Known() {
			continue
		}
		if args, ok := t.ground(f.Args); ok {
			d.Writes = append(d.Writes, model.Write{Fluent: f.Fluent, Index: t.u.Index(f.Fluent, args), New: v})
		}
	}
	d.Commit(t.s)
	return d
}

// maxOpen is the number of facts up to which it is tried out whether some values
// of theirs make a precondition true.
const maxOpen = 10

// possible tells whether the action applies in some state that has what is
// known of this one. Where more facts are open, or others than bools, it is
// taken to.
func (t *undoTrial) possible() bool {
	now := t.action.Applicable(t.s, nil)
	if now != model.Unknown {
		return now == model.True
	}
	var open []model.Atom
	for _, ref := range t.action.Action.Precondition.Reads(t.u, t.action.Args) {
		if ref.Fluent.Kind != model.KindBool || t.u.Size(ref.Fluent) > maxOpen && ref.Whole() {
			return true
		}
		atoms := []model.Atom{model.Atom(ref)}
		if ref.Whole() {
			atoms = slices.Collect(t.u.Atoms(ref.Fluent))
		}
		for _, a := range atoms {
			if !t.s.Get(a).Known() {
				open = append(open, a)
			}
		}
	}
	if len(open) > maxOpen {
		return true
	}
	defer t.setAll(open, func(int) model.Value { return model.Value{} })
	for bits := range 1 << len(open) {
		t.setAll(open, func(i int) model.Value { return model.BoolValue(bits>>i&1 == 1) })
		if t.action.Applicable(t.s, nil) == model.True {
			return true
		}
	}
	return false
}

func (t *undoTrial) setAll(atoms []model.Atom, value func(int) model.Value) {
	for i, a := range atoms {
		t.s.Set(a, value(i))
	}
}

// parts are the conjuncts of the action's precondition.
func (t *undoTrial) parts() []*model.Expr {
	if p := t.action.Action.Precondition; p != nil {
		return p.Conjuncts
	}
	return nil
}

func (t *undoTrial) value(e *model.Expr) model.Value {
	switch {
	case e.Op == model.OpConst, e.Op == model.OpObject:
		return e.Const
	case e.Op == model.OpSlot && e.Slot < len(t.action.Args):
		return model.ObjectValue(t.action.Args[e.Slot])
	}
	return model.Value{}
}

func (t *undoTrial) ground(args []*model.Expr) ([]int32, bool) {
	out := make([]int32, len(args))
	for i, a := range args {
		v := t.value(a)
		if v.Kind() != model.KindObject {
			return nil, false
		}
		out[i] = v.Object()
	}
	return out, true
}

// remains tells whether what the action does to a ground fluent surely stays
// done, from whatever value it had before.
func (t *undoTrial) remains(w model.Write) bool {
	found := false
	for _, start := range t.starts(w) {
		changed, end := t.round(w, start)
		switch {
		case !changed:
		case !end.Known() || end == start:
			return false
		default:
			found = true
		}
	}
	return found
}

// maxStarts is the number of values that are tried as that before the action.
const maxStarts = 50

// starts are the values from which the action may have come.
func (t *undoTrial) starts(w model.Write) []model.Value {
	if w.Old.Known() {
		return []model.Value{w.Old}
	}
	var out []model.Value
	switch w.Fluent.Kind {
	case model.KindBool:
		out = append(out, model.BoolValue(false), model.BoolValue(true))
	case model.KindNumber:
		for n := range 10 {
			out = append(out, model.NumberValue(float64(n)))
		}
	case model.KindObject:
		objects := t.u.Objects(w.Fluent.Type)
		if len(objects) > maxStarts {
			return nil
		}
		for _, o := range objects {
			out = append(out, model.ObjectValue(o))
		}
	}
	return out
}

// round applies the action and its undo where a ground fluent has a value. It
// tells whether the action changes it, and what it is in the end.
func (t *undoTrial) round(w model.Write, start model.Value) (changed bool, end model.Value) {
	set := model.Delta{Writes: []model.Write{{Fluent: w.Fluent, Index: w.Index, Old: w.Old, New: start}}}
	set.Commit(t.s)
	defer set.Revert(t.s)
	var did, undid model.Delta
	if !t.possible() || t.action.Effects(t.s, &did) != nil {
		return false, end
	}
	after := valueAfter(&did, w, start)
	if !after.Known() || after == start {
		return !after.Known(), end
	}
	did.Commit(t.s)
	defer did.Revert(t.s)
	if t.undo.Applicable(t.s, nil) == model.False || t.undo.Effects(t.s, &undid) != nil {
		return true, end
	}
	return true, valueAfter(&undid, w, after)
}

// valueAfter returns the value of a ground fluent after a step.
func valueAfter(d *model.Delta, at model.Write, before model.Value) model.Value {
	for _, w := range d.Writes {
		if w.Fluent == at.Fluent && w.Index == at.Index {
			return w.New
		}
	}
	return before
}
