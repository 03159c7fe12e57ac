package model

import (
	"fmt"
	"slices"
)

// Type is a finite set of objects. Objects are identified by their name within
// the root of their type's hierarchy. An enum is an anonymous type whose
// objects are its words.
type Type struct {
	Name       string
	Parent     *Type // nil for a root
	Enum       bool
	Discovered bool // objects join it from observation, round by round
	// Objects are the members declared for this very type, in the order
	// written, as indices into the names of the root.
	Objects []int32

	id   int
	root *Type
	// Of a root alone: every object name known to the model. Names that are
	// only mentioned (a quoted object that has yet to be discovered) are here
	// too, and a member of nothing.
	names *nameTable
}

// Root returns the root of the type's hierarchy, itself where it has no parent.
func (t *Type) Root() *Type { return t.root }

// IsA tells whether every object of t is an object of u.
func (t *Type) IsA(u *Type) bool {
	for ; t != nil; t = t.Parent {
		if t == u {
			return true
		}
	}
	return false
}

// Lookup returns the index of a name known to the type's root.
func (t *Type) Lookup(name string) (int32, bool) {
	return t.root.names.find(name)
}

// String returns the type's name, or the words of an enum.
func (t *Type) String() string {
	if !t.Enum {
		return t.Name
	}
	s := "enum("
	for i, n := range t.names.names {
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprintf("%q", n)
	}
	return s + ")"
}

// Param is a typed parameter of a fluent, an action or a goal.
type Param struct {
	Name string
	Type *Type
}

// Fluent is a state variable: one value for each combination of objects of its
// parameters.
type Fluent struct {
	Name   string
	Doc    string
	Params []Param
	Kind   Kind
	Type   *Type // of an object-valued fluent, nil otherwise
	// Derived is the definition of a derived fluent over slots 0..len(Params)-1,
	// nil for a base fluent. Definitions are acyclic.
	Derived *Expr
	Slots   int // environment size that Derived needs
	// Initial gives a belief fluent's first value for the named arguments; nil
	// where the fluent is no belief.
	Initial func(args []string) Value

	id int
}

// ID is the fluent's position in [Model.Fluents].
func (f *Fluent) ID() int { return f.id }

// EffectOp says what an effect does to its fluent.
type EffectOp uint8

// The operations of effects.
const (
	Add EffectOp = iota
	Del
	Set
	Increase
	Decrease
)

// Binder binds a slot to every object of a type in turn.
type Binder struct {
	Slot int
	Type *Type
	Name string
}

// Effect is one change that an action makes. Its arguments are slots and
// objects only, so that what it writes is known before it is applied.
type Effect struct {
	Op     EffectOp
	Fluent *Fluent
	Args   []*Expr
	Value  *Expr    // of Set, Increase and Decrease
	When   *Expr    // nil: always
	Forall []Binder // universal effect, over slots of the action's environment
}

// Action is an action schema. All its expressions share one environment: slots
// 0..len(Params)-1 are its parameters, quantifiers and forall use the others.
type Action struct {
	Name         string
	Doc          string
	Params       []Param
	Precondition *Cond
	Effects      []Effect
	Cost         *Expr // nil: 1
	Locks        []string
	Slots        int

	id        int
	invariant []*Invariant // those that read a fluent it writes
}

// ID is the action's position in [Model.Actions].
func (a *Action) ID() int { return a.id }

// Signature returns the action with its parameters' types: restart(service).
func (a *Action) Signature() string {
	s := a.Name + "("
	for i, p := range a.Params {
		if i > 0 {
			s += ", "
		}
		s += p.Type.String()
	}
	return s + ")"
}

// Goal is a condition to be reached, over its parameters.
type Goal struct {
	Name     string
	Doc      string
	Params   []Param
	Cond     *Cond
	Severity *Expr     // how bad a state is; nil where not given
	Actions  []*Action // only these may be used; nil: any
}

// Assignment gives a ground fluent a value in a named state.
type Assignment struct {
	Atom  Atom
	Value Value
}

// NamedState is a closed-world state written in the model: bools that are not
// assigned are false, other fluents have their initial value or are unknown.
type NamedState struct {
	Name   string
	Values []Assignment
}

