package pddl_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model/pddl"
)

const tinyDomain = `(define (domain moves)
  (:requirements :strips)
  (:types place thing - object truck - thing)
  (:constants depot - place)
  (:predicates (at ?t - thing ?p - place) (road ?a ?b - place) (free))
  (:functions (distance ?a ?b - place) (total-cost))
  (:action move
    :parameters (?t - truck ?a ?b - place)
    :precondition (and (at ?t ?a) (road ?a ?b))
    :effect (and (not (at ?t ?a)) (at ?t ?b) (increase (total-cost) (distance ?a ?b)))))
`

const tinyProblem = `(define (problem one)
  (:domain moves)
  (:objects home - place red - truck)
  (:init (at red home) (road home depot)
    (= (distance home depot) 5) (= (total-cost) 0))
  (:goal (and (at red depot)))
  (:metric minimize (total-cost)))
`

// changed replaces the one place of old in a text.
func changed(t *testing.T, text, old, with string) string {
	t.Helper()
	if strings.Count(text, old) != 1 {
		t.Fatalf("%q stands %d times", old, strings.Count(text, old))
	}
	return strings.Replace(text, old, with, 1)
}

func parse(domain, problem string) (*pddl.Task, hcl.Diagnostics) {
	return pddl.Parse("d.pddl", []byte(domain), "p.pddl", []byte(problem))
}

// told writes diagnostics as a test expects them.
func told(diags hcl.Diagnostics) string {
	var b strings.Builder
	for _, d := range diags {
		fmt.Fprintf(&b, "%s:%d:%d-%d %s: %s\n", d.Subject.Filename, d.Subject.Start.Line, d.Subject.Start.Column, d.Subject.End.Column, d.Summary, d.Detail)
	}
	return b.String()
}

