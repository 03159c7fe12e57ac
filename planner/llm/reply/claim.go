package reply

import (
	"regexp"
	"strings"
)

// none is how models say in prose that there is no plan.
var none = regexp.MustCompile(`(?i)^(?:answer: *)?(?:(?:there (?:is|exists)|i found) +)?(?:no (?:(?:valid|possible|feasible|such) )*(?:plan|solution)\b|(?:unsolvable|impossible)\b)`)

// claim reads a reply whose first words say that there is no plan, and which
// has no step.
func claim(lines []string) (Parsed, bool) {
	first := ""
	steps := 0
	for _, raw := range lines {
		l := dress(raw)
		if l.raw == "" || l.parts {
			continue
		}
		if first == "" {
			first = l.text
			continue
		}
		if called(l.text) {
			steps++
		}
	}
	words := strings.Trim(first, "*_`()[] ")
	if steps > 0 || !none.MatchString(words) {
		return Parsed{}, false
	}
	return Parsed{NoPlan: true, Reason: words, Tolerated: []string{"prose in place of \"no_plan\""}}, true
}
