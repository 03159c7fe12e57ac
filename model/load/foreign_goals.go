package load

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/fettleops/fettle/model"
)

// named reports a name that no block of a kind has, and tells whether one has.
func (ld *loader) named(kind, name string, rng hcl.Range) bool {
	var all []string
	for _, b := range ld.blocks[kind] {
		all = append(all, b.Labels[0])
	}
	if slices.Contains(all, name) {
		return true
	}
	ld.errorAt(rng, fmt.Sprintf("Unknown %s %q", kind, name), "There is no %s %q.%s", kind, name, ld.near(name, all))
	return false
}

func isStateName(ld *loader, attrs hcl.Attributes, name string) {
	if v, ok := ld.value(attrs[name], cty.String, "the name of a state"); ok {
		ld.named("state", v.AsString(), attrs[name].Expr.Range())
	}
}

func isGoalName(ld *loader, attrs hcl.Attributes, name string) {
	if v, ok := ld.value(attrs[name], cty.String, "the name of a goal"); ok {
		ld.named("goal", v.AsString(), attrs[name].Expr.Range())
	}
}

// isGoal checks a goal with its arguments, as in restored(api).
func isGoal(ld *loader, attrs hcl.Attributes, name string) {
	v, ok := ld.value(attrs[name], cty.String, "a goal")
	if !ok {
		return
	}
	rng := attrs[name].Expr.Range()
	goal, args, err := model.ParseAtom(v.AsString())
	switch {
	case err != nil:
		ld.errorAt(rng, "Not a goal", "%s. Write a goal's name, or name(arg, …) where it has parameters.", capital(err.Error()))
	case ld.named("goal", goal, rng):
		ld.goalObjects(goal, args, rng)
	}
}

func (ld *loader) goalObjects(goal string, args []string, rng hcl.Range) {
	g := ld.m.Goal(goal)
	switch {
	case g == nil: // faulty, and told so
	case len(args) != len(g.Params):
		ld.errorAt(rng, fmt.Sprintf("Wrong number of arguments for %q", goal), "%s takes %s, got %d.", goal, takes(g.Params), len(args))
	default:
		for i, p := range g.Params {
			if _, ok := ld.find(p.Type, cty.NormalizeString(args[i])); !ok {
				ld.errorAt(rng, fmt.Sprintf("Unknown object %q", args[i]), "%s", ld.noObject(p.Type, args[i]))
			}
		}
	}
}

// argumentsOf checks what a trigger gives its goal: strings, made of the maps
// of strings that stand in scope.
func argumentsOf(maps ...string) check {
	return func(ld *loader, attrs hcl.Attributes, name string) {
		ctx := ld.l.Eval.NewChild()
		ctx.Variables = map[string]cty.Value{}
		for _, m := range maps {
			ctx.Variables[m] = cty.UnknownVal(cty.Map(cty.String)).RefineNotNull()
		}
		e := attrs[name].Expr
		v, diags := e.Value(ctx)
		ld.diags.extend(diags)
		if diags.HasErrors() {
			return
		}
		if c, err := convert.Convert(v, cty.Map(cty.String)); err != nil || c.IsNull() {
			ld.errorAt(e.Range(), "Wrong type", `%s takes a map of strings, as in { s = "api" }.`, name)
		}
	}
}

// argumentsFit holds a trigger's params to its goal's. Where they are fixed
// they are objects as well.
func argumentsFit(fixed bool) func(*loader, hcl.Attributes, hcl.Range) {
	return func(ld *loader, attrs hcl.Attributes, rng hcl.Range) {
		if attrs["goal"] == nil {
			return
		}
		v, diags := attrs["goal"].Expr.Value(ld.l.Eval)
		if diags.HasErrors() || v.Type() != cty.String || v.IsNull() || !v.IsKnown() {
			return
		}
		g := ld.m.Goal(v.AsString())
		if g == nil {
			return
		}
		seen := map[string]bool{}
		if attr := attrs["params"]; attr != nil {
			pairs, diags := hcl.ExprMap(attr.Expr)
			if diags.HasErrors() {
				return // computed: told when it is used
			}
			for _, p := range pairs {
				if name, ok := ld.key(p.Key); ok {
					seen[name] = true
					ld.argumentFits(g, name, p, fixed)
				}
			}
		}
		for _, p := range g.Params {
			if !seen[p.Name] {
				ld.errorAt(rng, "Missing parameter", "The goal %q has the parameter %q; say in params what it is.", g.Name, p.Name)
			}
		}
	}
}

func (ld *loader) argumentFits(g *model.Goal, name string, pair hcl.KeyValuePair, fixed bool) {
	var names []string
	for _, p := range g.Params {
		names = append(names, p.Name)
		if p.Name != name || !fixed {
			continue
		}
		v, diags := pair.Value.Value(ld.l.Eval)
		if diags.HasErrors() || v.Type() != cty.String || v.IsNull() || !v.IsKnown() {
			return
		}
		if _, ok := ld.find(p.Type, v.AsString()); !ok {
			ld.errorAt(pair.Value.Range(), fmt.Sprintf("Unknown object %q", v.AsString()), "%s", ld.noObject(p.Type, v.AsString()))
		}
	}
	if !slices.Contains(names, name) {
		ld.errorAt(pair.Key.Range(), fmt.Sprintf("Unknown parameter %q", name), "The goal %q has no parameter %q.%s", g.Name, name, ld.near(name, names))
	}
}

// isCron checks the five fields of a crontab.
func isCron(ld *loader, attrs hcl.Attributes, name string) {
	v, ok := ld.value(attrs[name], cty.String, "a time")
	if !ok {
		return
	}
	if err := cron(v.AsString()); err != nil {
		ld.errorAt(attrs[name].Expr.Range(), "Invalid cron", `%s takes minute, hour, day of month, month and day of week, as in "30 2 * * 1-5": %s.`, name, err)
	}
}
