package main

import (
	"fmt"
	"io"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/world"
)

// matchedJSON tells how the series or items of an answer were shared out among
// the objects of a fluent.
type matchedJSON struct {
	Query   string        `json:"query"`
	Sort    string        `json:"sort"` // series, items
	Of      int           `json:"of"`
	Matched int           `json:"matched"`
	Labels  []labelJSON   `json:"labels,omitempty"`
	Ignored []ignoredJSON `json:"ignored,omitempty"` // the first ones
}

// labelJSON tells how many series have a label that names an object.
type labelJSON struct {
	Param string `json:"param"`
	Label string `json:"label"`
	Type  string `json:"type"`
	Found int    `json:"found"`
}

// ignoredJSON is a series or an item that is about nothing in the model.
type ignoredJSON struct {
	Text string `json:"text"`
	Why  string `json:"why"`
}

// matches returns a reading of each fluent whose answer was shared out among
// objects: what was matched is the same for all of its readings.
func matches(readings []world.Reading) []world.Reading {
	seen := map[*model.Fluent]bool{}
	var out []world.Reading
	for _, r := range readings {
		if r.Matched != nil && !seen[r.Atom.Fluent] {
			seen[r.Atom.Fluent] = true
			out = append(out, r)
		}
	}
	return out
}

func matchesJSON(readings []world.Reading) map[string]matchedJSON {
	out := map[string]matchedJSON{}
	for _, r := range matches(readings) {
		m := r.Matched
		j := matchedJSON{Query: r.Source.Query, Sort: m.Sort, Of: m.Of, Matched: m.To}
		for _, l := range m.Labels {
			j.Labels = append(j.Labels, labelJSON{l.Param, l.Name, l.Type, l.Found})
		}
		for _, s := range m.Ignored {
			j.Ignored = append(j.Ignored, ignoredJSON{s.Text, s.Why})
		}
		out[r.Atom.Fluent.Name] = j
	}
	return out
}

// writeMatches tells below the values what each answer matched.
func writeMatches(w io.Writer, readings []world.Reading) {
	p := newPaint(w)
	told := matches(readings)
	names := make([]string, len(told))
	for i, r := range told {
		names[i] = r.Atom.Fluent.Name
	}
	width := widest(40, names...)
	for i, r := range told {
		line := legible(r.Matched.String())
		if r.Matched.To == 0 {
			line = p.warn(line)
		}
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s  %s\n", pad(names[i], width), line)
	}
}
