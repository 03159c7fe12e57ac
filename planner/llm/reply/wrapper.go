package reply

import "strings"

// undress dresses off the lines of a text, with the (plan …) that may stand
// around its steps, and tells whether there was one.
func undress(raw []string) (lines []line, wrapped bool) {
	lines = make([]line, len(raw))
	open := 0
	for i, r := range raw {
		if mark, _ := fenceOf(r); mark != "" {
			open = 0
			lines[i] = line{number: -1}
			continue
		}
		l := dress(r)
		before := l.text
		for {
			rest, ok := unwrap(l.text)
			if !ok {
				break
			}
			l.text, wrapped = rest, true
			open++
		}
		if open > 0 {
			l.text = unclosing(l.text, &open)
		}
		l.wraps = l.text == "" && before != ""
		l.empty = l.text == "()"
		l.split()
		lines[i] = l
	}
	return lines, wrapped
}

// unwrap takes the start of a wrapper from a line: "(plan", "(:plan" or a bare
// parenthesis, before actions in parentheses, a comment, or nothing.
func unwrap(text string) (string, bool) {
	if !strings.HasPrefix(text, "(") {
		return text, false
	}
	const word = "plan"
	rest := strings.TrimPrefix(strings.TrimSpace(text[1:]), ":")
	if len(rest) >= len(word) && strings.EqualFold(rest[:len(word)], word) {
		rest = strings.TrimSpace(rest[len(word):])
	}
	if rest == "" || rest[0] == '(' || rest[0] == ';' {
		return rest, true
	}
	return text, false
}

// unclosing takes the parentheses from a line that close a wrapper.
func unclosing(text string, open *int) string {
	if strings.HasPrefix(text, ")") && strings.Trim(text, "() ") == "" {
		*open = 0
		return ""
	}
	for *open > 0 && balance(text) < 0 {
		i := strings.LastIndexByte(text, ')')
		text = strings.TrimSpace(text[:i] + text[i+1:])
		*open--
	}
	return text
}

// balance counts the parentheses of a line that open less those that close.
func balance(text string) int {
	n, _ := within(text)
	return n
}

// within counts the parentheses of a line that open less those that close,
// outside of quotes and comments, and tells whether it ends in a quote.
func within(text string) (open int, quoted bool) {
	var quote byte
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '(':
			open++
		case c == ')':
			open--
		case c == ';' || c == '#':
			return open, false
		}
	}
	return open, quote != 0
}
