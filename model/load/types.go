package load

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/fettleops/fettle/model"
)

// typeDecl is a type block on its way into the model.
type typeDecl struct {
	name    string
	block   *hcl.Block
	content *hcl.BodyContent
	parent  string
	t       *model.Type
	busy    bool // its parents are being looked up
}

var typeSchema = schema("objects parent", "discover kind")

// types declares the types, parents before children, and their objects.
func (ld *loader) types() {
	var order []*typeDecl
	for _, b := range ld.blocks["type"] {
		if !ld.declare("type", b.Labels[0], b.LabelRanges[0]) {
			ld.content(b.Body, typeSchema)
			continue
		}
		d := &typeDecl{name: b.Labels[0], block: b, content: ld.content(b.Body, typeSchema)}
		if attr := d.content.Attributes["parent"]; attr != nil {
			d.parent, _ = ld.name(attr.Expr, "a type")
		}
		ld.typeOf[d.name] = d
		order = append(order, d)
	}
	for _, d := range order {
		ld.addType(d)
	}
	for _, d := range order {
		ld.addObjects(d)
		if b := ld.single(d.content.Blocks, "discover"); b != nil {
			d.t.Discovered = true
			ld.l.Discover[d.t] = newBlock(b)
		}
		if d.content.Attributes["objects"] == nil && len(d.content.Blocks) == 0 && !ld.hasSubtype(d.t) && !ld.cyclic[d.t.Root()] {
			ld.errorAt(d.block.DefRange, fmt.Sprintf("Type %q has no objects", d.name), `List them, as in objects = ["a", "b"], or let a discover block find them.`)
		}
	}
}

func (ld *loader) hasSubtype(t *model.Type) bool {
	for _, s := range ld.m.Types {
		if s.Parent == t {
			return true
		}
	}
	return false
}

func (ld *loader) addType(d *typeDecl) *model.Type {
	if d.t != nil {
		return d.t
	}
	var parent *model.Type
	looped := false
	if d.parent != "" {
		p := ld.typeOf[d.parent]
		rng := d.content.Attributes["parent"].Expr.Range()
		switch {
		case p == nil:
			ld.unknownType(d.parent, rng)
		case d.busy:
			ld.errorAt(rng, "Cycle of types", "The type %q is its own parent's parent.", d.name)
			looped = true
		default:
			d.busy = true
			parent = ld.addType(p)
			d.busy = false
		}
	}
	if d.t == nil { // a cycle may have added it meanwhile
		d.t = ld.m.AddType(d.name, parent)
		ld.members[d.t] = map[int32]bool{}
		ld.cyclic[d.t] = looped
	}
	return d.t
}

func (ld *loader) unknownType(name string, rng hcl.Range) {
	ld.errorAt(rng, fmt.Sprintf("Unknown type %q", name), "There is no type %q.%s", name, ld.near(name, ld.declaredNames("type")))
}

// addObjects declares a type's objects. Their names may stand in several
// types of one root: then it is one object.
func (ld *loader) addObjects(d *typeDecl) {
	attr := d.content.Attributes["objects"]
	if attr == nil {
		return
	}
	seen := make(map[string]bool)
	exprs, diags := hcl.ExprList(attr.Expr)
	if diags.HasErrors() { // computed: objects = var.services
		for _, name := range ld.texts(attr) {
			ld.addObject(d, name, attr.Expr.Range(), seen)
		}
		return
	}
	for _, e := range exprs {
		if v, ok := ld.evaluate(e, cty.String, "objects", "a list of strings"); ok {
			ld.addObject(d, v.AsString(), e.Range(), seen)
		}
	}
}

func (ld *loader) addObject(d *typeDecl, name string, rng hcl.Range, seen map[string]bool) {
	switch {
	case name == "":
		ld.errorAt(rng, "Invalid name", "An object's name cannot be empty.")
		return
	case seen[name]:
		ld.errorAt(rng, fmt.Sprintf("Duplicate object %q", name), "It stands in the list of %q already.", d.name)
		return
	case !ld.usable("object", name, rng):
		return
	}
	seen[name] = true
	if n, taken := ld.names[name]; taken && n.kind != "object" {
		ld.taken("object", name, rng, n)
		return
	} else if !taken {
		ld.names[name] = declared{"object", rng}
	}
	id := d.t.AddObject(name)
	for t := d.t; t != nil; t = t.Parent {
		ld.members[t][id] = true
	}
	for _, root := range ld.objects[name] {
		if root == d.t.Root() {
			return
		}
	}
	ld.objects[name] = append(ld.objects[name], d.t.Root())
}

// mayDiscover tells whether objects of the type can be found by observation.
func (ld *loader) mayDiscover(t *model.Type) bool {
	for _, s := range ld.m.Types {
		if s.Discovered && s.IsA(t) {
			return true
		}
	}
	return false
}

