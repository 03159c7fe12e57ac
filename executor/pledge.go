package executor

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/model"
)

// pledge is what the record of an armed action says of it, for whoever has to
// find out whether it took effect: the expected values cannot be derived from
// the state that is found then.
type pledge struct {
	Step   model.Step     `json:"step"`
	Expect map[string]any `json:"expect,omitempty"` // by the text of the atom

	// Before are the beliefs that it writes, as they were: what cannot be observed
	// is so again once the action is known not to have been applied. Nil: the initial one.
	Before map[string]*Belief `json:"before,omitempty"`
}

// was notes a belief that the action writes.
func (p *pledge) was(atom string, stored map[string]Belief) {
	if p.Before == nil {
		p.Before = map[string]*Belief{}
	}
	p.Before[atom] = nil
	if b, ok := stored[atom]; ok {
		p.Before[atom] = &b
	}
}

// expectation is what an action was to make true.
type expectation struct {
	atoms  []model.Atom
	state  *model.State // knows those atoms
	before map[string]*Belief
}

// pledged reads an action back from its record.
func pledged(u *model.Universe, in lease.Intent) (model.Ground, *expectation, error) {
	var p pledge
	if err := json.Unmarshal(in.Data, &p); err != nil {
		return model.Ground{}, nil, fmt.Errorf("its record does not say what it was: %w", err)
	}
	ground, fault := u.Bind(p.Step, nil)
	if fault != nil {
		return model.Ground{}, nil, errors.New("the model no longer has it: " + fault.Message)
	}
	raw, err := json.Marshal(p.Expect)
	if err != nil {
		return model.Ground{}, nil, fmt.Errorf("its record does not say what it was to do: %w", err)
	}
	e := &expectation{before: p.Before}
	if e.state, err = u.ParseState(raw); err != nil {
		return model.Ground{}, nil, fmt.Errorf("what it was to do does not fit the model: %w", err)
	}
	for _, text := range slices.Sorted(maps.Keys(p.Expect)) {
		name, args, err := model.ParseAtom(text)
		if err != nil {
			return model.Ground{}, nil, fmt.Errorf("what it was to do: %w", err)
		}
		a, err := u.FindAtom(name, args)
		if err != nil {
			return model.Ground{}, nil, fmt.Errorf("what it was to do does not fit the model: %w", err)
		}
		e.atoms = append(e.atoms, a)
	}
	return ground, e, nil
}

// After returns the operations that store what is to be believed once an action
// in doubt is resolved as applied or not applied.
func (b Beliefs) After(u *model.Universe, in lease.Intent, result lease.Result) ([]clientv3.Op, error) {
	u = withPledged(u, in)
	_, e, err := pledged(u, in)
	if err != nil {
		return nil, err
	}
	return b.after(u, in, result, e), nil
}

func (b Beliefs) after(u *model.Universe, in lease.Intent, result lease.Result, e *expectation) []clientv3.Op {
	var ops []clientv3.Op
	switch result {
	case lease.Applied:
		of := Belief{Action: in.Owner.Action, ActionID: in.ID, Since: in.Since}
		for _, a := range e.atoms {
			if isBelief(a.Fluent) {
				ops = append(ops, b.put(u.Text(a), u.Plain(a.Fluent, e.state.Get(a)), of))
			}
		}
	case lease.NotApplied:
		for _, atom := range slices.Sorted(maps.Keys(e.before)) {
			if was := e.before[atom]; was != nil {
				ops = append(ops, b.put(atom, was.Value, *was))
			} else {
				ops = append(ops, clientv3.OpDelete(b.Keys.Belief(atom)))
			}
		}
	}
	return ops
}
