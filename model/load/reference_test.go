package load

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/expr-lang/expr/builtin"
	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/docs"
)

// TestReferenceNamesWhatIsRead promises that the tables of the language
// reference name each block and attribute that the loader reads, and no other.
func TestReferenceNamesWhatIsRead(t *testing.T) {
	read := map[string]*hcl.BodySchema{
		"block": schema("", modelBlocks...),
		"type":  typeSchema, "fluent": fluentSchema, "action": actionSchema, "effect": effectSchema,
		"settle": settleSchema, "retry": retrySchema, "invariant": invariantSchema, "goal": goalSchema,
		"state": stateSchema, "variable": variableSchema, "model": modelSchema, "etcd": etcdSchema,
		"test": testShape.schema(), "expect": testShape.blocks[0].shape.schema(),
	}
	for of, s := range shapes {
		block, kind, _ := strings.Cut(of, " ")
		read[fmt.Sprintf("%s %q", block, kind)] = s.schema()
		for _, n := range s.blocks {
			read[n.name] = n.shape.schema()
		}
	}
	for block, of := range kinds {
		for _, kind := range of {
			if shapes[block+" "+kind] == nil {
				t.Errorf("%s %q has no shape", block, kind)
			}
		}
	}
	tables := docs.Tables()
	for of, s := range read {
		var names []string
		for _, a := range s.Attributes {
			names = append(names, strings.TrimSuffix(a.Name, "!"))
		}
		for _, b := range s.Blocks {
			names = append(names, b.Type)
		}
		slices.Sort(names)
		got := slices.Sorted(slices.Values(tables[of]))
		if !slices.Equal(got, names) {
			t.Errorf("the reference's table of %s names\n %v, and what is read is\n %v", of, got, names)
		}
	}
}

// TestReferenceNamesTheReserved promises that the reference lists each word
// that cannot be a name, and no other.
func TestReferenceNamesTheReserved(t *testing.T) {
	words := map[string]bool{}
	for _, name := range builtin.Names {
		words[name] = true
	}
	for _, set := range []map[string]bool{keywords, typeWords, allowed} {
		for name := range set {
			words[name] = true
		}
	}
	want := slices.Sorted(maps.Keys(words))
	if got := slices.Sorted(slices.Values(docs.Tables()["reserved"])); !slices.Equal(got, want) {
		t.Errorf("the reference lists\n %v, and reserved are\n %v", got, want)
	}
	for _, name := range want {
		if (&loader{l: &Loaded{}}).usable("fluent", name, hcl.Range{}) {
			t.Errorf("%s can be the name of a fluent", name)
		}
	}
}

// TestReferenceNamesTheFunctions promises that the reference names each
// function of configuration, and no other but what bodies have besides.
func TestReferenceNamesTheFunctions(t *testing.T) {
	want := []string{"urlencode"} // of the package that decodes bodies
	for name := range (&loader{l: &Loaded{}}).functions() {
		want = append(want, name)
	}
	slices.Sort(want)
	if got := slices.Sorted(slices.Values(docs.Tables()["function"])); !slices.Equal(got, want) {
		t.Errorf("the reference names\n %v, and there are\n %v", got, want)
	}
}
