package pddl

import "github.com/hashicorp/hcl/v2"

// maxDepth bounds lists within lists, since they are read and evaluated
// recursively.
const maxDepth = 1000

// node is a word or a list.
type node struct {
	src      *source
	name     string // of a word, in lower case; empty for a list
	sym      int32  // of a word, -1 for a list
	kids     []*node
	from, to int
}

func (n *node) list() bool { return n.sym < 0 }

func (n *node) place() hcl.Range { return n.src.place(n.from, n.to) }

// head returns the word that a list starts with, "" where there is none.
func (n *node) head() string {
	if !n.list() || len(n.kids) == 0 {
		return ""
	}
	return n.kids[0].name
}

// isVariable tells whether the node is a word such as ?x.
func (n *node) isVariable() bool { return len(n.name) > 1 && n.name[0] == '?' }

// tree reads the list whose opening was read; nil where it is faulty, which is
// reported.
func (ld *loader) tree(l *lexer, open token, depth int) *node {
	if depth > maxDepth {
		ld.errorAt(l.src.place(open.from, open.to), "Nested too deeply", "At most %d lists stand in each other.", maxDepth)
		return nil
	}
	n := &node{src: l.src, sym: -1, from: open.from}
	for {
		switch t := l.next(); t.kind {
		case '(':
			kid := ld.tree(l, t, depth+1)
			if kid == nil {
				return nil
			}
			n.kids = append(n.kids, kid)
		case ')':
			n.to = t.to
			return n
		case word:
			n.kids = append(n.kids, ld.leaf(l, t))
		default:
			ld.unclosed(l.src, open)
			return nil
		}
	}
}

func (ld *loader) leaf(l *lexer, t token) *node {
	return &node{src: l.src, name: ld.syms.names[t.sym], sym: t.sym, from: t.from, to: t.to}
}

func (ld *loader) unclosed(s *source, open token) {
	ld.errorAt(s.place(open.from, open.to), "Unclosed parenthesis", "The list that starts here is not closed before the file ends.")
}
