package prompt

import (
	"fmt"
	"math"
)

// bytesPerToken is what a token is taken to stand for at least.
const bytesPerToken = 3

// Tokens estimates how many tokens a text takes: a third of its bytes. Common
// tokenizers make a token of four bytes of English and of about three of code
// and JSON. It is no bound: that of a tokenizer that works on bytes is a token a
// byte, which only text in rare scripts and random characters come near.
func Tokens(s string) int { return (len(s) + bytesPerToken - 1) / bytesPerToken }

// SizeError says that a question does not fit though all that may be left out
// was.
type SizeError struct {
	Tokens int // that it takes at the least
	Limit  int
}

// Error says by how much it does not fit.
func (e *SizeError) Error() string {
	return fmt.Sprintf("the question does not fit: the rules, the goal, the actions and the last critique take about %d tokens, context_tokens is %d; give it at least %d more", e.Tokens, e.Limit, e.Tokens-e.Limit)
}

// size says how much of each part is shown.
type size struct {
	example, labels, before bool
	lessons, digests        int
	objects                 objectList
	depth                   int // of facts, from the goal
	near                    int // steps of the last plan
}

// objectList says which objects are listed.
type objectList uint8

const (
	allObjects objectList = iota
	relevantObjects
	fewObjects
)

// whole is the size with nothing left out.
func (r *renderer) whole() size {
	return size{true, true, true, len(r.Lessons), maxDigests, allObjects, math.MaxInt, maxSteps}
}

// cut makes a question smaller and says by what; "" where there is nothing to
// be left out.
type cut func() string

// cuts are the ways to make a question smaller, in order.
func (r *renderer) cuts() []cut {
	s := &r.size
	cuts := []cut{
		func() string { return drop(&s.lessons, 1, len(r.Lessons) > 1, "all lessons but the first") },
		func() string { return off(&s.example, r.Example != nil, "the worked example") },
		func() string { return r.fewer(relevantObjects, "objects that do not bear on the goal") },
		func() string { return drop(&s.digests, 0, len(r.tried) > 0, "plans tried before the last") },
	}
	for d := r.deepest(); d > 0; d-- {
		cuts = append(cuts, func() string {
			s.depth = d - 1
			return "facts that bear on the goal only from afar"
		})
	}
	return append(cuts,
		func() string { return r.fewer(fewObjects, fmt.Sprintf("all but %d objects of each type", maxFew)) },
		func() string { return off(&s.labels, len(r.Labels) > 0, "the labels") },
		func() string {
			return drop(&s.near, nearSteps, r.last != nil && len(r.last.Steps) > nearSteps, "steps of the last plan far from its violation")
		},
		func() string {
			return off(&s.before, r.last != nil && r.before() != "", "the state before the violation of the last plan")
		},
		func() string { return drop(&s.lessons, 0, len(r.Lessons) > 0, "the lessons") },
		func() string { return drop(&s.depth, -1, true, "the state") },
	)
}

// drop lowers a number where there is anything to be left out.
func drop(n *int, to int, any bool, what string) string {
	if !any {
		return ""
	}
	*n = to
	return what
}

func off(on *bool, any bool, what string) string {
	*on = false
	if !any {
		return ""
	}
	return what
}

func (r *renderer) fewer(l objectList, what string) string {
	before := r.objects()
	if r.size.objects = l; r.objects() == before {
		return ""
	}
	return what
}

// deepest is how far from the goal the farthest fact is.
func (r *renderer) deepest() int {
	d := 0
	for f := range r.relevant.facts {
		d = max(d, r.relevant.depth(f))
	}
	return d
}

// fit renders the question, smaller and smaller until it fits.
func (r *renderer) fit() (Prompt, error) {
	var leftOut []string
	p, err := r.render(leftOut)
	for _, c := range r.cuts() {
		if err != nil || r.ContextTokens <= 0 || p.Tokens <= r.ContextTokens {
			return p, err
		}
		what := c()
		if what == "" {
			continue
		}
		if n := len(leftOut); n == 0 || leftOut[n-1] != what {
			leftOut = append(leftOut, what)
		}
		p, err = r.render(leftOut)
	}
	if err == nil && r.ContextTokens > 0 && p.Tokens > r.ContextTokens {
		return Prompt{}, &SizeError{p.Tokens, r.ContextTokens}
	}
	return p, err
}
