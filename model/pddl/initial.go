package pddl

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model"
)

// initial reads the facts of :init as a stream, into the state where there is
// one.
func (ld *loader) initial(p *definition) {
	r := &factReader{ld: ld}
	ld.each(p, ":init", func(s *section) {
		r.l = ld.lexer(s)
		for {
			switch t := r.l.next(); t.kind {
			case end:
				return
			case '(':
				r.fact(t, true)
			default:
				ld.errorAt(s.src.place(t.from, t.to), "Not a fact", "Facts are lists such as (on a b).")
			}
		}
	})
	ld.zeroCosts()
}

// zeroCosts starts a total cost at zero where the problem does not say.
func (ld *loader) zeroCosts() {
	p := ld.functions["total-cost"]
	if ld.state == nil || p == nil || len(p.kinds) > 0 {
		return
	}
	if a := (model.Atom{Fluent: p.f}); !ld.state.Get(a).Known() {
		ld.state.Set(a, model.NumberValue(0))
	}
}

// factReader reads the facts of the initial state.
type factReader struct {
	ld   *loader
	l    *lexer
	args []int32
	ats  []token
}

// fact reads one fact behind its opening; a negated one says nothing new.
func (r *factReader) fact(open token, positive bool) {
	t := r.l.next()
	m := (*meaning)(nil)
	name := ""
	if t.kind == word {
		m, name = r.ld.meanings[t.sym], r.ld.syms.names[t.sym]
	}
	switch {
	case m != nil && m.predicate != nil:
		if r.timed(name) {
			r.refuse(open, "timed initial literals")
			return
		}
		if r.atom(open, m.predicate) {
			r.set(open, m.predicate, positive)
		}
	case name == "not" && positive:
		if t = r.l.next(); t.kind != '(' {
			r.wrong(open, "Not a fact", "not takes one fact.")
			return
		}
		r.fact(t, false)
		if t = r.l.next(); t.kind != ')' {
			r.wrong(open, "Not a fact", "not takes one fact.")
		}
	case name == "=":
		r.value(open)
	case name == "at" && r.timed(name):
		r.refuse(open, "timed initial literals")
	case t.kind != word:
		r.wrong(open, "Not a fact", "A fact starts with a predicate's name.")
	default:
		n := r.ld.leaf(r.l, t)
		r.leave(open)
		if name == "and" || name == "or" || name == "oneof" || name == "unknown" || name == "forall" {
			r.ld.errorAt(n.place(), "Not a fact", "The initial state is a list of facts; %s does not stand there.", name)
			return
		}
		r.ld.noPredicate(n, name, "predicate", r.ld.predicates)
	}
}

func (r *factReader) place(from token) hcl.Range { return r.l.src.place(from.from, r.l.at) }

// leave moves behind the fact.
func (r *factReader) leave(open token) {
	r.l.at = open.to
	r.l.skip()
}

// wrong reports a fact and leaves it.
func (r *factReader) wrong(open token, summary, detail string) {
	r.leave(open)
	r.ld.errorAt(r.place(open), summary, "%s", detail)
}

func (r *factReader) refuse(open token, what string) {
	r.leave(open)
	r.ld.unsupported(r.place(open), what)
}

// timed tells whether what follows is (at 5 (…)).
func (r *factReader) timed(name string) bool {
	if name != "at" {
		return false
	}
	look := *r.l
	t := look.next()
	if t.kind != word {
		return false
	}
	_, isNumber := number(r.ld.syms.names[t.sym])
	return isNumber && look.next().kind == '('
}

// atom reads a fact's arguments up to its closing, and checks them.
func (r *factReader) atom(open token, p *predicate) bool {
	r.args, r.ats = r.args[:0], r.ats[:0]
	ok := true
	for {
		t := r.l.next()
		switch t.kind {
		case word:
			r.ats = append(r.ats, t)
			continue
		case '(':
			r.l.skip()
			r.ld.errorAt(r.place(t), "Not an object", "A list stands where an object's name does.")
			ok = false
			continue
		}
		break
	}
	if !ok {
		return false
	}
	if len(r.ats) != len(p.kinds) {
		r.ld.wrongArity(&node{src: r.l.src, from: open.from, to: r.l.at}, p, len(r.ats))
		return false
	}
	for i, t := range r.ats {
		o := r.ld.object(t.sym)
		if o == nil {
			r.ld.noObject(r.l.src, t.from, t.to, t.sym)
			ok = false
			continue
		}
		if p.kinds[i] != nil && !r.ld.isA(o, p.kinds[i]) {
			ld := r.ld
			ld.errorAt(r.l.src.place(t.from, t.to), "Wrong type", "%s is %s, and this is for %s: %s.", ld.syms.names[t.sym],
				article(ld.shown(o.t.m)), article(ld.shown(p.kinds[i].m)), signature(p.f.Name, p.f.Params, ld.shown))
			ok = false
		}
		r.args = append(r.args, o.id)
	}
	return ok
}

func (r *factReader) set(open token, p *predicate, positive bool) {
	switch {
	case r.ld.derived[p.f] != nil:
		r.ld.errorAt(r.place(open), "Derived predicate in a state", "%s follows from other facts; give those.", p.f.Name)
	case positive && r.ld.state != nil:
		r.ld.state.Set(model.Atom{Fluent: p.f, Args: r.args}, model.BoolValue(true))
	}
}

// value reads (= (function …) number) behind the equals sign.
func (r *factReader) value(open token) {
	t := r.l.next()
	name := t
	if t.kind == '(' {
		name = r.l.next()
	}
	if name.kind != word {
		r.wrong(open, "Not a value", "A value is given as in (= (distance a b) 5).")
		return
	}
	m := r.ld.meanings[name.sym]
	if m == nil || m.function == nil {
		n := r.ld.leaf(r.l, name)
		r.leave(open)
		r.ld.noPredicate(n, n.name, "function", r.ld.functions)
		return
	}
	r.ats, r.args = r.ats[:0], r.args[:0]
	if t.kind == '(' && !r.atom(t, m.function) {
		r.leave(open)
		return
	}
	v := r.l.next()
	f, ok := 0.0, false
	if v.kind == word {
		f, ok = number(r.ld.syms.names[v.sym])
	}
	if closing := r.l.next(); !ok || closing.kind != ')' {
		r.wrong(open, "Not a value", fmt.Sprintf("%s is a number, as in (= %s 5).", m.function.f.Name, signature(m.function.f.Name, m.function.f.Params, r.ld.shown)))
		return
	}
	if t.kind != '(' && len(m.function.kinds) > 0 {
		r.ld.wrongArity(&node{src: r.l.src, from: open.from, to: r.l.at}, m.function, 0)
		return
	}
	if r.ld.state != nil {
		r.assign(open, model.Atom{Fluent: m.function.f, Args: r.args}, model.NumberValue(f))
	}
}

func (r *factReader) assign(open token, a model.Atom, v model.Value) {
	if old := r.ld.state.Get(a); old.Known() && old != v {
		was, _ := old.Number()
		r.ld.errorAt(r.place(open), "Given twice", "The value is %s already.", model.FormatNumber(was))
		return
	}
	r.ld.state.Set(a, v)
}