// find looks up an object of a type by its name. A name of a discovered type
// that is not declared is taken on trust.
func (ld *loader) find(t *model.Type, name string) (int32, bool) {
	if id, ok := t.Lookup(name); ok && (t.Enum || ld.members[t][id]) {
		return id, true
	}
	if !t.Enum && name != "" && ld.mayDiscover(t) {
		return t.Mention(name), true
	}
	return 0, false
}

// noObject says that a type has no object of the name.
func (ld *loader) noObject(t *model.Type, name string) string {
	if t.Enum {
		return fmt.Sprintf("The words are %s.%s", quotedList(ld.m.Declared(t)), ld.near(name, ld.m.Declared(t)))
	}
	return fmt.Sprintf("There is no %s %q.%s", t, name, ld.nearObject(t, name))
}

func (ld *loader) nearObject(t *model.Type, name string) string {
	if ld.patience < 0 {
		return ""
	}
	return ld.near(name, ld.m.Declared(t))
}

func quotedList(words []string) string {
	q := make([]string, len(words))
	for i, w := range words {
		q[i] = fmt.Sprintf("%q", w)
	}
	return strings.Join(q, ", ")
}

// typeExpr reads what stands for a type: bool, number, string, enum("a", "b")
// or the name of a declared type. The kind is KindUnknown where it is wrong.
func (ld *loader) typeExpr(e hcl.Expression) (model.Kind, *model.Type) {
	if call, diags := hcl.ExprCall(e); !diags.HasErrors() {
		if call.Name != "enum" {
			ld.errorAt(call.NameRange, fmt.Sprintf("Unknown type %q", call.Name+"()"), `A type is bool, number, string, enum("a", "b") or the name of a declared type.`)
			return model.KindUnknown, nil
		}
		return ld.enumExpr(call)
	}
	name, ok := ld.name(e, "a type")
	if !ok {
		return model.KindUnknown, nil
	}
	switch name {
	case "bool":
		return model.KindBool, nil
	case "number":
		return model.KindNumber, nil
	case "string":
		return model.KindString, nil
	}
	d := ld.typeOf[name]
	if d == nil {
		candidates := append([]string{"bool", "number", "string", "enum"}, ld.declaredNames("type")...)
		ld.errorAt(e.Range(), fmt.Sprintf("Unknown type %q", name), "There is no type %q.%s", name, ld.near(name, candidates))
		return model.KindUnknown, nil
	}
	return model.KindObject, d.t
}

func (ld *loader) enumExpr(call *hcl.StaticCall) (model.Kind, *model.Type) {
	var words []string
	seen := map[string]bool{}
	for _, a := range call.Arguments {
		v, ok := ld.evaluate(a, cty.String, "enum", "words in quotes")
		if !ok {
			return model.KindUnknown, nil
		}
		w := v.AsString()
		if w == "" || seen[w] {
			ld.errorAt(a.Range(), "Invalid enum", "The words of an enum differ from each other and are not empty.")
			return model.KindUnknown, nil
		}
		seen[w] = true
		words = append(words, w)
	}
	if len(words) == 0 {
		ld.errorAt(call.ArgsRange, "Invalid enum", `An enum lists its words, as in enum("on", "off").`)
		return model.KindUnknown, nil
	}
	return model.KindObject, ld.m.AddEnum(words)
}

// params reads params = { s = service } in its written order. Only a goal's
// parameters may be enums. What cannot be read is a parameter without a name.
func (ld *loader) params(attr *hcl.Attribute, enums bool) []model.Param {
	var out []model.Param
	seen := map[string]bool{}
	pairs, ok := ld.pairs(attr, "{ s = service }")
	if !ok {
		return []model.Param{{}}
	}
	for _, p := range pairs {
		name, ok := ld.key(p.Key)
		if !ok {
			out = append(out, model.Param{})
			continue
		}
		kind, t := ld.typeExpr(p.Value)
		if !ld.usable("parameter", name, p.Key.Range()) {
			t, kind = nil, model.KindUnknown
		} else if d, taken := ld.names[name]; taken {
			tainted := ld.tainted[name]
			ld.taken("parameter", name, p.Key.Range(), d)
			ld.tainted[name] = tainted // it is so within its declaration alone
			t, kind = nil, model.KindUnknown
		}
		if seen[name] {
			ld.errorAt(p.Key.Range(), fmt.Sprintf("Duplicate parameter %q", name), "It stands in the list already.")
			continue
		}
		seen[name] = true
		switch {
		case kind == model.KindUnknown:
			t = nil
		case kind != model.KindObject:
			ld.errorAt(p.Value.Range(), "Wrong type", "A parameter is an object of a declared type, not a %s.", kind)
			t = nil
		case t.Enum && !enums:
			ld.errorAt(p.Value.Range(), "Wrong type", "Only the parameters of a goal may be enums. Declare a type with these objects.")
			t = nil
		}
		out = append(out, model.Param{Name: name, Type: t})
	}
	return out
}

// complete tells whether every parameter has a type.
func complete(ps []model.Param) bool {
	for _, p := range ps {
		if p.Type == nil {
			return false
		}
	}
	return true
}
