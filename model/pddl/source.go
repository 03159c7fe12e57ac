package pddl

import (
	"bytes"
	"sort"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
)

// source is one file.
type source struct {
	name  string
	text  []byte
	lines []int // where lines start; made when a place is first asked for
}

// place returns the range between two offsets. Columns count characters.
func (s *source) place(from, to int) hcl.Range {
	return hcl.Range{Filename: s.name, Start: s.pos(from), End: s.pos(max(from, to))}
}

func (s *source) pos(at int) hcl.Pos {
	if s.lines == nil {
		s.lines = []int{0}
		for i := 0; ; i++ {
			n := bytes.IndexByte(s.text[i:], '\n')
			if n < 0 {
				break
			}
			i += n
			s.lines = append(s.lines, i+1)
		}
	}
	at = min(at, len(s.text))
	line := sort.SearchInts(s.lines, at+1)
	return hcl.Pos{Line: line, Column: 1 + utf8.RuneCount(s.text[s.lines[line-1]:at]), Byte: at}
}

// start is where the text begins, behind a byte order mark.
func (s *source) start() int {
	if bytes.HasPrefix(s.text, []byte("\ufeff")) {
		return len("\ufeff")
	}
	return 0
}