func TestMistakesAreToldWithTheirPlace(t *testing.T) {
	if _, diags := parse(tinyDomain, tinyProblem); len(diags) > 0 {
		t.Fatal(told(diags))
	}
	for _, c := range []struct{ name, old, with, want string }{
		{"predicate misspelt", "(and (at ?t ?a) (road", "(and (att ?t ?a) (road", `d.pddl:9:25-28 Unknown predicate "att": There is no predicate of that name. Did you mean "at"?`},
		{"arity", "(road ?a ?b))", "(road ?a))", `d.pddl:9:35-44 Wrong number of arguments for "road": road takes 2 arguments, as in (road ?a - place ?b - place); got 1.`},
		{"type of a variable", "(at ?t ?b) (inc", "(at ?a ?b) (inc", `d.pddl:10:39-41 Wrong type: ?a is a place, and this is for a thing: (at ?t - thing ?p - place).`},
		{"variable", "(road ?a ?b))\n", "(road ?a ?c))\n", `d.pddl:9:44-46 Unknown variable "?c": No parameter or quantifier around it has that name.`},
		{"type", "?t - truck ?a", "?t - trukc ?a", `d.pddl:8:23-28 Unknown type "trukc": There is no type of that name. Did you mean "truck"?`},
		{"function", "(increase (total-cost)", "(increase (total-costs)", `d.pddl:10:56-69 Unknown function "total-costs": There is no function of that name. Did you mean "total-cost"?`},
		{"section", "(:requirements :strips)", "(:predicate (p))", `d.pddl:2:4-14 Unknown section ":predicate": A section here is one of :requirements, :types, :constants, :predicates, :functions, :action, :derived. Did you mean ":predicates"?`},
		{"part", ":precondition (and", ":preconditions (and", `d.pddl:9:5-19 Unknown part ":preconditions": The parts are :parameters, :precondition, :effect. Did you mean ":precondition"?`},
		{"second action", "(:requirements :strips)", "(:action move)", `d.pddl:7:12-16 Second action "move": It is declared already.`},
		{"second predicate", "(free))", "(free) (road ?a))", `d.pddl:5:71-80 Second predicate "road": It is declared already, with 2 arguments.`},
		{"cycle of types", "truck - thing)", "truck - thing thing - truck)", `d.pddl:3:46-51 Cycle of types: The type "thing" is its own parent's parent.`},
		{"object", "(at red home)", "(at rde home)", `p.pddl:4:14-17 Unknown object "rde": There is no object or constant "rde". Did you mean "red"?`},
		{"type of an object", "(road home depot)", "(road red depot)", `p.pddl:4:30-33 Wrong type: red is a truck, and this is for a place: (road ?a - place ?b - place).`},
		{"arity of a fact", "(road home depot)", "(road home)", `p.pddl:4:24-35 Wrong number of arguments for "road": road takes 2 arguments, as in (road ?a - place ?b - place); got 1.`},
		{"no predicate of a fact", "(road home depot)", "(raod home depot)", `p.pddl:4:25-29 Unknown predicate "raod": There is no predicate of that name. Did you mean "road"?`},
		{"value", "(= (distance home depot) 5)", "(= (distance home depot) far)", `p.pddl:5:5-34 Not a value: distance is a number, as in (= (distance ?a - place ?b - place) 5).`},
		{"value twice", "(= (total-cost) 0)", "(= (distance home depot) 6)", `p.pddl:5:33-60 Given twice: The value is 5 already.`},
		{"type of objects", "home - place", "home - plaec", `p.pddl:3:20-25 Unknown type "plaec": There is no type of that name. Did you mean "place"?`},
		{"goal", "(and (at red depot))", "(at red depto)", `p.pddl:6:18-23 Unknown object "depto": There is no object or constant "depto". Did you mean "depot"?`},
		{"domain", "(:domain moves)", "(:domain move)", `p.pddl:2:12-16 Another domain: The problem is for the domain "move", and d.pddl defines "moves".`},
		{"metric", "(:metric minimize", "(:metric least", `p.pddl:7:12-17 Not a metric: least stands where minimize or maximize does.`},
		{"maximize", "(:metric minimize", "(:metric maximize", `p.pddl:7:12-20 Metric left out: Costs are minimised alone; every action costs 1.`},
		{"durative", "(:action move", "(:durative-action move", `d.pddl:7:4-20 Not supported: durative actions: This is beyond what fettle's actions can say.`},
		{"timed", "(at red home)", "(at 5 (at red home))", `p.pddl:4:10-30 Not supported: timed initial literals: This is beyond what fettle's actions can say.`},
		{"preference", "(and (at red depot))", "(preference p (at red depot))", `p.pddl:6:11-21 Not supported: preference: This is beyond what fettle's actions can say.`},
		{"constraints", "(:requirements :strips)", "(:constraints (always (free)))", `d.pddl:2:4-16 Not supported: constraints: This is beyond what fettle's actions can say.`},
		{"object fluents", "(total-cost))\n", "(total-cost) (place-of ?t - truck) - place)\n", `d.pddl:6:77-82 Not supported: object fluents: This is beyond what fettle's actions can say.`},
		{"recursion", "(:action move", "(:derived (road ?a ?b - place) (exists (?c - place) (and (road ?a ?c) (road ?c ?b)))) (:action move", `d.pddl:7:13-33 Not supported: recursive derived predicates: road → road: This is beyond what fettle's actions can say.
p.pddl:4:24-41 Derived predicate in a state: road follows from other facts; give those.`},
		{"effect on derived", "(:action move", "(:derived (at ?t - thing ?p - place) (free)) (:action move", `d.pddl:10:23-33 Effect on a derived predicate: at follows from other facts; change those.
d.pddl:10:35-45 Effect on a derived predicate: at follows from other facts; change those.
p.pddl:4:10-23 Derived predicate in a state: at follows from other facts; give those.`},
		{"unclosed", "(:goal (and (at red depot)))", "(:goal (and (at red depot))", `p.pddl:1:1-2 Unclosed parenthesis: The list that starts here is not closed before the file ends.`},
		{"unclosed section", "(:metric minimize (total-cost)))\n", "(:metric minimize (total-cost\n", `p.pddl:7:3-4 Unclosed parenthesis: The list that starts here is not closed before the file ends.`},
		{"closed early", "(at red home) (road", "(at red home)) (road", `p.pddl:4:26-30 Not a section: A section starts with a keyword, as in (:init …). An extra parenthesis before it may have closed the last one too early.`},
		{"when in a condition", "(and (at red depot))", "(when (free) (free))", `p.pddl:6:11-15 Unknown predicate "when": There is no predicate of that name.`},
		{"or in an effect", "(not (at ?t ?a)) (at ?t ?b)", "(or (at ?t ?a) (at ?t ?b))", `d.pddl:10:18-44 Not an effect: or stands in conditions alone.`},
		{"number where an object is", "(and (at red depot))", "(at red 5)", `p.pddl:6:18-19 Unknown object "5": There is no object or constant "5".`},
		{"variable in a state", "(at red home)", "(at red ?x)", `p.pddl:4:18-20 Unknown object "?x": There is no object or constant "?x".`},
		{"not with two", "(and (at red depot))", "(not (free) (free))", `p.pddl:6:10-29 Wrong number of arguments for "not": not takes 1 argument, got 2.`},
		{"two goals", "(and (at red depot))", "(at red depot) (free)", `p.pddl:6:4-9 Not one condition: A goal is one condition; join several with (and …).`},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, p := tinyDomain, tinyProblem
			if strings.Contains(d, c.old) {
				d = changed(t, d, c.old, c.with)
			} else {
				p = changed(t, p, c.old, c.with)
			}
			task, diags := parse(d, p)
			if got := strings.TrimSpace(told(diags)); got != c.want {
				t.Errorf("got\n%s\nexpected\n%s", got, c.want)
			}
			if diags.HasErrors() != (task.U == nil) {
				t.Errorf("errors %t, a universe %t", diags.HasErrors(), task.U != nil)
			}
		})
	}
}
