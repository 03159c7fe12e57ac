package reply

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/validator"
)

// run is a sequence of lines of steps with no prose between them.
type run []int

// page is a reply as text.
type page struct {
	lines   []sorted
	blocks  []block
	wrapped bool
}

// written finds a plan as text: the first code fence that holds nothing but
// steps, else the steps between the prose before and the prose after them.
func written(raw []string, blocks []block) (Parsed, bool) {
	lines, wrapped := undress(raw)
	g := &page{sortLines(lines), blocks, wrapped}
	runs := g.fencedRuns()
	fromFence := len(runs) > 0
	if !fromFence {
		runs = g.runs()
	}
	if len(runs) == 0 {
		return Parsed{}, slices.ContainsFunc(lines, func(l line) bool { return l.empty })
	}
	p, at := g.choose(runs)
	if fromFence {
		p.Tolerated = append(p.Tolerated, "a code fence")
	} else if p.Unreadable == nil {
		p.Unreadable = g.after(runs, at)
	}
	if g.around(at) {
		p.Tolerated = append(p.Tolerated, "text around the plan")
	}
	if wrapped {
		p.Tolerated = append(p.Tolerated, "(plan …) around the steps")
	}
	return p, true
}

// fencedRuns returns the steps of each fence that holds nothing else.
func (g *page) fencedRuns() []run {
	var out []run
	anyStrong := g.anyStrong()
	for _, b := range g.blocks {
		var r run
		strong := false
		for i := b.from; i < b.to; i++ {
			switch s := &g.lines[i]; s.kind {
			case prose, suspect:
				r, strong, i = nil, false, b.to
			case step:
				r = append(r, i)
				strong = strong || s.strong()
			}
		}
		if len(r) > 0 && (strong || !anyStrong) {
			out = append(out, r)
		}
	}
	return out
}

func (g *page) anyStrong() bool {
	return slices.ContainsFunc(g.lines, func(s sorted) bool { return s.strong() })
}

// runs returns the sequences of steps of the whole text. Numbered ones that
// explanations interrupt are one. Where no step has more than a bare word, prose
// among them says that they are none.
func (g *page) runs() []run {
	var all []run
	var r run
	for i := range g.lines {
		switch g.lines[i].kind {
		case step, suspect:
			r = append(r, i)
		case prose, parting:
			all, r = append(all, r), nil
		}
	}
	all = append(all, r)
	pure := !slices.ContainsFunc(g.lines, func(s sorted) bool { return s.kind == prose || s.kind == suspect })
	strong := g.anyStrong()
	var out []run
	for _, r := range all {
		if len(r) == 0 || !strong && !pure && !slices.ContainsFunc(r, g.suspect) {
			continue
		}
		if n := len(out) - 1; n >= 0 && g.continues(out[n], r) {
			out[n] = append(out[n], r...)
			continue
		}
		out = append(out, r)
	}
	return out
}

func (g *page) suspect(i int) bool { return g.lines[i].kind == suspect }

// continues tells whether b's numbers go on where a's end, with nothing between
// them that could be a step.
func (g *page) continues(a, b run) bool {
	last := -1
	for k := len(a) - 1; k >= 0 && last < 0; k-- {
		last = g.lines[a[k]].number
	}
	if last < 0 || g.lines[b[0]].number != last+1 {
		return false
	}
	for i := a[len(a)-1] + 1; i < b[0]; i++ {
		if s := &g.lines[i]; s.kind == parting || strings.Contains(s.raw, "(") {
			return false
		}
	}
	return true
}

// choose returns the plan of the runs: the first, unless another with the same
// steps is easier to read. One that differs is a violation behind it.
func (g *page) choose(runs []run) (Parsed, run) {
	best := runs[0]
	var other run
	for _, r := range runs[1:] {
		switch {
		case !g.same(runs[0], r):
			other = r
		case g.blemishes(r) < g.blemishes(best):
			best = r
			continue
		default:
			continue
		}
		break
	}
	p := g.parsed(best)
	switch {
	case other != nil && p.Unreadable == nil:
		p.Unreadable = g.between(runs, other)
	case other == nil && len(runs) > 1:
		p.Tolerated = append(p.Tolerated, fmt.Sprintf("the plan is written %d times", len(runs)))
	}
	return p, best
}

// blemishes counts what was put up with in a run's lines.
func (g *page) blemishes(r run) int {
	n := 0
	for _, i := range r {
		if s := &g.lines[i]; s.tail != "" || s.kind == suspect {
			n++
		}
	}
	return n
}

func (g *page) same(a, b run) bool {
	return slices.EqualFunc(g.steps(a), g.steps(b), func(x, y model.Step) bool {
		return strings.EqualFold(x.Action, y.Action) && slices.EqualFunc(x.Args, y.Args, strings.EqualFold)
	})
}

func (g *page) steps(r run) []model.Step {
	var out []model.Step
	for _, i := range r {
		out = append(out, g.lines[i].steps...)
	}
	return out
}

// between is the violation of a second plan that differs: the first line of
// prose or the marker before it.
func (g *page) between(runs []run, other run) *validator.SyntaxError {
	k := slices.IndexFunc(runs, func(r run) bool { return r[0] == other[0] })
	for i := runs[k-1][len(runs[k-1])-1] + 1; i < other[0]; i++ {
		if s := &g.lines[i]; s.kind == prose || s.kind == parting {
			return complaint(i, s, "stands between steps and is none; write one whole plan, with nothing between its steps")
		}
	}
	return complaint(other[0], &g.lines[other[0]], "begins a second plan that differs from the first; write one whole plan")
}

func complaint(i int, s *sorted, what string) *validator.SyntaxError {
	return &validator.SyntaxError{Line: i + 1, Message: fmt.Sprintf("%q %s", model.Clip(s.raw), what)}
}

// parsed returns a run's steps, up to what cannot be read.
func (g *page) parsed(r run) Parsed {
	var p Parsed
	for k, i := range r {
		s := &g.lines[i]
		p.Steps = append(p.Steps, s.steps...)
		switch {
		case s.kind == suspect && s.err != nil:
			p.Unreadable = s.err
		case s.kind == suspect:
			p.Unreadable = complaint(i, s, "is not an action; write name(arg, …)")
		case s.loose():
			p.Unreadable = complaint(i, s, "is more than an action; write name(arg, …) and nothing behind it")
		}
		if p.Unreadable != nil {
			return p
		}
		if s.tail != "" || k > 0 && g.prosy(r[k-1]+1, i) {
			p.Tolerated = noted(p.Tolerated, "explanations of steps")
		}
	}
	return p
}

func (g *page) prosy(from, to int) bool {
	return slices.ContainsFunc(g.lines[from:to], func(s sorted) bool { return s.kind == prose })
}

// after returns the first line behind the plan that could be a step of it.
func (g *page) after(runs []run, chosen run) *validator.SyntaxError {
	last := runs[len(runs)-1]
	for i := max(last[len(last)-1], chosen[len(chosen)-1]) + 1; i < len(g.lines); i++ {
		s := &g.lines[i]
		switch {
		case s.kind != suspect:
		case s.err != nil:
			return s.err
		default:
			return complaint(i, s, "is not an action; write name(arg, …)")
		}
	}
	return nil
}

// around tells whether anything but the plan was said.
func (g *page) around(r run) bool {
	return g.prosy(0, r[0]) || g.prosy(r[len(r)-1]+1, len(g.lines))
}
