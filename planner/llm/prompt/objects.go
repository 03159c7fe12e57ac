package prompt

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/fettleops/fettle/model"
)

// objects lists the objects of every declared type: numbered ones as ranges, a
// type's own where its subtypes list the others.
func (r *renderer) objects() string {
	var lines []string
	for _, t := range r.u.Types {
		if t.Enum {
			continue
		}
		subtypes, below := r.below(t)
		var names []string
		left := 0
		for _, o := range r.u.Objects(t) {
			switch {
			case below[o]:
			case r.size.objects != allObjects && !r.bearing[member{t.Root(), o}],
				r.size.objects == fewObjects && len(names) == maxFew:
				left++
			default:
				names = append(names, r.u.Name(t, o))
			}
		}
		if len(names) == 0 && len(subtypes) == 0 && left > 0 && r.size.objects == relevantObjects {
			continue
		}
		pairs := []string{"type", quote(t.Name), "objects", list(r.ranges(names))}
		if len(subtypes) > 0 {
			pairs = append(pairs, "and_those_of", list(subtypes))
		}
		if left > 0 {
			pairs = append(pairs, "not_listed", fmt.Sprint(left))
		}
		if r.u.Open(t) {
			pairs = append(pairs, "there_may_be_more", "true")
		}
		lines = append(lines, object(pairs...))
	}
	return data("objects", lines)
}

// maxFew is how many objects of a type are named where there is little room.
const maxFew = 40

// below returns the names of t's direct subtypes and the objects that these have.
func (r *renderer) below(t *model.Type) (names []string, has map[int32]bool) {
	has = map[int32]bool{}
	for _, s := range r.u.Types {
		if s.Parent != t {
			continue
		}
		names = append(names, quote(s.Name))
		for _, o := range r.u.Objects(s) {
			has[o] = true
		}
	}
	return names, has
}

// member is an object of a hierarchy of types.
type member struct {
	root *model.Type
	o    int32
}

// named finds the objects that facts and actions which bear on the goal name.
func (r *renderer) named() map[member]bool {
	out := map[member]bool{}
	whole := map[*model.Type]bool{}
	add := func(params []model.Param, patterns []pattern) {
		for _, p := range patterns {
			for k, o := range p.args {
				switch t := params[k].Type; {
				case o != anyObject:
					out[member{t.Root(), o}] = true
				case !whole[t]:
					whole[t] = true
					for _, o := range r.u.Objects(t) {
						out[member{t.Root(), o}] = true
					}
				}
			}
		}
	}
	for f, patterns := range r.relevant.facts {
		add(f.Params, patterns)
	}
	for a, patterns := range r.relevant.actions {
		add(a.Params, patterns)
	}
	return out
}

var numbered = regexp.MustCompile(`^(.*?)([0-9]{1,9})([^0-9]*)$`)

// minRange is how many objects numbered in turn are told as a range.
const minRange = 5

// ranges writes names as JSON, those that differ in a number which goes up by
// one as their first and last.
func (r *renderer) ranges(names []string) []string {
	var out []string
	for i := 0; i < len(names); {
		n := run(names[i:])
		if n >= minRange {
			out = append(out, object("from", r.text(names[i], maxName), "to", r.text(names[i+n-1], maxName)))
		} else {
			n = 1
			out = append(out, r.text(names[i], maxName))
		}
		i += n
	}
	return out
}

// run counts the names at the beginning that are numbered in turn.
func run(names []string) int {
	m := numbered.FindStringSubmatch(names[0])
	if m == nil {
		return 1
	}
	first, _ := strconv.Atoi(m[2])
	n := 1
	for n < len(names) && names[n] == m[1]+fmt.Sprintf("%0*d", len(m[2]), first+n)+m[3] {
		n++
	}
	return n
}
