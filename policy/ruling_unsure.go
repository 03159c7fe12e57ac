package policy

import (
	"errors"
	"slices"

	"github.com/expr-lang/expr/ast"
)

// maxUnsure is how many effects of a step may be unsure for every case to be
// looked at: 3^5 at most, for one that may be unset or become either value.
const maxUnsure = 5

var errUnsure = errors.New("too many of the step's effects are not sure")

// inEachCase evaluates the condition of a rule in each case of what is unsure
// about a step: each of those atoms changes or does not, by itself. What is
// stricter counts. Where there are too many cases, all and none are looked at,
// and a condition that both leave unmet cannot be evaluated.
func (r *Rule) inEachCase(s map[string]any, f *Facts) (bool, error) {
	defer func() { s["adds"], s["deletes"] = f.Step.Adds, f.Step.Deletes }()
	strict := r.effect() != EffectAllow
	unsure := r.cond.bearing(f.Step.Unsure)
	cases := someCases(f.Step, unsure)
	if len(unsure) <= maxUnsure {
		cases = allCases(f.Step, unsure)
	}
	for _, c := range cases {
		s["adds"], s["deletes"] = c.adds, c.deletes
		if holds, err := r.cond.holds(s); err != nil || holds == strict {
			return holds, err
		}
	}
	if len(unsure) > maxUnsure {
		return false, errUnsure
	}
	return !strict, nil
}

// bearing are those of the atoms that matter to the condition: where it only asks
// whether this or that atom changes, those.
func (c *condition) bearing(unsure []string) []string {
	atoms, whole := map[string]bool{}, false
	var walk func(ast.Node)
	walk = func(n ast.Node) {
		b, ok := n.(*ast.BinaryNode)
		if name := nameOf(n); name == "adds" || name == "deletes" {
			whole = true
		} else if atom, fixed := asked(b); ok && fixed {
			atoms[atom] = true
			return
		}
		for _, k := range children(n) {
			walk(*k)
		}
	}
	walk(c.tree)
	if whole {
		return unsure
	}
	return slices.DeleteFunc(slices.Clone(unsure), func(a string) bool { return !atoms[a] })
}

// asked is the atom of which it is asked whether it changes: 'up(db)' in adds.
func asked(b *ast.BinaryNode) (atom string, ok bool) {
	if b == nil || b.Operator != "in" || nameOf(b.Right) != "adds" && nameOf(b.Right) != "deletes" {
		return "", false
	}
	return literal(b.Left)
}

// changes are the bool effects of a step in one case.
type changes struct{ adds, deletes []string }

// allCases are those that can be.
func allCases(s *StepFacts, unsure []string) []changes {
	cases := []changes{{without(s.Adds, unsure), without(s.Deletes, unsure)}}
	for _, atom := range unsure {
		for _, c := range cases[:len(cases):len(cases)] { // In which it does not change.
			if slices.Contains(s.Adds, atom) {
				cases = append(cases, changes{with(c.adds, atom), c.deletes})
			}
			if slices.Contains(s.Deletes, atom) {
				cases = append(cases, changes{c.adds, with(c.deletes, atom)})
			}
		}
	}
	return cases
}

// someCases are those in which all that is unsure changes, or none, by adding and
// by deleting.
func someCases(s *StepFacts, unsure []string) []changes {
	var cases []changes
	for _, adds := range [][]string{s.Adds, without(s.Adds, unsure)} {
		for _, deletes := range [][]string{s.Deletes, without(s.Deletes, unsure)} {
			cases = append(cases, changes{adds, deletes})
		}
	}
	return cases
}

func with(atoms []string, atom string) []string {
	out := append(slices.Clone(atoms), atom)
	slices.Sort(out)
	return out
}

func without(atoms, left []string) []string {
	return slices.DeleteFunc(slices.Clone(atoms), func(a string) bool { return slices.Contains(left, a) })
}
