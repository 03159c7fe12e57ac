package world

import (
	"fmt"
	"strings"
)

// mark is the label by which one answer's values and times are told apart.
const mark = "__fettle__"

// timed returns a query that answers a selector's values together with the
// times at which they were sampled. Both halves are evaluated at one moment
// over one view of the data, so a time never belongs to a newer sample than
// the value: with two queries it could.
func timed(selector string) string {
	return fmt.Sprintf(`label_replace(%s, %q, "value", "", "") or label_replace(timestamp(%s), %q, "time", "", "")`, selector, mark, selector, mark)
}

// isSelector tells whether a query is a plain selector: a metric's name, label
// matchers in braces, or both, and nothing else.
func isSelector(query string) bool {
	rest := strings.TrimSpace(query)
	name := len(rest) - len(strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:"))
	switch {
	case name > 0 && rest[0] >= '0' && rest[0] <= '9':
		return false
	case strings.EqualFold(rest[:name], "inf"), strings.EqualFold(rest[:name], "nan"):
		return false // numbers
	}
	rest = strings.TrimSpace(rest[name:])
	if rest == "" {
		return name > 0
	}
	return rest[0] == '{' && matchersEnd(rest) == len(rest)
}

// matchersEnd returns where the braces that a text begins with are closed, 0
// where they are not.
func matchersEnd(s string) int {
	var quote byte
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0 && c == '\\' && quote != '`':
			i++
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
		case c == '"', c == '\'', c == '`':
			quote = c
		case c == '#', c == '{':
			return 0
		case c == '}':
			return i + 1
		}
	}
	return 0
}
