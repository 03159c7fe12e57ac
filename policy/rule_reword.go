package policy

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/expr-lang/expr/file"
	"github.com/hashicorp/hcl/v2"
)

var unexpected = regexp.MustCompile(`^unexpected token (\w+)(?:\("(.*)"\))?$`)

// syntaxMistake puts in our words what expr's parser could not read.
func syntaxMistake(err error) mistake {
	m := mistake{severity: hcl.DiagError, summary: "Invalid condition"}
	var e *file.Error
	if !errors.As(err, &e) {
		m.detail = fmt.Sprintf("It cannot be read: %s.", err)
		return m
	}
	m.at = e.Location
	token := unexpected.FindStringSubmatch(e.Message)
	switch {
	case strings.Contains(e.Message, "maximum allowed nodes"):
		m.at = file.Location{}
		m.summary, m.detail = "Condition too large", fmt.Sprintf("The condition of a rule has at most %d parts. Write several rules.", maxNodes)
	case token == nil:
		msg := strings.TrimSuffix(e.Message, ".")
		if msg == "literal not terminated" {
			msg = "a quote that is opened here is never closed"
		}
		m.detail = fmt.Sprintf("It cannot be read: %s.", msg)
	case token[1] == "EOF":
		m.detail = "It ends too early: something is missing at its end."
	default:
		m.detail = fmt.Sprintf("Here %s makes no sense.%s", token[2], tokenHints[token[2]])
	}
	return m
}

// tokenHints guess what was meant by a token that does not parse.
var tokenHints = map[string]string{
	"=": " Comparison is written ==.",
	"&": " Both of two is written && or and.",
	"|": " One of two is written || or or.",
	"#": " # stands within a quantifier, as in any(objects, # startsWith 'db').",
	"!": " Negation stands before what it negates; inequality is written !=.",
}

var (
	mismatched = regexp.MustCompile(`^invalid operation: (\S+) \(mismatched types (.+) and (.+)\)$`)
	unaryWrong = regexp.MustCompile(`^invalid operation: (\S+) \(mismatched type (.+)\)$`)
	sought     = regexp.MustCompile(`^cannot use (.+) as type (.+) in (array|map key)$`)
	argument   = regexp.MustCompile(`^cannot use (.+) as argument \(type (.+)\) to call (\w+) ?$`)
	wantsList  = regexp.MustCompile(`^builtin (\w+) takes only array \(got (.+)\)$`)
	wantsBool  = regexp.MustCompile(`^predicate should return boolean \(got (.+)\)$`)
	noField    = regexp.MustCompile(`^type (.+) has no (?:field|method) (.+)$`)
)

// typeMistake puts in our words what expr's checker says of types.
func typeMistake(err error) *mistake {
	m := &mistake{severity: hcl.DiagError, summary: "Unsuitable types"}
	var e *file.Error
	if !errors.As(err, &e) {
		m.detail = fmt.Sprintf("It cannot be used: %s.", err)
		return m
	}
	m.at = e.Location
	find := func(re *regexp.Regexp) []string { return re.FindStringSubmatch(e.Message) }
	if f := find(mismatched); f != nil {
		m.detail = fmt.Sprintf("Here %s stands between %s and %s.", f[1], typeWord(f[2]), typeWord(f[3]))
	} else if f := find(unaryWrong); f != nil {
		m.detail = fmt.Sprintf("Here %s stands before %s.", f[1], typeWord(f[2]))
	} else if f := find(sought); f != nil {
		m.detail = fmt.Sprintf("Here %s is looked for among what is each %s.", typeWord(f[1]), typeWord(f[2]))
	} else if f := find(argument); f != nil {
		m.detail = fmt.Sprintf("%s takes %s here, not %s.", f[3], typeWord(f[2]), typeWord(f[1]))
	} else if f := find(wantsList); f != nil {
		m.detail = fmt.Sprintf("%s takes a list, not %s.", f[1], typeWord(f[2]))
	} else if f := find(wantsBool); f != nil {
		m.detail = fmt.Sprintf("What is asked of each element holds or does not; this is %s.", typeWord(f[1]))
	} else if f := find(noField); f != nil {
		m.detail = fmt.Sprintf("%s has no parts, so there is no %s.", capital(typeWord(f[1])), f[2])
	} else {
		m.detail = fmt.Sprintf("It cannot be used: %s.", e.Message)
	}
	return m
}

// typeWord names a type of expr in the words of the model language.
func typeWord(typ string) string {
	switch typ {
	case "string":
		return "a text"
	case "int", "float64", "float32":
		return "a number"
	case "bool":
		return "a condition"
	case "interface {}", "unknown":
		return "a value of unknown type"
	case "map[string]string", "map[string]interface {}":
		return "a map"
	}
	if strings.HasPrefix(typ, "[]") {
		return "a list"
	}
	return "a " + typ
}
