package load

import (
	"fmt"
	"strconv"
	"strings"
)

// cronFields are the fields of a crontab's time, with what they run over.
// Sunday is 0 and 7.
var cronFields = []struct {
	name        string
	least, most int
	words       string // three letters each, from the least on
}{
	{"minute", 0, 59, ""},
	{"hour", 0, 23, ""},
	{"day of month", 1, 31, ""},
	{"month", 1, 12, "janfebmaraprmayjunjulaugsepoctnovdec"},
	{"day of week", 0, 7, "sunmontuewedthufrisat"},
}

// cron checks the notation of crontab: in each field *, a number, a range
// 1-5, a list of them, each with a step as in */15.
func cron(s string) error {
	fields := strings.Fields(s)
	if len(fields) != len(cronFields) {
		return fmt.Errorf("%q has %d fields", s, len(fields))
	}
	for i, field := range fields {
		for _, part := range strings.Split(field, ",") {
			if !cronPart(i, part) {
				f := cronFields[i]
				return fmt.Errorf("%q is no %s, which goes from %d to %d", field, f.name, f.least, f.most)
			}
		}
	}
	return nil
}

func cronPart(field int, part string) bool {
	part, step, stepped := strings.Cut(part, "/")
	if n, err := strconv.Atoi(step); stepped && (err != nil || n < 1 || n > cronFields[field].most) {
		return false
	}
	if part == "*" {
		return true
	}
	first, last, isRange := strings.Cut(part, "-")
	from, ok := cronNumber(field, first)
	if !isRange {
		return ok
	}
	to, good := cronNumber(field, last)
	return ok && good && from <= to
}

func cronNumber(field int, s string) (int, bool) {
	f := cronFields[field]
	if i := strings.Index(f.words, strings.ToLower(s)); len(s) == 3 && i >= 0 && i%3 == 0 {
		return f.least + i/3, true
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= f.least && n <= f.most && s[0] != '+' && s[0] != '-'
}
