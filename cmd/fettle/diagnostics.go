package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcled"

	"github.com/fettleops/fettle/model/load"
)

// maxSourceLine is the number of characters of a source line that are shown.
const maxSourceLine = 160

// printDiagnostics writes diagnostics to stderr.
func (a *app) printDiagnostics(l *load.Loaded, diags hcl.Diagnostics) {
	writeDiagnostics(a.err, newPaint(a.err), l, diags)
}

// writeDiagnostics writes each diagnostic with its place and its source line.
func writeDiagnostics(w io.Writer, p paint, l *load.Loaded, diags hcl.Diagnostics) {
	b := bufio.NewWriter(w)
	defer b.Flush()
	for i, d := range diags {
		if i > 0 {
			fmt.Fprintln(b)
		}
		label := p.with("1;31", "Error:")
		if d.Severity == hcl.DiagWarning {
			label = p.with("1;33", "Warning:")
		}
		fmt.Fprintf(b, "%s %s\n\n", label, p.bold(plain(d.Summary)))
		if d.Subject != nil {
			writePlace(b, p, l, *d.Subject)
		}
		for _, line := range strings.Split(strings.TrimRight(d.Detail, "\n"), "\n") {
			fmt.Fprintln(b, strings.TrimRight("  "+plain(line), " "))
		}
	}
}

func writePlace(w io.Writer, p paint, l *load.Loaded, rng hcl.Range) {
	fmt.Fprintf(w, "  on %s line %d", plain(rng.Filename), rng.Start.Line)
	src, ok := sourceOf(l, rng)
	if !ok {
		fmt.Fprintln(w, ":")
		return
	}
	if src.context != "" {
		fmt.Fprintf(w, ", in %s", plain(src.context))
	}
	fmt.Fprintln(w, ":")
	line, from, to := src.shown()
	number := fmt.Sprintf("%4d: ", rng.Start.Line)
	fmt.Fprintf(w, "%s%s\n", p.faint(number), plain(line))
	before, under := utf8.RuneCountInString(line[:from]), max(1, utf8.RuneCountInString(line[from:to]))
	fmt.Fprintf(w, "%s%s\n", strings.Repeat(" ", len(number)+before), p.bad(strings.Repeat("^", under)))
}

// source is what a file says at a place.
type source struct {
	context  string // the block around: action "drain"
	line     string // the first line of the place
	from, to int    // the place within it, in bytes
}

// sourceOf finds the first line of a range in the model's files.
func sourceOf(l *load.Loaded, rng hcl.Range) (source, bool) {
	if l == nil || l.Files[rng.Filename] == nil {
		return source{}, false
	}
	f := l.Files[rng.Filename]
	start, end := rng.Start.Byte, rng.End.Byte
	if start < 0 || start > len(f.Bytes) || end < start {
		return source{}, false
	}
	first := bytes.LastIndexByte(f.Bytes[:start], '\n') + 1
	last := len(f.Bytes)
	if i := bytes.IndexByte(f.Bytes[start:], '\n'); i >= 0 {
		last = start + i
	}
	s := source{line: strings.TrimSuffix(string(f.Bytes[first:last]), "\r")}
	s.from = min(start-first, len(s.line))
	s.to = max(s.from, min(end-first, len(s.line)))
	if f.Nav != nil {
		s.context = hcled.ContextString(f, start)
	}
	return s, true
}

// shown cuts a long line around the place.
func (s source) shown() (line string, from, to int) {
	if utf8.RuneCountInString(s.line) <= maxSourceLine {
		return s.line, s.from, s.to
	}
	start := s.from
	for n := 0; start > 0 && n < maxSourceLine/3; n++ {
		_, size := utf8.DecodeLastRuneInString(s.line[:start])
		start -= size
	}
	end := start
	for n := 0; end < len(s.line) && n < maxSourceLine; n++ {
		_, size := utf8.DecodeRuneInString(s.line[end:])
		end += size
	}
	line, from, to = s.line[start:end], s.from-start, min(s.to, end)-start
	if start > 0 {
		line, from, to = "… "+line, from+len("… "), to+len("… ")
	}
	if end < len(s.line) {
		line += " …"
	}
	return line, from, max(from, to)
}
