package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// text is a gate on one line, for a person.
func (g gate) text(now time.Time) string {
	s := strings.ReplaceAll(g.Gate, "_", " ")
	if g.Since != nil {
		s += fmt.Sprintf(" since %s (%s)", clock(*g.Since, now), lasted(now.Sub(*g.Since)))
	}
	if g.Until != nil {
		s += ", until " + clock(*g.Until, now)
	}
	return plain(s + ": " + g.What)
}

// clock writes a time as short as the day allows.
func clock(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format(time.TimeOnly)
	}
	return t.Format(time.DateTime)
}

// lasted writes how long something has gone on.
func lasted(d time.Duration) string {
	switch d = max(0, d); {
	case d < 2*time.Hour:
		return ago(d.Seconds())
	case d < 48*time.Hour:
		return fmt.Sprintf("%.0f h", d.Hours())
	}
	return fmt.Sprintf("%.0f days", d.Hours()/24)
}

// tellGates writes the gates of a run below it.
func tellGates(w io.Writer, gates []gate, now time.Time, by string) {
	for _, g := range gates {
		fmt.Fprintln(w, wrap(by+g.text(now), columns(w)))
		for _, c := range g.Next {
			fmt.Fprintln(w, by+"    "+plain(c))
		}
	}
}
