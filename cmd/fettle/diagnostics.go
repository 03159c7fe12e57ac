package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/fettleops/fettle/model/load"
	"github.com/fettleops/fettle/world"
)

// maxSourceLine is the number of characters of a source line that are shown.
const maxSourceLine = 160

// maxPrinted is the number of diagnostics above which the rest is only counted:
// nobody reads them, and most follow from few causes.
const maxPrinted = 1000

// printDiagnostics writes diagnostics to stderr.
func (a *app) printDiagnostics(l *load.Loaded, diags hcl.Diagnostics) {
	writeDiagnostics(a.err, newPaint(a.err), l, diags)
}

// writeDiagnostics writes each diagnostic with its place and its source line.
func writeDiagnostics(w io.Writer, p paint, l *load.Loaded, diags hcl.Diagnostics) {
	b := bufio.NewWriter(w)
	defer b.Flush()
	diags = redacted(l, diags)
	for i, d := range diags {
		if i > 0 {
			fmt.Fprintln(b)
		}
		if i == maxPrinted {
			fmt.Fprintf(b, "… and %d more; mend these first.\n", len(diags)-i)
			return
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
	before, under := shownWidth(line[:from]), max(1, shownWidth(line[from:to]))
	fmt.Fprintf(w, "%s%s\n", strings.Repeat(" ", len(number)+before), p.bad(strings.Repeat("^", under)))
}

// redacted returns the diagnostics without the values of sensitive variables,
// which a message may cite.
func redacted(l *load.Loaded, diags hcl.Diagnostics) hcl.Diagnostics {
	if l == nil || len(l.Secrets) == 0 {
		return diags
	}
	var pairs []string
	for _, s := range world.Forms(l.Secrets) {
		pairs = append(pairs, s, "[redacted]")
	}
	r := strings.NewReplacer(pairs...)
	out := make(hcl.Diagnostics, len(diags))
	for i, d := range diags {
		c := *d
		c.Summary, c.Detail = r.Replace(d.Summary), r.Replace(d.Detail)
		out[i] = &c
	}
	return out
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
	if bytes.HasPrefix(f.Bytes[first:last], byteOrderMark) && first == 0 {
		first = min(len(byteOrderMark), start) // It has no width.
	}
	s := source{line: strings.TrimSuffix(string(f.Bytes[first:last]), "\r")}
	s.from = min(start-first, len(s.line))
	s.to = max(s.from, min(end-first, len(s.line)))
	s.context = around(f, start)
	return s, true
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// around names the outermost block that holds a place, as hcled.ContextString
// does, without going through every block of the file.
func around(f *hcl.File, at int) string {
	body, ok := f.Body.(*hclsyntax.Body)
	if !ok {
		return ""
	}
	i := sort.Search(len(body.Blocks), func(i int) bool { return body.Blocks[i].Range().End.Byte > at })
	if i == len(body.Blocks) || !body.Blocks[i].Range().ContainsOffset(at) {
		return ""
	}
	b := body.Blocks[i]
	name := b.Type
	for _, l := range b.Labels {
		name += fmt.Sprintf(" %q", l)
	}
	return name
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
