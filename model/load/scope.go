package load

import (
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model"
)

// scope is the environment that all expressions of one declaration share:
// slots for its parameters, then one for every quantifier and forall.
type scope struct {
	ld     *loader
	params []model.Param
	vars   []variable // parameters, and the variables of a forall
	slots  int        // used so far
	opaque bool       // some of its variables could not be read: unknown names may be theirs
}

// variable is an object that a name stands for.
type variable struct {
	name string
	t    *model.Type // nil where its declaration is faulty
	slot int
}

func (ld *loader) newScope(params []model.Param) *scope {
	s := &scope{ld: ld, params: params}
	for _, p := range params {
		s.declare(p)
	}
	return s
}

// declare binds a parameter; one without a name stands for those that could
// not be read.
func (s *scope) declare(p model.Param) int {
	s.opaque = s.opaque || p.Name == ""
	return s.bind(p.Name, p.Type)
}

// bind gives a name a slot of its own.
func (s *scope) bind(name string, t *model.Type) int {
	s.vars = append(s.vars, variable{name, t, s.slots})
	s.slots++
	return s.slots - 1
}

func (s *scope) lookup(name string) (variable, bool) {
	for i := len(s.vars) - 1; i >= 0; i-- {
		if s.vars[i].name == name {
			return s.vars[i], true
		}
	}
	return variable{}, false
}

// lower reads an expression of the wanted kind, and type where that is an
// object. It returns nil where the text is faulty, which is reported.
func (s *scope) lower(e hcl.Expression, kind model.Kind, t *model.Type) *model.Expr {
	what, label := "a condition", "A condition is"
	if kind != model.KindBool {
		what, label = "an expression", "The expression is to be"
	}
	src, ok := s.ld.source(e, what)
	if !ok {
		return nil
	}
	n := s.ld.tree(src)
	if n == nil {
		return nil
	}
	return s.lowerer(src).operand(n, kind, t, label)
}

func (s *scope) lowerer(src *source) *lowerer {
	return &lowerer{scope: s, ld: s.ld, src: src, sizes: map[*model.Expr]int{}, done: map[ast.Node]*model.Expr{}}
}

// conditions reads a list of conditions; false where one of them is faulty.
func (s *scope) conditions(attr *hcl.Attribute) ([]*model.Expr, bool) {
	if attr == nil {
		return nil, true
	}
	exprs := s.ld.list(attr, "conditions")
	ok := exprs != nil || isEmptyList(attr.Expr)
	var out []*model.Expr
	for _, e := range exprs {
		if x := s.lower(e, model.KindBool, nil); x != nil {
			if slices.ContainsFunc(out, func(o *model.Expr) bool { return same(o, x) }) {
				s.ld.doubt(e.Range(), "Given twice", "The same condition stands in this list already. Keep one.")
			}
			out = append(out, x)
		} else {
			ok = false
		}
	}
	return out, ok
}

func isEmptyList(e hcl.Expression) bool {
	l, diags := hcl.ExprList(e)
	return !diags.HasErrors() && len(l) == 0
}
