package world

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/docs"
)

// TestReferenceNamesEveryKind promises that the language reference names each
// attribute of each kind, each name that an answer offers, and no other.
func TestReferenceNamesEveryKind(t *testing.T) {
	tables := docs.Tables()
	same := func(block, kind string, want ...string) {
		t.Helper()
		of := fmt.Sprintf("%s %q", block, kind)
		got := slices.Sorted(slices.Values(tables[of]))
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("the reference's table of %s names\n %v, and there are\n %v", of, got, want)
		}
	}
	for name, k := range kinds() {
		same("observe", name, attributeNames(k.attributes)...)
		same("answer", name, slices.Collect(maps.Keys(k.answers))...)
		acting := attributeNames(k.runAttributes)
		if k.fence != nil {
			acting = append(acting, "fence")
		}
		same("run", name, acting...)
		same("fence", name, attributeNames(k.fenceAttributes)...)
		if k.discover != nil {
			same("discover", name, attributeNames(k.discoverAttributes())...)
		} else {
			same("discover", name)
		}
	}
	if got := slices.Sorted(slices.Values(tables["function of value"])); !slices.Equal(got, slices.Sorted(slices.Values(builtins))) {
		t.Errorf("the reference names\n %v, and there are\n %v", got, slices.Sorted(slices.Values(builtins)))
	}
}

func attributeNames(of []hcl.AttributeSchema) []string {
	var out []string
	for _, a := range of {
		out = append(out, a.Name)
	}
	return out
}
