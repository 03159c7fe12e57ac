package load

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	"github.com/fettleops/fettle/model"
)

// The bounds of a condition, besides maxSource.
const (
	maxNodes   = 500
	maxClosure = 3
)

// The functions of conditions. What expr has beyond them is refused.
var allowed = map[string]bool{
	"all": true, "any": true, "none": true, "one": true, "count": true, "sum": true,
	"min": true, "max": true, "map": true, "abs": true, "len": true,
}

// parserConfig turns every builtin of expr off but those allowed.
func parserConfig() *conf.Config {
	c := conf.CreateNew()
	c.MaxNodes = maxNodes
	for _, name := range builtin.Names {
		if !allowed[name] {
			c.Disabled[name] = true
		}
	}
	return c
}

// tree parses the text of a condition; nil where it does not parse, which is
// reported.
func (ld *loader) tree(src *source) ast.Node {
	t, err := parser.ParseWithConfig(src.text, ld.config())
	if err == nil {
		return t.Node
	}
	var e *file.Error
	if !errors.As(err, &e) {
		ld.errorAt(src.whole, "Invalid condition", "It cannot be read: %s.", err)
		return nil
	}
	ld.syntaxError(src, e)
	return nil
}

func (ld *loader) config() *conf.Config {
	if ld.conf == nil {
		ld.conf = parserConfig()
	}
	return ld.conf
}

var unexpected = regexp.MustCompile(`^unexpected token (\w+)(?:\((".*")\))?$`)

// syntaxError reports what expr's parser could not read, in our words.
func (ld *loader) syntaxError(src *source, e *file.Error) {
	rng := src.rangeOf(e.Location)
	if strings.Contains(e.Message, "maximum allowed nodes") {
		ld.errorAt(src.whole, "Condition too large", "A condition has at most %d parts. Name a part of it with a derived fluent.", maxNodes)
		return
	}
	if m := unexpected.FindStringSubmatch(e.Message); m != nil {
		what := m[2]
		if m[1] == "EOF" {
			ld.errorAt(rng, "Invalid condition", "It ends too early: something is missing at its end.")
			return
		}
		if name, loc := src.calleeBefore(e.From); what == `"#"` && spelled[name] != "" {
			ld.errorAt(src.rangeOf(loc), "Unknown quantifier", "%s is not part of the language.%s", name, spelled[name])
			return
		}
		ld.errorAt(rng, "Invalid condition", "Here %s makes no sense.%s", what, syntaxHint(src, e.Location, strings.Trim(what, `"`)))
		return
	}
	msg := strings.TrimSuffix(e.Message, ".")
	if msg == "literal not terminated" {
		msg = "a quote that is opened here is never closed"
	}
	ld.errorAt(rng, "Invalid condition", "It cannot be read: %s.", msg)
}

// syntaxHint guesses what was meant by a token that does not parse.
func syntaxHint(src *source, loc file.Location, token string) string {
	switch token {
	case "=":
		return " Comparison is written ==."
	case "&":
		return " Conjunction is written && or and."
	case "|":
		return " Disjunction is written || or or."
	case "#":
		return " # stands within a quantifier, as in all(service, up(#)); min and max take a map: max(map(service, load(#)))."
	case ">":
		if loc.From > 0 && []rune(src.text)[loc.From-1] == '-' {
			return " Implication is written !a || b."
		}
	case "xor", "^":
		return " Of two conditions just one is written a != b."
	case "!":
		return " Negation stands before what it negates; inequality is written !=."
	}
	word, _ := src.wordAt(loc.From)
	if model.Bare(word) && !identifier(word) && strings.ContainsAny(word, ".:/@-") {
		return fmt.Sprintf(" If %s is the name of an object, quote it: '%s'.", word, word)
	}
	return ""
}

var callee = regexp.MustCompile(`\b(forall|exists)\s*\(`)

// calleeBefore returns the last name of a quantifier of other languages that
// is called before a rune, and where it stands.
func (src *source) calleeBefore(at int) (string, file.Location) {
	before := src.slice(file.Location{To: at})
	all := callee.FindAllStringSubmatchIndex(before, -1)
	if len(all) == 0 {
		return "", file.Location{}
	}
	m := all[len(all)-1]
	from := utf8.RuneCountInString(before[:m[2]])
	return before[m[2]:m[3]], file.Location{From: from, To: from + m[3] - m[2]}
}

// span returns the location of an expression from its first to its last token.
// The tree tells no closing parentheses: that of a call is found in the text.
func (src *source) span(n ast.Node) file.Location {
	s := spanner{text: []rune(src.text), seen: map[ast.Node]bool{}}
	s.node(n)
	if !s.any {
		return n.Location()
	}
	return s.loc
}

func join(a, b file.Location) file.Location {
	return file.Location{From: min(a.From, b.From), To: max(a.To, b.To)}
}

type spanner struct {
	text []rune
	loc  file.Location
	any  bool
	seen map[ast.Node]bool
}

// node widens the span. A conditional's own location is a token after it.
func (s *spanner) node(n ast.Node) {
	if s.seen[n] { // one node may stand in two places
		return
	}
	s.seen[n] = true
	if _, cond := n.(*ast.ConditionalNode); !cond && n.Location().To > n.Location().From {
		s.add(n.Location())
	}
	for _, c := range children(n) {
		s.node(c)
	}
	switch n.(type) {
	case *ast.CallNode, *ast.BuiltinNode:
		s.close()
	}
}

// close takes in the parenthesis that ends a call.
func (s *spanner) close() {
	for i := s.loc.To; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == ')':
			s.loc.To = i + 1
			return
		case c != '(' && c != ',' && c != '}' && !unicode.IsSpace(c):
			return
		}
	}
}

func (s *spanner) add(l file.Location) {
	if !s.any {
		s.loc, s.any = l, true
		return
	}
	s.loc = join(s.loc, l)
}

func children(n ast.Node) []ast.Node {
	switch n := n.(type) {
	case *ast.UnaryNode:
		return []ast.Node{n.Node}
	case *ast.BinaryNode:
		return []ast.Node{n.Left, n.Right}
	case *ast.ConditionalNode:
		return []ast.Node{n.Cond, n.Exp1, n.Exp2}
	case *ast.CallNode:
		return append([]ast.Node{n.Callee}, n.Arguments...)
	case *ast.BuiltinNode:
		return n.Arguments
	case *ast.PredicateNode:
		return []ast.Node{n.Node}
	case *ast.MemberNode:
		return []ast.Node{n.Node, n.Property}
	case *ast.ChainNode:
		return []ast.Node{n.Node}
	case *ast.ArrayNode:
		return n.Nodes
	case *ast.VariableDeclaratorNode:
		return []ast.Node{n.Value, n.Expr}
	case *ast.SequenceNode:
		return n.Nodes
	case *ast.SliceNode:
		return []ast.Node{n.Node}
	}
	return nil
}
