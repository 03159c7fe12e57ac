// Package docs holds the reference of the model language as data, so that the
// tests of the packages that read a model can hold its tables to the code. No
// program imports it.
package docs

import (
	_ "embed"
	"regexp"
	"strings"
)

//go:embed language.md
var language string

var (
	quoted = regexp.MustCompile("`([^`]+)`")
	word   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*`)
)

// Tables returns the names that the tables of the reference give, by what they
// belong to: `action`, `observe "http"`. A table headed with that in backquotes
// has a row for each name; one headed "of" has a row for each thing, and its
// names in the second column. Several tables and rows add up.
func Tables() map[string][]string {
	out := map[string][]string{}
	var head string
	for _, line := range strings.Split(language, "\n") {
		if !strings.HasPrefix(line, "| ") {
			head = ""
			continue
		}
		cells := strings.Split(line, " | ")
		if head == "" {
			head = cells[0]
			continue
		}
		of, names := head, cells[0]
		if head == "| of" {
			of, names = cells[0], strings.Join(cells[1:], " ")
		}
		for _, k := range spans(of) {
			for _, s := range spans(names) {
				if name := word.FindString(s); name != "" {
					out[k] = append(out[k], name)
				}
			}
		}
	}
	return out
}

// spans returns what stands between backquotes.
func spans(cell string) []string {
	var out []string
	for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
		out = append(out, m[1])
	}
	return out
}
