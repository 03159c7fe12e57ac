package pddl

import "bytes"

// Kinds of tokens; parentheses are kinds of their own.
const (
	end  = 0
	word = 'w'
)

// token is a parenthesis, a word, or the end.
type token struct {
	kind     byte
	sym      int32 // of a word
	from, to int
}

// Classes of bytes.
const (
	plain = iota
	blank
	paren
	comment
	variable // starts a word wherever it stands: (aircraft?a)
)

var class = func() (t [256]uint8) {
	for c := range ' ' + 1 {
		t[c] = blank
	}
	t['('], t[')'], t[';'], t['?'] = paren, paren, comment, variable
	return t
}()

// lexer reads tokens between two offsets of a file.
type lexer struct {
	src  *source
	syms *symbols
	at   int
	stop int
}

// next returns the next token.
func (l *lexer) next() token {
	text := l.src.text[:l.stop]
	i := l.at
	for i < len(text) {
		switch class[text[i]] {
		case blank:
			i++
		case comment:
			i = lineEnd(text, i)
		case paren:
			l.at = i + 1
			return token{kind: text[i], from: i, to: i + 1}
		default:
			return l.word(text, i)
		}
	}
	l.at = i
	return token{from: i, to: i}
}

func (l *lexer) word(text []byte, from int) token {
	i := from
	hash := uint32(hashSeed)
	for {
		hash = (hash ^ uint32(fold[text[i]])) * hashPrime
		if i++; i == len(text) || class[text[i]] != plain {
			break
		}
	}
	l.at = i
	return token{word, l.syms.of(text[from:i], hash), from, i}
}

func lineEnd(text []byte, i int) int {
	if n := bytes.IndexByte(text[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(text)
}

// skip moves behind the parenthesis that closes a list whose opening was read;
// false where there is none.
func (l *lexer) skip() bool {
	text := l.src.text[:l.stop]
	depth := 1
	for i := l.at; i < len(text); i++ {
		switch class[text[i]] {
		case comment:
			i = lineEnd(text, i)
		case paren:
			if text[i] == '(' {
				depth++
			} else if depth--; depth == 0 {
				l.at = i + 1
				return true
			}
		}
	}
	l.at = len(text)
	return false
}
