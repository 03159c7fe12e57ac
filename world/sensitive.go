package world

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/world/redaction"
)

const (
	// hiddenMark stands where a secret was.
	hiddenMark = "(sensitive)"
	// minHidden is the length in characters below which a secret, or the piece
	// that was left of one by cutting a text, stays: taking out every "no" would
	// spoil a text and protect nothing.
	minHidden = 4
	// minHiddenLine is the length in bytes from which a line of a secret of
	// several lines is a secret of its own.
	minHiddenLine = 8
)

// sensitive takes the values of the model's sensitive variables out of texts
// that are shown or recorded, in whatever form they usually come back, and what
// looks like a secret besides. The nil value has the built-in patterns alone.
type sensitive struct {
	forms    [256][]string // by their first byte, the longest first
	patterns redaction.Patterns
}

// newSensitive returns nil where no secret is long enough to be taken out, and
// the model has no patterns of its own.
func newSensitive(secrets []string, own redaction.Patterns) *sensitive {
	all := Forms(secrets)
	if len(all) == 0 && len(own) == 0 {
		return nil
	}
	s := &sensitive{patterns: own}
	for _, f := range all {
		s.forms[f[0]] = append(s.forms[f[0]], f)
	}
	return s
}

// Forms returns how secrets may be written, each once and the longest first.
// Texts that are too short to be taken out of anything are not among them.
func Forms(secrets []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, secret := range secrets {
		for _, f := range formsOf(secret) {
			if utf8.RuneCountInString(f) >= minHidden && !seen[f] {
				seen[f] = true
				out = append(out, f)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return len(b) - len(a) })
	return out
}

// Hide returns what takes secrets out of texts, in all their forms, and then what
// looks like one, by the built-in patterns and by those of the model.
func Hide(secrets []string, own redaction.Patterns) func(string) string {
	return newSensitive(secrets, own).text
}

// formsOf returns how a secret may be written: as it is, without the space
// around it, line by line, and each of these as JSON, as part of a URL, quoted,
// as one line, and within what is written in base64.
func formsOf(secret string) []string {
	texts := []string{secret}
	for line := range strings.Lines(secret) {
		if line = strings.TrimSpace(line); len(line) >= minHiddenLine {
			texts = append(texts, line)
		}
	}
	if t := strings.TrimSpace(secret); t != secret {
		texts = append(texts, t)
	}
	var out []string
	for _, t := range texts {
		plain, html := jsonText(t), asciiJSON([]string{t})
		marshalled, _ := json.Marshal(t) //nolint:errchkjson // A string has a JSON form, whatever it holds.
		inJSON := []string{t, plain, inner(string(marshalled)), html[2 : len(html)-2]}
		out = append(
			append(out, inJSON...), strings.ReplaceAll(plain, "/", `\/`),
			inner(strconv.Quote(t)), inner(strconv.QuoteToASCII(t)), strings.Trim(model.Quote(t), "'"),
			strings.Join(strings.Fields(printable(t)), " "),
		)
		query := url.QueryEscape(t)
		for _, u := range []string{query, strings.ReplaceAll(query, "+", "%20"), url.PathEscape(t), url.User(t).String()} {
			out = append(out, u, lowerEscapes(u))
		}
		for _, f := range inJSON {
			out = append(out, base64Forms(f)...)
		}
	}
	return out
}

// minBase64 is the length in bytes from which a secret is looked for in base64:
// of a shorter one too little is left to be told from chance.
const minBase64 = 6

// base64Forms returns what base64 makes of a text wherever it stands in a longer
// one: the characters that depend on nothing before and after it.
func base64Forms(t string) []string {
	if len(t) < minBase64 {
		return nil
	}
	const bits, perChar, places = 8, 6, 3
	var out []string
	for before := range places {
		padded := append(make([]byte, before), t...)
		from, to := (bits*before+perChar-1)/perChar, bits*len(padded)/perChar
		for _, alphabet := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			out = append(out, alphabet.EncodeToString(padded)[from:to])
		}
	}
	return out
}

func inner(quoted string) string { return quoted[1 : len(quoted)-1] }

// jsonText is the text within a JSON string, without escaping for HTML.
func jsonText(t string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(t) // a string has a JSON form, whatever it holds
	return inner(strings.TrimSuffix(b.String(), "\n"))
}

// lowerEscapes writes %2F as %2f, which is as good.
func lowerEscapes(u string) string {
	b := []byte(u)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:], bytes.ToLower(b[i+1:i+3]))
		}
	}
	return string(b)
}

// scan appends the text to dst with the mark in place of secrets. Unless it is
// the end, what may be the beginning of one is left over.
func (s *sensitive) scan(dst, text []byte, end bool) (out, rest []byte) {
	for len(text) > 0 {
		n := 0
		for _, f := range s.forms[text[0]] {
			if !end && len(f) > len(text) && f[:len(text)] == string(text) {
				return dst, text
			}
			if len(f) <= len(text) && f == string(text[:len(f)]) {
				n = len(f)
				break
			}
		}
		if n == 0 {
			dst, text = append(dst, text[0]), text[1:]
			continue
		}
		dst, text = append(dst, hiddenMark...), text[n:]
	}
	return dst, nil
}

// text takes the secrets out, also one of which clipping left the beginning, and
// what looks like one.
func (s *sensitive) text(t string) string {
	if s == nil {
		return redaction.Patterns(nil).Text(t)
	}
	return s.patterns.Text(s.known(t))
}

// output takes out of a whole output what looks like a secret. Those that are
// known went while it was written.
func (s *sensitive) output(b []byte) []byte {
	var own redaction.Patterns
	if s != nil {
		own = s.patterns
	}
	return []byte(own.Text(string(b)))
}

// known takes out the secrets that are known.
func (s *sensitive) known(t string) string {
	if t == "" {
		return t
	}
	b, _ := s.scan(nil, []byte(t), true)
	parts := strings.SplitAfter(string(b), "…")
	for i, p := range parts {
		cut, ok := strings.CutSuffix(p, "…")
		if !ok {
			continue
		}
		cut, quoted := strings.CutSuffix(cut, `"`)
		parts[i] = s.beginning(cut)
		if quoted {
			parts[i] += `"`
		}
		parts[i] += "…"
	}
	return strings.Join(parts, "")
}

// beginning takes out the beginning of a secret at the end of a text.
func (s *sensitive) beginning(t string) string {
	for i := range t {
		if utf8.RuneCountInString(t[i:]) < minHidden {
			break
		}
		for _, f := range s.forms[t[i]] {
			if strings.HasPrefix(f, t[i:]) {
				return t[:i] + hiddenMark
			}
		}
	}
	return t
}

// reading takes the secrets out of what a reading says, not out of its value.
func (s *sensitive) reading(r Reading) Reading {
	r.Err, r.Note, r.Source = s.text(r.Err), s.text(r.Note), r.Source.with(s.text)
	return r
}

// error takes the secrets out of an error's text. What it is stays known to
// errors.Is; of the types of errors, [*HigherFenceError] alone stays.
func (s *sensitive) error(err error) error {
	if err == nil {
		return nil
	}
	var higher *HigherFenceError
	if errors.As(err, &higher) {
		told := *higher
		told.Actuator = s.text(told.Actuator)
		return &told
	}
	if told := s.text(err.Error()); told != err.Error() {
		return &toldError{told, err}
	}
	return err
}

// toldError is an error with another text.
type toldError struct {
	text string
	err  error
}

func (e *toldError) Error() string { return e.text }

// Is tells what the error is, without giving out its text.
func (e *toldError) Is(target error) bool { return errors.Is(e.err, target) }
