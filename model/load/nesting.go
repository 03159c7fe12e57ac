package load

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// maxNesting bounds brackets, templates and chained operators within each
// other, since HCL's parser and evaluator recurse over them and a stack that
// overflows cannot be recovered from.
const maxNesting = 1000

// tooDeep tells where a file nests deeper than maxNesting.
func tooDeep(data []byte, name string) (hcl.Range, bool) {
	if flat(data) {
		return hcl.Range{}, false
	}
	tokens, _ := hclsyntax.LexConfig(data, name, hcl.InitialPos)
	n := nesting{levels: []level{{}}}
	for _, t := range tokens {
		if n.token(t.Type); n.total > maxNesting {
			return t.Range, true
		}
	}
	return hcl.Range{}, false
}

// flat tells from the lines alone that a file cannot nest deeply, which spares
// ordinary files a second lexing. It errs on the side of false.
func flat(data []byte) bool {
	const widest, deepest = 1000, 500
	if bytes.Contains(data, []byte("<<")) || bytes.Contains(data, []byte("/*")) {
		return false
	}
	depth, chained := 0, 0
	for line := range bytes.Lines(data) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		net := 0
		for _, c := range line {
			switch c {
			case '(', '[', '{':
				net++
			case ')', ']', '}':
				net--
			}
		}
		if net > 0 || !bytes.ContainsAny(line, "\"#/") {
			depth = max(depth+net, 0)
		}
		if operator(line[0]) || operator(line[len(line)-1]) {
			chained++
		}
		if len(line) > widest || depth > deepest || chained > deepest {
			return false
		}
	}
	return true
}

func operator(c byte) bool { return bytes.IndexByte([]byte("+-*/%&|?:!<>=."), c) >= 0 }

// level is an open bracket and the chained operators since its last separator.
type level struct {
	open    hclsyntax.TokenType
	chained int
}

// nesting follows how deeply tokens nest.
type nesting struct {
	levels []level
	total  int
}

func (n *nesting) token(t hclsyntax.TokenType) {
	last := &n.levels[len(n.levels)-1]
	switch t {
	case hclsyntax.TokenOParen, hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenTemplateInterp,
		hclsyntax.TokenTemplateControl, hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
		n.levels = append(n.levels, level{open: t})
		n.total++
	case hclsyntax.TokenCParen, hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenTemplateSeqEnd,
		hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc:
		n.close(t)
	case hclsyntax.TokenNewline, hclsyntax.TokenComment:
		if last.open != hclsyntax.TokenOParen && last.open != hclsyntax.TokenOBrack {
			n.separate()
		}
	case hclsyntax.TokenComma, hclsyntax.TokenEqual:
		n.separate()
	case hclsyntax.TokenIdent, hclsyntax.TokenNumberLit, hclsyntax.TokenQuotedLit, hclsyntax.TokenStringLit, hclsyntax.TokenEOF:
	default:
		last.chained++
		n.total++
	}
}

func (n *nesting) separate() {
	last := &n.levels[len(n.levels)-1]
	n.total -= last.chained
	last.chained = 0
}

func (n *nesting) close(t hclsyntax.TokenType) {
	last := len(n.levels) - 1
	if last == 0 {
		return
	}
	n.total -= n.levels[last].chained + 1
	n.levels = n.levels[:last]
	if t == hclsyntax.TokenCBrack { // a[0][0] nests to the left
		n.levels[last-1].chained++
		n.total++
	}
}
