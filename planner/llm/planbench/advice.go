package planbench

import (
	"regexp"
	"slices"
	"strconv"
)

// The forms of advice that a critique may give.
var (
	repair        = regexp.MustCompile(`^  repair: (.*)$`)
	local         = regexp.MustCompile(`^  would mend step \d+, but not the whole plan: (.*)$`)
	adviseDelete  = regexp.MustCompile(`^delete step (\d+), `)
	adviseMove    = regexp.MustCompile(`^move step (\d+), .*, (before|after) step (\d+)$`)
	adviseInsert  = regexp.MustCompile(`^insert (.*) before step (\d+)$`)
	adviseAppend  = regexp.MustCompile(`^append (.*)$`)
	adviseReplace = regexp.MustCompile(`^replace step (\d+), .*, by (.*)$`)
)

// advised does what the critique says would mend the plan; false where it says
// nothing of that kind. Advice that mends no more than the failing step is
// followed where it leads towards the plan that is meant, or whoever follows it
// takes it literally.
func (h hand) advised() ([]string, bool) {
	for _, line := range h.q.critique {
		if m := repair.FindStringSubmatch(line); m != nil {
			return h.follow(m[1])
		}
		m := local.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		steady := hand{q: h.q, r: h.r}
		if plan, ok := steady.follow(m[1]); ok && (h.model.Literal || len(edits(plan, h.meant)) < len(edits(h.q.last, h.meant))) {
			return h.follow(m[1])
		}
	}
	return nil, false
}

// follow carries out a piece of advice.
func (h hand) follow(text string) ([]string, bool) {
	plan := h.q.last
	if m := adviseDelete.FindStringSubmatch(text); m != nil {
		return h.do(plan, edit{takeOut, index(m[1]), ""}), true
	}
	if m := adviseReplace.FindStringSubmatch(text); m != nil {
		return h.do(plan, edit{replace, index(m[1]), m[2]}), true
	}
	if m := adviseInsert.FindStringSubmatch(text); m != nil {
		return h.do(plan, edit{putIn, index(m[2]), m[1]}), true
	}
	if m := adviseAppend.FindStringSubmatch(text); m != nil {
		return h.do(plan, edit{putIn, len(plan), m[1]}), true
	}
	if m := adviseMove.FindStringSubmatch(text); m != nil {
		from, to := index(m[1]), index(m[3])
		if m[2] == "after" {
			to++
		}
		if h.right() {
			plan = moved(plan, from, to)
		}
		return plan, true
	}
	return nil, false
}

// index is a step's, which critiques count from 1.
func index(s string) int {
	n, _ := strconv.Atoi(s)
	return n - 1
}

// moved moves a step to before another, by their indices.
func moved(plan []string, from, to int) []string {
	out := slices.Insert(slices.Clone(plan), to, plan[from])
	if from > to {
		from++
	}
	return slices.Delete(out, from, from+1)
}
