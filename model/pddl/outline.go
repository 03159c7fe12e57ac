package pddl

import (
	"fmt"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
)

// section is one part of a definition: (:init …), its opening and its keyword
// read already.
type section struct {
	src      *source
	key      string
	keyPlace [2]int
	from, at int // of the opening; of what follows the keyword
	to       int // behind the closing
}

func (s *section) place() hcl.Range { return s.src.place(s.keyPlace[0], s.keyPlace[1]) }

// lexer reads what is between the keyword and the closing parenthesis.
func (ld *loader) lexer(s *section) *lexer {
	return &lexer{src: s.src, syms: &ld.syms, at: s.at, stop: s.to - 1}
}

// nodes reads the section's content; false where it is faulty.
func (ld *loader) nodes(s *section) ([]*node, bool) {
	l := ld.lexer(s)
	var out []*node
	for {
		t := l.next()
		if t.kind == end {
			return out, true
		}
		n := ld.item(l, t)
		if n == nil {
			return nil, false
		}
		out = append(out, n)
	}
}

// item reads a word or a list. Within a section parentheses match.
func (ld *loader) item(l *lexer, t token) *node {
	if t.kind == '(' {
		return ld.tree(l, t, 1)
	}
	return ld.leaf(l, t)
}

// definition is a file's outline.
type definition struct {
	name     string
	sections []section
}

// legible reports a word that is no UTF-8. Comments may be what they are: many
// an old file has its author's name in another encoding.
func (ld *loader) legible(src *source) bool {
	if utf8.Valid(src.text) {
		return true
	}
	l := &lexer{src: src, syms: &ld.syms, at: src.start(), stop: len(src.text)}
	for t := l.next(); t.kind != end; t = l.next() {
		if t.kind == word && !utf8.Valid(src.text[t.from:t.to]) {
			ld.errorAt(src.place(t.from, t.to), "Not a text file", "The word is not UTF-8 text. Save the file as UTF-8.")
			return false
		}
	}
	return true
}

// outline reads (define (KIND NAME) …) and finds the sections.
func (ld *loader) outline(src *source, kind string) (*definition, bool) {
	l := &lexer{src: src, syms: &ld.syms, at: src.start(), stop: len(src.text)}
	d := &definition{}
	open := l.next()
	if !ld.header(l, d, open, kind) {
		return nil, false
	}
	for {
		t := l.next()
		switch t.kind {
		case ')':
			return d, ld.over(l)
		case '(':
			if !ld.section(l, d, t) {
				return nil, false
			}
		case word:
			ld.errorAt(src.place(t.from, t.to), "Not a section", "A definition consists of lists such as (:%s …).", map[string]string{"domain": "action", "problem": "init"}[kind])
			return nil, false
		default:
			ld.unclosed(src, open)
			return nil, false
		}
	}
}

// header reads up to the definition's name.
func (ld *loader) header(l *lexer, d *definition, open token, kind string) bool {
	if open.kind == end {
		ld.errorAt(l.src.place(open.from, open.to), "Empty file", "A %s starts with (define (%s NAME).", kind, kind)
		return false
	}
	t := open
	for i, want := range []string{"(", "define", "(", kind, ""} {
		if i > 0 {
			t = l.next()
		}
		got := string(rune(t.kind))
		if t.kind == word {
			got = ld.syms.names[t.sym]
		}
		switch {
		case i == 4 && t.kind == word:
			d.name = got
		case i == 3 && (got == "domain" || got == "problem") && got != kind:
			ld.errorAt(l.src.place(t.from, t.to), fmt.Sprintf("A %s in place of a %s", got, kind), "The domain's file comes first, then the problem's.")
			return false
		case got != want:
			ld.errorAt(l.src.place(t.from, t.to), fmt.Sprintf("Not a PDDL %s", kind), "A %s starts with (define (%s NAME).", kind, kind)
			return false
		}
	}
	if t = l.next(); t.kind != ')' {
		ld.errorAt(l.src.place(t.from, t.to), "Unclosed parenthesis", "The name is followed by a closing parenthesis: (%s %s).", kind, d.name)
		return false
	}
	return true
}

func (ld *loader) section(l *lexer, d *definition, open token) bool {
	t := l.next()
	if t.kind != word || l.src.text[t.from] != ':' {
		ld.errorAt(l.src.place(t.from, t.to), "Not a section", "A section starts with a keyword, as in (:init …). An extra parenthesis before it may have closed the last one too early.")
		return false
	}
	s := section{src: l.src, key: ld.syms.names[t.sym], keyPlace: [2]int{t.from, t.to}, from: open.from, at: t.to}
	if !l.skip() {
		ld.unclosed(l.src, open)
		return false
	}
	s.to = l.at
	d.sections = append(d.sections, s)
	return true
}

// over reports what follows the definition. Closing parentheses too many are
// common in real files, and do no harm there.
func (ld *loader) over(l *lexer) bool {
	for {
		switch t := l.next(); t.kind {
		case end:
			return true
		case ')':
		default:
			ld.errorAt(l.src.place(t.from, t.to), "Text behind the definition", "A parenthesis before it closes the whole definition.")
			return false
		}
	}
}
