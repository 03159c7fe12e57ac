package pddl_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/fettleops/fettle/model/pddl"
	"github.com/fettleops/fettle/validator"
)

// domain wraps sections; problem wraps objects, facts, a goal and more sections.
func domain(sections ...string) string {
	return "(define (domain d) " + strings.Join(sections, "\n") + ")"
}

func problem(objects, init, goal string, more ...string) string {
	return "(define (problem p) (:domain d) (:objects " + objects + ") (:init " + init + ") (:goal " + goal + ") " + strings.Join(more, " ") + ")"
}

// semanticCase is a small task with a verdict derived by hand from the
// definitions (Fox and Long 2003; Edelkamp and Hoffmann 2004).
type semanticCase struct {
	name, domain, problem, plan string
	step                        string // "-" where the plan is valid
	kind                        validator.Kind
	cost                        float64
}

var semanticCases = []semanticCase{
	{
		"an add cancels a delete of the same fact",
		domain("(:predicates (at ?x))", "(:action move :parameters (?a ?b) :precondition (at ?a) :effect (and (at ?b) (not (at ?a))))"),
		problem("a b", "(at a)", "(at a)"), "(move a a)", "-", "", 1,
	},
	{
		"a missing precondition holds, and so does an empty one",
		domain("(:predicates (p) (q))", "(:action one :effect (p)) (:action two :parameters () :precondition () :effect (q)) (:action three :effect ())"),
		problem("", "", "(and (p) (q))"), "(one)(two)(three)", "-", "", 3,
	},
	{
		"an empty goal is reached",
		domain("(:predicates (p))"), problem("", "", "(and)"), "", "-", "", 0,
	},
	{
		"names may begin with a digit, be words of expr, and equal each other",
		domain("(:types in count)", "(:predicates (in ?x - in) (4u ?x - in) (count ?c - count))",
			"(:action in :parameters (?in - in ?count - count) :precondition (4u ?in) :effect (and (in ?in) (count ?count)))"),
		problem("in 1st - in count not - count", "(4u 1st)", "(and (in 1st) (count not))"), "(in 1st not)", "-", "", 1,
	},
	{
		"case does not matter, nor does a space before a question mark",
		domain("(:PREDICATES (At ?X))", "(:Action MOVE :Parameters (?A ?b) :precondition (at?a) :EFFECT (AND (aT?B) (NOT (at ?a))))"),
		problem("A b", "(AT a)", "(At B)"), "(Move a B)", "-", "", 1,
	},
	{
		"equality compares objects",
		domain("(:predicates (p ?x))", "(:action a :parameters (?x ?y) :precondition (not (= ?x ?y)) :effect (p ?y))"),
		problem("a b", "", "(p a)"), "(a b a)(a a a)", "2", validator.Precondition, 1,
	},
	{
		"either takes objects of both types and of no other",
		domain("(:types car boat house)", "(:predicates (moved ?x - (either car boat)))",
			"(:action move :parameters (?x - (either car boat)) :effect (moved ?x))"),
		problem("c - car b - boat h - house", "", "(and (moved c) (moved b))"), "(move c)(move b)(move h)", "3", validator.WrongType, 2,
	},
	{
		"a quantifier over either ranges over both types",
		domain("(:types car boat house - thing)", "(:predicates (ok ?x - thing))",
			"(:action all :precondition (forall (?x - (either car boat)) (ok ?x)))"),
		problem("c - car b - boat h - house", "(ok c)", "(ok c)"), "(all)", "1", validator.Precondition, 0,
	},
	{
		"an object may be declared with several types, and a type with several parents",
		domain("(:types amphibian - car amphibian - boat)", "(:predicates (wet ?b - boat) (dry ?c - car))",
			"(:action swim :parameters (?b - boat) :effect (wet ?b)) (:action drive :parameters (?c - car) :effect (dry ?c))"),
		problem("a - amphibian x - car x - boat", "", "(and (wet a) (dry a) (wet x) (dry x))"), "(swim a)(drive a)(swim x)(drive x)", "-", "", 4,
	},
	{
		"a constant is an object of every problem",
		domain("(:types place)", "(:constants home - place)", "(:predicates (at ?p - place))", "(:action go :parameters (?p - place) :precondition (at home) :effect (and (at ?p) (not (at home))))"),
		problem("work - place", "(at home)", "(at work)"), "(go work)(go home)", "2", validator.Precondition, 1,
	},
	{
		"imply, or, exists and forall",
		domain("(:predicates (p ?x) (q ?x) (r))", "(:action a :precondition (and (forall (?x) (imply (p ?x) (q ?x))) (exists (?x) (or (p ?x) (r)))) :effect (r))"),
		problem("a b", "(p a) (q a)", "(r)"), "(a)", "-", "", 1,
	},
	{
		"an implication that does not hold",
		domain("(:predicates (p ?x) (q ?x) (r))", "(:action a :precondition (forall (?x) (imply (p ?x) (q ?x))) :effect (r))"),
		problem("a b", "(p a) (q a) (p b)", "(r)"), "(a)", "1", validator.Precondition, 0,
	},
	{
		"conditions of effects are those before the step",
		domain("(:predicates (p) (q) (r))", "(:action a :effect (and (when (p) (and (q) (not (p)))) (when (q) (r))))"),
		problem("", "(p)", "(r)"), "(a)(a)", "-", "", 2,
	},
	{
		"the same plan one step shorter does not reach the goal",
		domain("(:predicates (p) (q) (r))", "(:action a :effect (and (when (p) (and (q) (not (p)))) (when (q) (r))))"),
		problem("", "(p)", "(r)"), "(a)", "goal", validator.Goal, 1,
	},
	{
		"an effect for all objects, with a condition",
		domain("(:predicates (in ?x) (out ?x))", "(:action empty :effect (forall (?x) (when (in ?x) (and (not (in ?x)) (out ?x)))))"),
		problem("a b c", "(in a) (in c)", "(and (out a) (not (out b)) (out c) (not (in a)))"), "(empty)", "-", "", 1,
	},
	{
		"numbers are compared, assigned, increased, decreased and scaled",
		domain("(:predicates (done))", "(:functions (n) (m) - number)",
			"(:action set :effect (assign (n) (+ (m) 1 2)))", "(:action up :effect (and (increase (n) 2) (decrease (m) (/ (n) 2))))",
			"(:action scale :effect (and (scale-up (n) 3) (scale-down (m) 2)))",
			"(:action check :precondition (and (= (n) 27) (<= (m) -0.5) (> (* 2 (n)) 53) (>= (- (m)) 0.5) (< (- (n) (m)) 28)) :effect (done))"),
		problem("", "(= (n) 1) (= (m) 4)", "(done)"),
		"(set)(up)(scale)(check)", "4", validator.Precondition, 3, // n = 7, 9, 27; m = 4, 0.5, 0.25
	},
	{
		"a number that was not given is unknown, and no condition on it holds",
		domain("(:predicates (done))", "(:functions (n))", "(:action a :precondition (or (< (n) 1) (>= (n) 1)) :effect (done))"),
		problem("", "", "(done)"), "(a)", "1", validator.UnknownValue, 0,
	},
	{
		"a derived predicate follows its rules in every state",
		domain("(:predicates (on ?x ?y) (clear ?x) (free ?x))", "(:derived (clear ?x) (not (exists (?y) (on ?y ?x)))) (:derived (free ?z) (and (clear ?z) (not (exists (?y) (on ?z ?y)))))",
			"(:action stack :parameters (?x ?y) :precondition (and (free ?x) (clear ?y) (not (= ?x ?y))) :effect (on ?x ?y))"),
		problem("a b c", "", "(and (on a b) (on b c))"), "(stack a b)(stack b c)", "2", validator.Precondition, 1,
	},
	{
		"two rules are alternatives",
		domain("(:types t)", "(:predicates (p ?x - t) (q ?x - t) (r ?x - t))", "(:derived (r ?x - t) (p ?x)) (:derived (r ?y - t) (q ?y))",
			"(:action a :parameters (?x - t) :precondition (r ?x))"),
		problem("a b c - t", "(p a) (q b)", "(and)"), "(a a)(a b)(a c)", "3", validator.Precondition, 2,
	},
	{
		"the metric gives costs, by condition as well",
		domain("(:predicates (p))", "(:functions (total-cost) (fuel))", "(:action a :effect (and (p) (increase (fuel) 2) (when (p) (increase (fuel) 5))))", "(:action b)"),
		problem("", "(= (fuel) 0)", "(p)", "(:metric minimize (+ (* 3 (fuel)) (total-time)))"), "(a)(a)(b)", "-", "", 7 + 22 + 1,
	},
	{
		"an action that does not add to the metric costs nothing",
		domain("(:predicates (p))", "(:functions (total-cost))", "(:action a :effect (and (p) (increase (total-cost) 4)))", "(:action b)"),
		problem("", "", "(p)", "(:metric minimize (total-cost))"), "(b)(a)(b)", "-", "", 4,
	},
	{
		"without a metric every step costs 1, whatever it increases",
		domain("(:predicates (p))", "(:functions (total-cost))", "(:action a :effect (and (p) (increase (total-cost) 4)))"),
		problem("", "(= (total-cost) 0)", "(p)"), "(a)(a)", "-", "", 2,
	},
	{
		"a variable of a wider type may be an argument",
		domain("(:types truck - thing)", "(:predicates (big ?t - truck) (seen ?x - thing))", "(:action look :parameters (?x - thing) :precondition (not (big ?x)) :effect (seen ?x))"),
		problem("t u - truck s - thing", "(big t)", "(seen t)"), "(look s)(look u)(look t)", "3", validator.Precondition, 2,
	},
	{
		"closing parentheses too many do no harm",
		domain("(:predicates (p))", "(:action a :effect (p))") + "))", problem("", "(not (p))", "(p)") + ")", "(a)", "-", "", 1,
	},
}

