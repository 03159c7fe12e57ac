package prompt

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fettleops/fettle/model"
)

// maxMissing is how many failing parts of one criterion are named.
const maxMissing = 20

// goal writes the goal's sentence and its conjuncts as acceptance criteria: in
// words, and as data how they stand now.
func (r *renderer) goal() string {
	var b strings.Builder
	for _, s := range sentence(r.Goal) {
		first, n := utf8.DecodeRuneInString(s)
		b.WriteString(string(unicode.ToUpper(first)) + s[n:] + "\n\n")
	}
	criteria := r.criteria()
	if len(criteria) == 0 {
		return b.String() + "There is no condition to be reached: every step of the plan must be possible."
	}
	b.WriteString("The goal is reached when all of these acceptance criteria hold after the last step:\n")
	for i, c := range criteria {
		fmt.Fprintf(&b, "%d. %s\n", i+1, c)
	}
	b.WriteString(data("goal", r.standing()))
	return b.String()
}

// criteria writes the conjuncts in words, with the goal's parameters by name.
func (r *renderer) criteria() []string {
	var params []model.Param
	if g := r.declared(); g != nil {
		params = g.Params
	}
	return clauses(newEnglish(r.u, params), r.Problem.Goal)
}

// declared returns the model's goal that the problem is about, or nil.
func (r *renderer) declared() *model.Goal {
	for _, g := range r.u.Goals {
		if g.Cond == r.Problem.Goal && g.Cond != nil {
			return g
		}
	}
	return nil
}

// standing writes the goal's parameters, then each conjunct as the model's
// language has it, whether it holds now, and what is missing.
func (r *renderer) standing() []string {
	var lines []string
	p := r.Problem
	if g := r.declared(); g != nil && len(g.Params) > 0 {
		var pairs []string
		for i, name := range r.u.Names(g.Params, p.GoalArgs) {
			pairs = append(pairs, g.Params[i].Name, r.text(name, maxName))
		}
		lines = append(lines, object("parameters", object(pairs...)))
	}
	n := 0
	for _, e := range p.Goal.Conjuncts {
		if e.Op == model.OpConst && e.Const.Tri() == model.True {
			continue
		}
		n++
		c := &model.Cond{Conjuncts: []*model.Expr{e}, Slots: p.Goal.Slots}
		env := make([]int32, max(c.Slots, len(p.GoalArgs)))
		copy(env, p.GoalArgs)
		condition := e.Text(r.u, env)
		pairs := []string{"criterion", fmt.Sprint(n), "condition", r.fact(condition), "holds_now", truth(c.Eval(p.Start, p.GoalArgs))}
		var missing []string
		failures := c.Explain(p.Start, p.GoalArgs)
		for i, f := range failures {
			if i == maxMissing {
				pairs = append(pairs, "more_missing", fmt.Sprint(len(failures)-i))
				break
			}
			if f.Text != condition {
				missing = append(missing, r.fact(f.Text))
			}
		}
		if len(missing) > 0 {
			pairs = append(pairs, "missing", list(missing))
		}
		lines = append(lines, object(pairs...))
	}
	return lines
}

// truth writes a truth value as JSON.
func truth(t model.Tri) string {
	if t == model.Unknown {
		return "null"
	}
	return t.String()
}
