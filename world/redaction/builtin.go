package redaction

import (
	"regexp"
	"slices"
	"strings"
)

// hint is a built-in pattern and texts, in lower case, without one of which it
// cannot match: most texts have none, and are not looked at any closer.
type hint struct {
	*regexp.Regexp
	words []string
}

func (h hint) hinted(lower string) bool {
	return slices.ContainsFunc(h.words, func(w string) bool { return strings.Contains(lower, w) })
}

const (
	// secretNames end the names of what is secret, whatever it is.
	secretNames = `(?:passw(?:or)?d|passphrase|secret|api[_-]?key|secret[_-]?(?:access[_-]?)?key|private[_-]?key)`
	// tokenNames do so where it is no number: fences are called tokens, too.
	tokenNames = `token`
	// is stands between a name and its value. That of a comparison is none, see value.
	is = `\\*["']?\s*(?:=>|:=|[:=])\s*`
	// words are values that tell nothing, and marks, which stay.
	words  = `true|false|null|nil|none|unknown|unset|\(sensitive\)|\(redacted\)|\[redacted\]`
	number = `[0-9]{1,19}|`
	// ends is what a value that stays is followed by.
	ends = `(?:[\s"'\\&,;.)\]}]|$)`
	// value is what is secret: quoted within what is quoted itself, quoted, or up to a space.
	value = `\\+["']([^"'\\\n]*)|"((?:[^"\\\n]|\\.)*)|'((?:[^'\\\n]|\\.)*)|([^\s"'=>\\](?:[^\s"']*[^\s"'.,;:)\]}])?)`
	// argument is the same after a flag of a command.
	argument = `\\+["']([^"'\\\n]*)|"((?:[^"\\\n]|\\.)*)|'((?:[^'\\\n]|\\.)*)|([^\s"'=>\\-](?:[^\s"']*[^\s"'.,;:)\]}])?)`
)

func stays(what string) string { return `\\*["']?(?:` + what + `)` + ends }

// named finds a value by its name: password=…, "api_key": "…", --token ….
func named(names, kept string) []string {
	return []string{
		`(?i)` + names + is + `(?:` + stays(kept) + `|` + value + `)`,
		`(?i)(?:^|\s)--?[a-z0-9_-]*` + names + `\s+(?:` + stays(kept) + `|` + argument + `)`,
	}
}

// builtin are the patterns that hold for every model.
var builtin = hints()

func hints() (out []hint) {
	add := func(words []string, exprs ...string) {
		for _, e := range exprs {
			out = append(out, hint{regexp.MustCompile(e), words})
		}
	}
	add([]string{"passw", "passphrase", "secret", "api", "private"}, named(secretNames, words)...)
	add([]string{"token"}, named(tokenNames, number+words)...)
	add([]string{"authorization"}, `(?i)authorization`+is+`\\*["']?(?:bearer|basic)\s+(?:`+stays(words)+`|([^\s"'\\]+))`)
	add([]string{"://"}, `://[^\s/:@"']*:(?:xxxxx@|([^\s/"']+)@)`) // URLs are printed with xxxxx.
	add([]string{"private key"}, `(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----(.*?)(?:-----END|$)`)
	add([]string{"eyj"}, `\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*`)
	add([]string{"akia", "asia"}, `\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`)
	return out
}