func TestTheSemanticsOfPDDL(t *testing.T) {
	for _, c := range semanticCases {
		t.Run(c.name, func(t *testing.T) {
			task, diags := parse(c.domain, c.problem)
			if diags.HasErrors() {
				t.Fatal(told(diags))
			}
			r := validate(task, c.plan)
			if place(r) != c.step || r.Kind != c.kind || r.Cost != c.cost {
				t.Errorf("step %s, kind %q, cost %g; expected %s, %q, %g\n%s", place(r), r.Kind, r.Cost, c.step, c.kind, c.cost, r.Critique)
			}
			x := task.Export()
			r = validator.Validate(imported(t, x), validator.ReadPlan(strings.NewReader(renamed(x, strings.ReplaceAll(c.plan, ")(", ")\n(")))))
			if place(r) != c.step || r.Cost != c.cost {
				t.Errorf("imported: step %s, cost %g; expected %s, %g\n%s\n%s", place(r), r.Cost, c.step, c.cost, r.Critique, x.Text)
			}
		})
	}
}

func TestStrangeFilesAreRead(t *testing.T) {
	d, p := tinyDomain, tinyProblem
	for name, change := range map[string]func(string) string{
		"byte order mark": func(s string) string { return "\ufeff" + s },
		"CRLF":            func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"tabs":            func(s string) string { return strings.ReplaceAll(s, " ", "\t") },
		"comments":        func(s string) string { return "; )) é\n" + strings.ReplaceAll(s, "\n", " ; (\n") + "; the end" },
		"capitals":        strings.ToUpper,
	} {
		t.Run(name, func(t *testing.T) {
			task, diags := parse(change(d), change(p))
			if len(diags) > 0 {
				t.Fatal(told(diags))
			}
			if r := validate(task, "(move red home depot)"); !r.Valid || r.Cost != 5 {
				t.Errorf("cost %g, %s", r.Cost, r.Critique)
			}
		})
	}
}

