package model

import "strings"

// maxMisspelt is the length in bytes above which no name is taken for a
// misspelt one.
const maxMisspelt = 200

// Nearest returns the candidate that a misspelt name most likely meant, or ""
// where none is near: at most a third of its letters differ, at most four and
// not all; two neighbours exchanged are one difference.
func Nearest(name string, candidates []string) string {
	if len(name) > maxMisspelt {
		return ""
	}
	best, limit := "", min(4, max(1, len(name)/3), len(name)-1)+1
	var d edits
	lower := strings.ToLower(name)
	for _, c := range candidates {
		if n := len(c) - len(name); n >= limit || -n >= limit || c == name {
			continue
		}
		if n := d.between(lower, strings.ToLower(c)); n < limit {
			best, limit = c, n
		}
	}
	return best
}

// nearestAction returns the action that a name most likely meant: one that is
// near as [Nearest] says, or else one that begins with the same two letters,
// ends with the same one and has at least half of the name's letters in their
// order, as "restart" has those of "reboot"; of several the one that has most. Who proposes a plan knows what an action does
// before knowing what it is called.
func nearestAction(name string, actions []string) string {
	if near := Nearest(name, actions); near != "" || len(name) < minAlike || len(name) > maxMisspelt {
		return near
	}
	best, most := "", (len(name)+1)/2-1
	lower := strings.ToLower(name)
	for _, a := range actions {
		c := strings.ToLower(a)
		if d := len(c) - len(lower); d > 2 || d < -2 || c[:2] != lower[:2] || c[len(c)-1] != lower[len(lower)-1] {
			continue
		}
		if n := Common(lower, c); n > most {
			best, most = a, n
		}
	}
	return best
}

// minAlike is the length in bytes below which a name is too short to be alike
// to another that is not near.
const minAlike = 5

// Common is the length in bytes of the longest common subsequence. It takes
// time in proportion to the product of the lengths.
func Common(a, b string) int {
	row := make([]int, len(b)+1)
	for i := range len(a) {
		diagonal := 0
		for j := range len(b) {
			above := row[j+1]
			if a[i] == b[j] {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return row[len(b)]
}

// edits holds three rows of the table of optimal string alignment (Damerau 1964).
type edits struct{ before, last, row []int }

// between returns how many insertions, deletions, replacements and exchanges
// of neighbours turn a into b.
func (d *edits) between(a, b string) int {
	for len(d.row) <= len(b) {
		d.before, d.last, d.row = append(d.before, 0), append(d.last, 0), append(d.row, 0)
	}
	for j := range len(b) + 1 {
		d.row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		d.before, d.last, d.row = d.last, d.row, d.before
		d.row[0] = i
		for j := 1; j <= len(b); j++ {
			same := 1
			if a[i-1] == b[j-1] {
				same = 0
			}
			n := min(d.last[j]+1, d.row[j-1]+1, d.last[j-1]+same)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				n = min(n, d.before[j-2]+1)
			}
			d.row[j] = n
		}
	}
	return d.row[len(b)]
}
