package validator

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fettleops/fettle/model"
)

// noAction yields a line that cannot be read or, where part of it could be, the
// rest of that line; and why, where it begins like an action.
func (p *planReader) noAction(line []byte, part bool) bool {
	e := &SyntaxError{Line: p.line, text: shorten(line)}
	e.Message = fmt.Sprintf("%q is not an action%s; write name(arg, …)", e.text, p.why)
	if part {
		e.text = ""
	}
	p.why = ""
	return p.yield(model.Step{}, e)
}

// because notes why a line is no action, %q in it the word that is in the way.
func (p *planReader) because(why string, at []byte) ([]byte, bool) {
	word := at
	for i := range at {
		if class[at[i]]&space != 0 || i > 0 && why != follows && (at[i] == ',' || at[i] == ')') {
			word = at[:i]
			break
		}
	}
	p.why = ": " + strings.Replace(why, "%q", strconv.Quote(shorten(word)), 1)
	return at, false
}

const (
	noName   = "%q is no name"
	unclosed = "a closing parenthesis is missing"
	unquoted = "the quote at %q is not closed"
	glued    = "a space is missing before %q"
	apartBy  = "a comma or a closing parenthesis is missing before %q"
	follows  = "%q follows it"
)

// maxShown is how much of a line a message shows, in bytes.
const maxShown = 60

func shorten(b []byte) string {
	if len(b) <= maxShown {
		return string(b)
	}
	n := maxShown
	for n > maxShown-utf8.UTFMax && !utf8.RuneStart(b[n]) {
		n--
	}
	return string(b[:n]) + "…"
}
