package model

import "encoding/json"

// StateObjects returns the objects of discovered types that a JSON state names
// and the universe lacks, so that a state observed elsewhere can be read:
// [NewUniverse] takes them.
func (u *Universe) StateObjects(data []byte) ([]Discovery, error) {
	found := newMentions(u)
	err := eachFact(data, func(key string, value json.Token) error {
		name, args, err := ParseAtom(key)
		f := u.fluents[name]
		if err != nil || f == nil || len(args) != len(f.Params) {
			return nil // ParseState says what is wrong
		}
		for i, a := range args {
			found.add(f.Params[i].Type, a)
		}
		if text, ok := value.(string); ok && f.Kind == KindObject {
			found.add(f.Type, text)
		}
		return nil
	})
	return found.list, err
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
