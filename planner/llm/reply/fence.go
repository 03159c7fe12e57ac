package reply

import "strings"

// block is what stands in a code fence: lines from..to-1, counted from 0.
type block struct{ from, to int }

// maxBlocks is how many code fences are looked into.
const maxBlocks = 256

// fenceOf returns the characters of a line that opens or closes a fence, and
// whether a language's name follows them.
func fenceOf(line string) (mark string, named bool) {
	line = strings.TrimSpace(strings.TrimLeft(line, "> "))
	if !strings.HasPrefix(line, "```") && !strings.HasPrefix(line, "~~~") {
		return "", false
	}
	rest := strings.TrimLeft(line, line[:1])
	if strings.Contains(rest, "`") { // All of it stands in this line.
		return "", false
	}
	return line[:len(line)-len(rest)], strings.TrimSpace(rest) != ""
}

// fenced returns the innermost blocks that have anything in them. Where a fence
// that names its language opens within another, that is a nested one.
func fenced(lines []string) []block {
	var out []block
	var open []string
	from := 0
	end := func(to int) {
		if len(open) > 0 && strings.TrimSpace(strings.Join(lines[from:to], "")) != "" && len(out) < maxBlocks {
			out = append(out, block{from, to})
		}
	}
	for i, line := range lines {
		mark, named := fenceOf(line)
		if mark == "" {
			continue
		}
		end(i)
		from = i + 1
		if top := len(open) - 1; top >= 0 && !named && mark[0] == open[top][0] && len(mark) >= len(open[top]) {
			open = open[:top]
		} else {
			open = append(open, mark)
		}
	}
	end(len(lines))
	return out
}
