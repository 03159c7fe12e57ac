package pddl_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// naive is a STRIPS interpreter that shares nothing with the code under test:
// facts are strings in a set. It judges where the reference did not.
type naive struct {
	actions map[string]naiveAction
	objects map[string]string // the type of each, "" where there are none
	facts   map[string]bool
	goal    []string
}

type naiveAction struct {
	params, types   []string
	pre, adds, dels []string
}

var naiveToken = regexp.MustCompile(`[()]|[^\s()]+`)

// nest reads tokens into nested lists of strings.
func nest(text string) []any {
	text = regexp.MustCompile(`;.*`).ReplaceAllString(strings.ToLower(text), "")
	stack := [][]any{nil}
	for _, t := range naiveToken.FindAllString(text, -1) {
		top := len(stack) - 1
		switch {
		case t == "(":
			stack = append(stack, []any{})
		case t == ")" && top > 0:
			stack[top-1] = append(stack[top-1], stack[top])
			stack = stack[:top]
		case t != ")":
			stack[top] = append(stack[top], t)
		}
	}
	return stack[0][0].([]any)
}

func flat(x any) string {
	var words []string
	for _, w := range x.([]any) {
		words = append(words, w.(string))
	}
	return strings.Join(words, " ")
}

// conjuncts returns the facts of a conjunction, negated ones apart.
func conjuncts(x any) (pos, neg []string) {
	l := x.([]any)
	switch {
	case len(l) == 0:
	case l[0] == "and":
		for _, k := range l[1:] {
			p, n := conjuncts(k)
			pos, neg = append(pos, p...), append(neg, n...)
		}
	case l[0] == "not":
		neg = append(neg, flat(l[1]))
	default:
		pos = append(pos, flat(l))
	}
	return pos, neg
}

// typed reads a typed list.
func typed(l []any) (names, types []string) {
	for i := 0; i < len(l); i++ {
		if l[i] == "-" {
			for len(types) < len(names) {
				types = append(types, l[i+1].(string))
			}
			i++
			continue
		}
		names = append(names, l[i].(string))
	}
	for len(types) < len(names) {
		types = append(types, "")
	}
	return names, types
}

func newNaive(domain, problem string) *naive {
	n := &naive{actions: map[string]naiveAction{}, objects: map[string]string{}, facts: map[string]bool{}}
	for _, s := range nest(domain)[2:] {
		l := s.([]any)
		if l[0] != ":action" {
			continue
		}
		var a naiveAction
		for i := 2; i+1 < len(l); i += 2 {
			switch l[i] {
			case ":parameters":
				a.params, a.types = typed(l[i+1].([]any))
			case ":precondition":
				a.pre, _ = conjuncts(l[i+1])
			case ":effect":
				a.adds, a.dels = conjuncts(l[i+1])
			}
		}
		n.actions[l[1].(string)] = a
	}
	for _, s := range nest(problem)[2:] {
		switch l := s.([]any); l[0] {
		case ":objects":
			names, types := typed(l[1:])
			for i := range names {
				n.objects[names[i]] = types[i]
			}
		case ":init":
			for _, f := range l[1:] {
				n.facts[flat(f)] = true
			}
		case ":goal":
			n.goal, _ = conjuncts(l[1])
		}
	}
	return n
}

var naiveStep = regexp.MustCompile(`^\(\s*([^()]*?)\s*\)$`)

// run simulates a plan of one action a line and returns where it first fails:
// a step, "goal", or "-".
func (n *naive) run(plan string) string {
	step := 0
	for _, line := range strings.Split(strings.ToLower(plan), "\n") {
		line, _, _ = strings.Cut(line, ";")
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "```") {
			continue
		}
		step++
		m := naiveStep.FindStringSubmatch(line)
		if m == nil || !n.apply(strings.Fields(strings.ReplaceAll(m[1], ",", " "))) {
			return strconv.Itoa(step)
		}
	}
	for _, g := range n.goal {
		if !n.facts[g] {
			return "goal"
		}
	}
	return "-"
}

func (n *naive) apply(words []string) bool {
	if len(words) == 0 {
		return false
	}
	a, ok := n.actions[words[0]]
	if !ok || len(words)-1 != len(a.params) {
		return false
	}
	bound := map[string]string{}
	for i, p := range a.params {
		kind, declared := n.objects[words[i+1]]
		if !declared || a.types[i] != "" && kind != a.types[i] {
			return false
		}
		bound[p] = words[i+1]
	}
	ground := func(fact string) string {
		ws := strings.Fields(fact)
		for i, w := range ws {
			if o, ok := bound[w]; ok {
				ws[i] = o
			}
		}
		return strings.Join(ws, " ")
	}
	if slices.ContainsFunc(a.pre, func(f string) bool { return !n.facts[ground(f)] }) {
		return false
	}
	for _, f := range a.dels {
		delete(n.facts, ground(f))
	}
	for _, f := range a.adds {
		n.facts[ground(f)] = true
	}
	return true
}
