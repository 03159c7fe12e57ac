package model

// NameOf returns the name of an object of the type's root.
func (t *Type) NameOf(o int32) string { return t.root.names.names[o] }

// Declared returns the names of the objects declared for the type and its
// subtypes, each once. Objects that discovery finds are known to a [Universe].
func (m *Model) Declared(t *Type) []string {
	var out []string
	seen := map[int32]bool{}
	for _, s := range m.Types {
		if !s.IsA(t) {
			continue
		}
		for _, o := range s.Objects {
			if !seen[o] {
				seen[o] = true
				out = append(out, s.NameOf(o))
			}
		}
	}
	return out
}
