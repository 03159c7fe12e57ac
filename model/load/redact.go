package load

import (
	"regexp"

	"github.com/hashicorp/hcl/v2"
)

// patterns reads a list of regular expressions, each with its mistake at its place.
func (ld *loader) patterns(attr *hcl.Attribute) (out []*regexp.Regexp) {
	if attr == nil {
		return nil
	}
	texts := ld.texts(attr)
	places := make([]hcl.Range, len(texts))
	exprs, diags := hcl.ExprList(attr.Expr)
	for i := range texts {
		places[i] = attr.Expr.Range()
		if !diags.HasErrors() && len(exprs) == len(texts) {
			places[i] = exprs[i].Range()
		}
	}
	for i, text := range texts {
		if re := ld.pattern(text, places[i]); re != nil {
			out = append(out, re)
		}
	}
	return out
}

// pattern compiles one; nil where it is a mistake. One that matches the empty
// string says nothing of what is secret.
func (ld *loader) pattern(text string, at hcl.Range) *regexp.Regexp {
	re, err := regexp.Compile(text)
	switch {
	case err != nil:
		ld.errorAt(at, "Invalid pattern", "redact takes regular expressions in the syntax of RE2: %s.", err)
	case re.MatchString(""):
		ld.errorAt(at, "Invalid pattern", "%q matches the empty string, so it says nothing of what is to be taken out; demand at least one character, as in [0-9]+.", text)
	default:
		return re
	}
	return nil
}
