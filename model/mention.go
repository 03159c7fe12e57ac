package model

import "encoding/json"

// StateObjects returns the objects of discovered types that a JSON state names
// and the universe lacks, so that a state observed elsewhere can be read:
// [NewUniverse] takes them. What else is wrong with an atom is left to ParseState.
func (u *Universe) StateObjects(data []byte) ([]Discovery, error) {
	found := newMentions(u)
	err := eachFact(data, func(key string, value json.Token) error {
		_ = found.fact(key, value)
		return nil
	})
	return found.list, err
}

// CheckStateObjects is [Universe.StateObjects] that stops at the first atom that
// no discovered object could mend, so that a long state is not read for nothing.
func (u *Universe) CheckStateObjects(data []byte) ([]Discovery, error) {
	found := newMentions(u)
	err := eachFact(data, found.fact)
	return found.list, err
}

// fact takes in what one fact names. The error is that of ParseState.
func (m *mentions) fact(key string, value json.Token) error {
	name, args, err := ParseAtom(key)
	f := m.u.fluents[name]
	if err != nil || f == nil || len(args) != len(f.Params) {
		_, err = m.u.stateAtom(key)
		return err
	}
	for i, a := range args {
		t := f.Params[i].Type
		if _, known := m.u.Find(t, a); !known && !m.u.Grows(t) {
			_, err = m.u.stateAtom(key)
		}
		m.add(t, a)
	}
	if text, ok := value.(string); ok && f.Kind == KindObject {
		m.add(f.Type, text)
	}
	return err
}

// mentions gathers objects that are not known yet, by type.
type mentions struct {
	u    *Universe
	list []Discovery
	seen map[*Type]map[string]bool
}

func newMentions(u *Universe) *mentions {
	return &mentions{u: u, seen: map[*Type]map[string]bool{}}
}

func (m *mentions) add(t *Type, name string) {
	if _, ok := m.u.Find(t, name); ok || !m.u.Grows(t) || m.seen[t][name] {
		return
	}
	if m.seen[t] == nil {
		m.seen[t] = map[string]bool{}
		m.list = append(m.list, Discovery{Type: t})
	}
	m.seen[t][name] = true
	for i := range m.list {
		if m.list[i].Type == t {
			m.list[i].Objects = append(m.list[i].Objects, name)
		}
	}
}

// NamedObjects returns the objects of discovered types that a named state
// gives facts about and the universe lacks.
func (u *Universe) NamedObjects(n *NamedState) []Discovery {
	found := newMentions(u)
	for _, a := range n.Values {
		for i, o := range a.Atom.Args {
			found.add(a.Atom.Fluent.Params[i].Type, u.Name(a.Atom.Fluent.Params[i].Type, o))
		}
		if o := a.Value.Object(); o >= 0 {
			found.add(a.Atom.Fluent.Type, u.Name(a.Atom.Fluent.Type, o))
		}
	}
	return found.list
}
