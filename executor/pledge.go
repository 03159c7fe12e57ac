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
}

// expectation is what an action was to make true.
type expectation struct {
	atoms []model.Atom
	state *model.State // knows those atoms
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
	e := &expectation{}
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
	_, e, err := pledged(u, in)
	if err != nil {
		return nil, err
	}
	return b.after(u, result, e), nil
}

func (b Beliefs) after(u *model.Universe, result lease.Result, e *expectation) []clientv3.Op {
	var ops []clientv3.Op
	for _, a := range e.atoms {
		if a.Fluent.Initial != nil && result == lease.Applied {
			ops = append(ops, b.Put(u.Text(a), u.Plain(a.Fluent, e.state.Get(a))))
		}
	}
	return ops
}
