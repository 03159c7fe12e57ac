package planbench

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// hand writes down changes to a plan, each of which goes wrong as steps do.
type hand struct {
	q     *question
	model Model
	meant []string
	r     *rand.Rand
}

// do makes one change. One that goes wrong leaves the plan as it is, or puts
// down a wrong step.
func (h hand) do(plan []string, e edit) []string {
	out := slices.Clone(plan)
	switch e.kind {
	case putIn, replace:
		s := h.q.slip(e.step, h.model.Error, true, h.r)
		written := write([]string{e.step}, []slip{s})
		if s.kind == dropped && e.kind == replace {
			return out
		}
		end := e.at
		if e.kind == replace {
			end++
		}
		return slices.Replace(out, e.at, end, written...)
	case takeOut:
		if h.right() {
			return slices.Delete(out, e.at, e.at+1)
		}
	case swap:
		if h.right() {
			out[e.at], out[e.at+1] = out[e.at+1], out[e.at]
		}
	}
	return out
}

func (h hand) right() bool { return h.r.Float64() >= h.model.Error }

// mend changes the last plan as its critique says, towards the plan that is
// meant; false where the critique names nothing that could be changed.
func (h hand) mend() ([]string, bool) {
	if plan, ok := h.advised(); ok {
		return plan, true
	}
	if plan, ok := h.without(); ok {
		return plan, true
	}
	all := edits(h.q.last, h.meant)
	var chosen []edit
	for _, step := range h.q.named() {
		if e, ok := h.cause(all, step); ok && !slices.Contains(chosen, e) {
			chosen = append(chosen, e)
		}
	}
	if len(chosen) == 0 {
		return nil, false
	}
	slices.SortStableFunc(chosen, func(a, b edit) int { return b.at - a.at }) // from behind, so that places stay
	plan := h.q.last
	for _, e := range chosen {
		plan = h.do(plan, e)
	}
	return plan, true
}

var (
	failing = regexp.MustCompile(`^step (\d+): `)
	amiss   = regexp.MustCompile(`^goal not reached|^without these steps the goal is not reached`)
	cures   = regexp.MustCompile(`^ +would be (?:achieved|restored|mended) by (.*)$`)
	culprit = regexp.MustCompile(`^ .* since step (\d+): `)
)

// named returns the steps, from 0, that the critique says fail; the end of the
// plan for a goal that is not reached.
func (q *question) named() []int {
	var out []int
	for _, line := range q.critique {
		switch m := failing.FindStringSubmatch(line); {
		case m != nil:
			n, _ := strconv.Atoi(m[1])
			out = append(out, n-1)
		case amiss.MatchString(line):
			out = append(out, len(q.last))
		}
	}
	return out
}

// cause is the edit that a failing step is put down to: one that the critique's
// explanation names; else one at the step itself; else, with insight, the nearest
// before it. False where none is found.
func (h hand) cause(es []edit, step int) (edit, bool) {
	var nearest, explained edit
	for _, e := range es {
		if e.at > step {
			break
		}
		if nearest = e; h.q.explains(e) {
			explained = e
		}
	}
	insight := h.r.Float64() < h.model.Insight
	if explained.kind != keep {
		return explained, true
	}
	return nearest, nearest.kind != keep && (nearest.touches(step) || insight)
}

// explains tells whether the critique names the edit: the step that it puts in as
// a cure, or the one that it changes as what made a fact false.
func (q *question) explains(e edit) bool {
	for _, line := range q.critique {
		if m := culprit.FindStringSubmatch(line); m != nil && e.kind != putIn && e.touches(index(m[1])) {
			return true
		}
		if m := cures.FindStringSubmatch(line); m != nil && e.step != "" {
			helps := ", " + strings.ReplaceAll(m[1], " (applicable now)", "") + ", "
			if strings.Contains(helps, ", "+e.step+", ") {
				return true
			}
		}
	}
	return false
}

// without leaves out the steps that fail, where the critique says that this is
// all there is to do.
func (h hand) without() ([]string, bool) {
	n := len(h.q.critique)
	if n == 0 || h.q.critique[n-1] != "without these steps the plan reaches the goal" {
		return nil, false
	}
	plan := h.q.last
	steps := h.q.named()
	for i := len(steps) - 1; i >= 0; i-- {
		plan = h.do(plan, edit{takeOut, steps[i], ""})
	}
	return plan, true
}
