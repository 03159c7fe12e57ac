package policy

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/docs"
)

// TestReferenceNamesEveryLimit promises that the language reference names what
// a policy may say, and no other, and tells the required limits apart.
func TestReferenceNamesEveryLimit(t *testing.T) {
	tables := docs.Tables()
	same(t, "policy", append(tables["policy"], tables["required limit"]...), schema())
	same(t, "rule", tables["rule"], ruleSchema)
	if got := tables["required limit"]; !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(order))) {
		t.Errorf("required are %v, the reference says %v", order, got)
	}
	if got, want := len(tables["search"]), reflect.TypeFor[Search]().NumField(); got != want {
		t.Errorf("the reference names %d limits of the search, there are %d", got, want)
	}
	body := "policy {\nsearch {\n"
	for _, name := range tables["search"] {
		body += name + " = null\n"
	}
	if _, diags := decode(t, "search", []byte(body+"}\n}\n")); len(diags) != 1 { // The required limits are missing.
		t.Error(diags)
	}
}

func same(t *testing.T, of string, got []string, s *hcl.BodySchema) {
	t.Helper()
	var names []string
	for _, a := range s.Attributes {
		names = append(names, a.Name)
	}
	for _, b := range s.Blocks {
		names = append(names, b.Type)
	}
	slices.Sort(names)
	slices.Sort(got)
	if !slices.Equal(got, names) {
		t.Errorf("the reference's table of %s names\n %v, and what is read is\n %v", of, got, names)
	}
}

// TestReferenceNamesEveryWordOfRules promises that the language reference names
// what a condition of a rule may look at and call.
func TestReferenceNamesEveryWordOfRules(t *testing.T) {
	tables := docs.Tables()
	for of, want := range map[string][]string{
		"rule word": slices.Sorted(maps.Keys(words)), "rule function": slices.Sorted(maps.Keys(functions)),
	} {
		got := slices.Compact(slices.Sorted(slices.Values(tables[of])))
		if !slices.Equal(got, want) {
			t.Errorf("the reference's table of the %s names\n %v, and there are\n %v", of, got, want)
		}
	}
	if got, want := slices.Sorted(slices.Values(tables["rule builtin"])), slices.Sorted(slices.Values(builtins)); !slices.Equal(got, want) {
		t.Errorf("the reference's table of rule builtins names\n %v, and there are\n %v", got, want)
	}
}