func TestBadFilesAreRefusedInOneMessage(t *testing.T) {
	deep := strings.Repeat("(", 100_000)
	for _, c := range []struct{ name, domain, want string }{
		{"empty", "", "d.pddl:1:1-1 Empty file: A domain starts with (define (domain NAME)."},
		{"blank", " \n\t; nothing\n", "d.pddl:3:1-1 Empty file: A domain starts with (define (domain NAME)."},
		{"a problem", tinyProblem, "d.pddl:1:10-17 A problem in place of a domain: The domain's file comes first, then the problem's."},
		{"prose", "Here is the domain.", "d.pddl:1:1-5 Not a PDDL domain: A domain starts with (define (domain NAME)."},
		{"binary", "\x7fELF\x02\x01\x01\x00\x00\xff\xfe", "d.pddl:1:1-5 Not a PDDL domain: A domain starts with (define (domain NAME)."},
		{"parentheses", deep, "d.pddl:1:2-3 Not a PDDL domain: A domain starts with (define (domain NAME)."},
		{"parentheses in it", domain("(:action a :effect " + deep + strings.Repeat(")", len(deep)) + ")"), "d.pddl:1:1039-1040 Nested too deeply: At most 1000 lists stand in each other."},
		{"parentheses open", domain("(:action a :effect " + deep), "d.pddl:1:20-21 Unclosed parenthesis: The list that starts here is not closed before the file ends."},
		{"cut", tinyDomain[:200], "d.pddl:6:3-4 Unclosed parenthesis: The list that starts here is not closed before the file ends."},
		{"no name", "(define (domain) (:predicates (p)))", "d.pddl:1:16-17 Not a PDDL domain: A domain starts with (define (domain NAME)."},
		{"another encoding", domain("(:predicates (caf\xe9) (p)) ; caf\xe9\n"), "d.pddl:1:34-38 Not a text file: The word is not UTF-8 text. Save the file as UTF-8."},
		{"two", tinyDomain + tinyProblem, "d.pddl:11:1-2 Text behind the definition: A parenthesis before it closes the whole definition."},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, diags := parse(c.domain, problem("", "", "(and)"))
			if got := strings.TrimSpace(told(diags)); got != c.want {
				t.Errorf("got\n%s\nexpected\n%s", got, c.want)
			}
		})
	}
}

