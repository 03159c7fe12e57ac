package load

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model"
)

// collector gathers diagnostics. The same mistake found twice is told once.
type collector struct {
	all  hcl.Diagnostics
	seen map[string]bool
}

func (c *collector) add(d *hcl.Diagnostic) {
	d = reword(d)
	key := d.Summary + "\x00" + d.Detail
	if d.Subject != nil {
		key += fmt.Sprintf("\x00%s:%d:%d", d.Subject.Filename, d.Subject.Start.Byte, d.Subject.End.Byte)
	}
	if c.seen[key] {
		return
	}
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	c.seen[key] = true
	c.all = append(c.all, d)
}

func (c *collector) extend(ds hcl.Diagnostics) {
	for _, d := range ds {
		if !misspelt(d, ds) {
			c.add(d)
		}
	}
}

// sorted returns the diagnostics in the order of their places.
func (c *collector) sorted() hcl.Diagnostics {
	sort.SliceStable(c.all, func(i, j int) bool {
		a, b := c.all[i].Subject, c.all[j].Subject
		switch {
		case a == nil || b == nil:
			return a == nil && b != nil
		case a.Filename != b.Filename:
			return a.Filename < b.Filename
		}
		return a.Start.Byte < b.Start.Byte
	})
	return c.all
}

// errorAt reports a mistake. The detail says how to mend it.
func (ld *loader) errorAt(rng hcl.Range, summary, detail string, args ...any) {
	ld.report(hcl.DiagError, rng, summary, detail, args...)
}

// warnAt warns of what is likely not meant, unless parts of the model are
// missing: then it may well be there that it is mended.
func (ld *loader) warnAt(rng hcl.Range, summary, detail string, args ...any) {
	if ld.unparsed {
		return
	}
	ld.report(hcl.DiagWarning, rng, summary, detail, args...)
}

// doubt notes what is likely not meant and only the text shows; [Loaded.Doubts]
// tells it.
func (ld *loader) doubt(rng hcl.Range, summary, detail string, args ...any) {
	ld.l.noted = append(ld.l.noted, &hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: summary, Detail: fmt.Sprintf(detail, args...), Subject: rng.Ptr()})
}

func (ld *loader) report(sev hcl.DiagnosticSeverity, rng hcl.Range, summary, detail string, args ...any) {
	if len(args) > 0 {
		detail = fmt.Sprintf(detail, args...)
	}
	ld.diags.add(&hcl.Diagnostic{Severity: sev, Summary: summary, Detail: detail, Subject: rng.Ptr()})
}

// trouble reports that a file could not be read.
func (ld *loader) trouble(summary string, err error) {
	ld.diags.add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: err.Error() + ".", Extra: err})
}

// Trouble returns the failure to read a file among the diagnostics: not a
// mistake of the author's. It is nil where there is none.
func Trouble(diags hcl.Diagnostics) error {
	for _, d := range diags {
		if err, ok := d.Extra.(error); ok {
			return fmt.Errorf("%s: %w", d.Summary, err)
		}
	}
	return nil
}

var errNoFiles = errors.New(`there is no file that ends in .fettle.hcl; "fettle init" writes a first model`)

// near returns ` Did you mean "x"?` for the candidate that is most likely
// meant, or nothing. Among many candidates it looks a limited number of times,
// so that a file full of mistakes is not slow to report.
func (ld *loader) near(name string, candidates []string) string {
	if n := ld.nearest(name, candidates); n != "" {
		return fmt.Sprintf(" Did you mean %q?", n)
	}
	return ""
}

func (ld *loader) nearest(name string, candidates []string) string {
	if len(candidates) > 100 {
		if ld.patience--; ld.patience < 0 {
			return ""
		}
	}
	near := model.Nearest(name, candidates)
	for _, c := range candidates { // a letter left out is likelier than another
		if len(name) > 1 && len(c) == len(name)+1 && strings.HasPrefix(c, name) {
			return c
		}
	}
	return near
}

// Sort returns the diagnostics in the order of their places, each once.
func Sort(diags hcl.Diagnostics) hcl.Diagnostics {
	var c collector
	c.extend(diags)
	return c.sorted()
}
