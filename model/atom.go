package model

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Atom is a ground fluent: a fluent with one object for each parameter.
type Atom struct {
	Fluent *Fluent
	Args   []int32
}

// Ref names what is read or written: an atom, or with nil Args every instance
// of a fluent that has parameters.
type Ref struct {
	Fluent *Fluent
	Args   []int32
}

// Whole tells whether the reference stands for every instance of the fluent.
func (r Ref) Whole() bool { return r.Args == nil && len(r.Fluent.Params) > 0 }

// bareByte tells whether a byte may stand in an unquoted argument.
func bareByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// Bare tells whether a name can be written without quotes in the grammar of
// ground atoms: [A-Za-z0-9_][A-Za-z0-9_.:/@-]*.
func Bare(s string) bool {
	if s == "" || !bareByte(s[0]) {
		return false
	}
	for i := 1; i < len(s); i++ {
		if !bareByte(s[i]) && strings.IndexByte(".:/@-", s[i]) < 0 {
			return false
		}
	}
	return true
}

// Quote writes an object's name as an argument: bare where the grammar allows
// it, in single quotes with backslash escapes otherwise.
func Quote(s string) string {
	if Bare(s) {
		return s
	}
	var b strings.Builder
	b.WriteByte('\'')
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\'' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == utf8.RuneError && n <= 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r < 0x80 && !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\x%02x`, r)
		case !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
		i += n
	}
	b.WriteByte('\'')
	return b.String()
}

// FormatAtom writes name(arg, arg), or the bare name where there is no argument.
func FormatAtom(name string, args ...string) string {
	if len(args) == 0 {
		return name
	}
	var b strings.Builder
	b.WriteString(name)
	for i, a := range args {
		if i == 0 {
			b.WriteByte('(')
		} else {
			b.WriteString(", ")
		}
		b.WriteString(Quote(a))
	}
	b.WriteByte(')')
	return b.String()
}

// ParseAtom reads name, name() or name(arg, arg). The error says at which
// character, counted from 1, what was expected.
func ParseAtom(s string) (name string, args []string, err error) {
	p := atomParser{s: s}
	p.space()
	if name, err = p.bare("a name"); err != nil {
		return "", nil, err
	}
	p.space()
	if p.eat('(') {
		if args, err = p.args(); err != nil {
			return "", nil, err
		}
		p.space()
	}
	if p.i < len(s) {
		return "", nil, p.expected("the end")
	}
	return name, args, nil
}

type atomParser struct {
	s string
	i int
}

func (p *atomParser) space() {
	for p.i < len(p.s) && (p.s[p.i] == ' ' || p.s[p.i] == '\t') {
		p.i++
	}
}

func (p *atomParser) eat(c byte) bool {
	if p.i < len(p.s) && p.s[p.i] == c {
		p.i++
		return true
	}
	return false
}

func (p *atomParser) expected(what string) error {
	got := "the end"
	if p.i < len(p.s) {
		r, _ := utf8.DecodeRuneInString(p.s[p.i:])
		got = fmt.Sprintf("%q", r)
	}
	return fmt.Errorf("expected %s at character %d, found %s", what, utf8.RuneCountInString(p.s[:p.i])+1, got)
}

func (p *atomParser) bare(what string) (string, error) {
	from := p.i
	for p.i < len(p.s) && (bareByte(p.s[p.i]) || p.i > from && strings.IndexByte(".:/@-", p.s[p.i]) >= 0) {
		p.i++
	}
	if p.i == from {
		return "", p.expected(what)
	}
	return p.s[from:p.i], nil
}

func (p *atomParser) args() ([]string, error) {
	var args []string
	p.space()
	if p.eat(')') {
		return nil, nil
	}
	for {
		p.space()
		var a string
		var err error
		if p.i < len(p.s) && (p.s[p.i] == '\'' || p.s[p.i] == '"') {
			a, err = p.quoted()
		} else {
			a, err = p.bare("an argument")
		}
		if err != nil {
			return nil, err
		}
		args = append(args, a)
		p.space()
		if p.eat(')') {
			return args, nil
		}
		if !p.eat(',') {
			return nil, p.expected(`"," or ")"`)
		}
	}
}

func (p *atomParser) quoted() (string, error) {
	q := p.s[p.i]
	p.i++
	var b strings.Builder
	for p.i < len(p.s) {
		c := p.s[p.i]
		if c == q {
			p.i++
			return b.String(), nil
		}
		if c != '\\' {
			b.WriteByte(c)
			p.i++
			continue
		}
		if err := p.escape(&b); err != nil {
			return "", err
		}
	}
	return "", p.expected("a closing quote")
}

func (p *atomParser) escape(b *strings.Builder) error {
	p.i++
	rest := p.s[p.i:]
	var v uint32
	switch {
	case rest == "":
		return p.expected("an escaped character")
	case rest[0] == 'n':
		b.WriteByte('\n')
	case rest[0] == 't':
		b.WriteByte('\t')
	case rest[0] == 'x' && len(rest) >= 3 && hex(rest[1:3], &v):
		b.WriteByte(byte(v))
		p.i += 2
	case strings.HasPrefix(rest, "u{"):
		end := strings.IndexByte(rest, '}')
		if end < 3 || end > 8 || !hex(rest[2:end], &v) || !utf8.ValidRune(rune(v)) {
			return p.expected("a character number such as u{e9}")
		}
		b.WriteRune(rune(v))
		p.i += end
	case rest[0] == '\'' || rest[0] == '"' || rest[0] == '\\':
		b.WriteByte(rest[0])
	default:
		return p.expected(`one of \' \" \\ \n \t \xNN \u{N}`)
	}
	p.i++
	return nil
}

func hex(s string, v *uint32) bool {
	*v = 0
	for i := 0; i < len(s); i++ {
		d := strings.IndexByte("0123456789abcdefABCDEF", s[i])
		switch {
		case d < 0:
			return false
		case d > 15:
			d -= 6
		}
		*v = *v<<4 | uint32(d)
	}
	return true
}