func TestManyMistakesAreToldInPart(t *testing.T) {
	facts := strings.Repeat("(nowhere red)\n", 200_000)
	_, diags := parse(tinyDomain, changed(t, tinyProblem, "(at red home) ", facts))
	if len(diags) != 101 || diags[99].Summary != `Unknown predicate "nowhere"` || diags[100].Summary != "More mistakes" {
		t.Errorf("%d diagnostics, the last %v", len(diags), diags[len(diags)-1])
	}
}

// FuzzParse holds the reader to never panic, and what it takes to be exported
// without one.
func FuzzParse(f *testing.F) {
	f.Add([]byte(tinyDomain), []byte(tinyProblem))
	f.Add([]byte("\ufeff"+strings.ToUpper(tinyDomain)), []byte(tinyProblem[:150]))
	f.Add([]byte(domain("(:types a - (either b c))", "(:predicates (p ?x - (either a b)))", "(:derived (p ?x) (exists (?y - a) (p ?y)))")),
		[]byte(problem("x - (either a b)", "(not (p x)) (= (f) 1)", "(forall (?x) (imply (p ?x) (= ?x ?x)))", "(:metric minimize (- (total-time)))")))
	for _, c := range semanticCases {
		f.Add([]byte(c.domain), []byte(c.problem))
	}
	f.Fuzz(func(t *testing.T, d, p []byte) {
		if bytes.Count(d, []byte("\n"))+bytes.Count(p, []byte("\n")) > 200 {
			return
		}
		task, diags := pddl.Parse("d.pddl", d, "p.pddl", p)
		if diags.HasErrors() {
			return
		}
		x := task.Export()
		imported(t, x)
		validate(task, "(a)")
	})
}