// Model is an action model without the objects of a round. It is built once,
// by the Add methods, and read-only afterwards; then it may be shared.
type Model struct {
	Types      []*Type // declared types in the order written, then enums
	Fluents    []*Fluent
	Actions    []*Action
	Invariants []*Invariant
	Goals      []*Goal
	States     []*NamedState
	// FoldCase is set where the model's names are in lower case and a step may
	// write them in any, as in PDDL.
	FoldCase bool

	types   map[string]*Type
	fluents map[string]*Fluent
	actions map[string]*Action

	aggregates []*aggregate
	watches    [][]watch // by fluent id
}

// New returns an empty model.
func New() *Model {
	return &Model{types: map[string]*Type{}, fluents: map[string]*Fluent{}, actions: map[string]*Action{}}
}

// AddType declares a type; parent is nil for a root. A name may be declared once.
func (m *Model) AddType(name string, parent *Type) *Type {
	t := &Type{Name: name, Parent: parent, id: len(m.Types)}
	t.root = t
	if parent != nil {
		t.root = parent.root
	} else {
		t.names = &nameTable{}
	}
	m.Types = append(m.Types, t)
	m.types[name] = t
	return t
}

// AddEnum returns the enum with these words in this order; the same words give
// the same type, so that fluents over equal enums can be compared.
func (m *Model) AddEnum(words []string) *Type {
	key := fmt.Sprintf("enum %q", words)
	if t := m.types[key]; t != nil {
		return t
	}
	t := m.AddType(key, nil)
	t.Enum = true
	for _, w := range words {
		t.AddObject(w)
	}
	return t
}

// AddObject makes the name a member of the type and returns its index.
func (t *Type) AddObject(name string) int32 {
	id := t.Mention(name)
	t.Objects = append(t.Objects, id)
	return id
}

// Grow makes room for n more objects.
func (t *Type) Grow(n int) {
	t.root.names.grow(n)
	t.Objects = slices.Grow(t.Objects, n)
}

// Mention gives the name an index in the type's root without making it a
// member: a literal that names an object to be discovered.
func (t *Type) Mention(name string) int32 {
	return t.root.names.add(name)
}

// AddFluent declares a fluent.
func (m *Model) AddFluent(f *Fluent) {
	f.id = len(m.Fluents)
	m.Fluents = append(m.Fluents, f)
	m.fluents[f.Name] = f
}

// AddAction declares an action.
func (m *Model) AddAction(a *Action) {
	a.id = len(m.Actions)
	m.Actions = append(m.Actions, a)
	m.actions[a.Name] = a
}

// Type returns the declared type of this name, or nil.
func (m *Model) Type(name string) *Type { return m.types[name] }

// Fluent returns the fluent of this name, or nil.
func (m *Model) Fluent(name string) *Fluent { return m.fluents[name] }

// Action returns the action of this name, or nil.
func (m *Model) Action(name string) *Action { return m.actions[name] }

// Goal returns the goal of this name, or nil.
func (m *Model) Goal(name string) *Goal {
	for _, g := range m.Goals {
		if g.Name == name {
			return g
		}
	}
	return nil
}

// State returns the named state of this name, or nil.
func (m *Model) State(name string) *NamedState {
	for _, s := range m.States {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// Invariants that an action could break: those that read a fluent it writes.
func (m *Model) invariantsOf(a *Action) []*Invariant {
	var out []*Invariant
	for _, inv := range m.Invariants {
		for _, e := range a.Effects {
			if inv.reads[e.Fluent] {
				out = append(out, inv)
				break
			}
		}
	}
	return out
}

// Link completes the model after everything was added: it finds which
// invariants each action touches, which quantifiers a state can keep up to date,
// and in which order nested ones are evaluated. The model is read-only from here on.
func (m *Model) Link() {
	for _, a := range m.Actions {
		a.invariant = m.invariantsOf(a)
	}
	m.findAggregates()
	m.findChains()
}

// Invariants are those that the action could break: they read a fluent that it
// writes. [Model.Link] finds them; the slice is shared.
func (a *Action) Invariants() []*Invariant { return a.invariant }
