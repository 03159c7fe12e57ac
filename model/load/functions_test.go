package load

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// calls has each function of configuration once, with what it gives as JSON.
var calls = map[string]string{
	`abs(-2)`: `2`, `ceil(1.2)`: `2`, `floor(1.8)`: `1`, `int(1.8)`: `1`, `signum(-3)`: `-1`, `pow(2, 3)`: `8`, `log(8, 2)`: `3`,
	`max(1, 3, 2)`: `3`, `min(2, 1)`: `1`, `parseint("ff", 16)`: `255`,
	`chomp("a\n")`: `"a"`, `lower("A")`: `"a"`, `upper("a")`: `"A"`, `title("a b")`: `"A B"`, `trim("xax", "x")`: `"a"`,
	`trimprefix("xa", "x")`: `"a"`, `trimsuffix("ax", "x")`: `"a"`, `trimspace(" a ")`: `"a"`, `strrev("ab")`: `"ba"`,
	`strlen("日本")`: `2`, `substr("abc", 1, 1)`: `"b"`, `replace("abc", "b", "x")`: `"axc"`, `split(",", "a,b")`: `["a","b"]`,
	`join("-", ["a", "b"])`: `"a-b"`, `indent(2, "a\nb")`: `"a\n  b"`, `format("%s-%02d", "a", 3)`: `"a-03"`,
	`formatlist("%s!", ["a", "b"])`: `["a!","b!"]`, `regex("[0-9]+", "a12")`: `"12"`, `regexall("[0-9]", "a12")`: `["1","2"]`,
	`regexreplace("a1", "[0-9]", "x")`:              `"ax"`,
	`formatdate("YYYY-MM", "2026-01-02T03:04:05Z")`: `"2026-01"`, `timeadd("2026-01-02T03:04:05Z", "1h")`: `"2026-01-02T04:04:05Z"`,
	`chunklist(["a", "b", "c"], 2)`: `[["a","b"],["c"]]`, `coalesce(null, "a")`: `"a"`, `coalescelist([], ["a"])`: `["a"]`,
	`compact(["a", "", "b"])`: `["a","b"]`, `concat(["a"], ["b"])`: `["a","b"]`, `contains(["a"], "a")`: `true`,
	`distinct(["a", "a"])`: `["a"]`, `element(["a", "b"], 3)`: `"b"`, `flatten([["a"], ["b"]])`: `["a","b"]`,
	`index(["a", "b"], 1)`: `"b"`, `keys({ a = 1 })`: `["a"]`, `values({ a = 1 })`: `[1]`, `length(["a", "b"])`: `2`,
	`lookup({ a = "x" }, "b", "y")`: `"y"`, `merge({ a = 1 }, { b = 2 })`: `{"a":1,"b":2}`, `range(3)`: `[0,1,2]`,
	`reverse(["a", "b"])`: `["b","a"]`, `slice(["a", "b", "c"], 1, 2)`: `["b"]`, `sort(["b", "a"])`: `["a","b"]`,
	`zipmap(["a"], [1])`: `{"a":1}`, `setunion(["a"], ["b"])`: `["a","b"]`, `setintersection(["a", "b"], ["b"])`: `["b"]`,
	`setsubtract(["a", "b"], ["b"])`: `["a"]`, `setsymmetricdifference(["a", "b"], ["b", "c"])`: `["a","c"]`,
	`setproduct(["a"], ["b"])`: `[["a","b"]]`, `csvdecode("a,b\n1,2\n")`: `[{"a":"1","b":"2"}]`,
	`jsondecode("[1]")`: `[1]`, `jsonencode({ a = [1] })`: `"{\"a\":[1]}"`,
	`tostring(1)`: `"1"`, `tonumber("1")`: `1`, `tobool("true")`: `true`,
	`env("SHOP")`: `"open"`, `env("NONE", "shut")`: `"shut"`, `file("list.txt")`: `"api\ndb\n"`,
}

func TestEveryFunctionIsServed(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "list.txt"), []byte("api\ndb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ld := newLoader(Options{LookupEnv: func(n string) (string, bool) { return "open", n == "SHOP" }})
	ld.l.Folder = dir
	ld.build()
	unseen := map[string]bool{}
	for name := range ld.l.Eval.Functions {
		unseen[name] = true
	}
	for call, want := range calls {
		name, _, _ := strings.Cut(call, "(")
		delete(unseen, name)
		e, diags := hclsyntax.ParseExpression([]byte(call), "", hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		v, diags := e.Value(ld.l.Eval)
		if diags.HasErrors() {
			t.Errorf("%s: %v", call, diags)
			continue
		}
		got, err := ctyjson.Marshal(v, v.Type())
		if err != nil || string(got) != want {
			t.Errorf("%s is %s, want %s: %v", call, got, want, err)
		}
	}
	for name := range unseen {
		t.Errorf("%s() is in no call", name)
	}
}

func TestWhatFileCannotReadIsTold(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("large.txt", make([]byte, maxInclude+1))
	write("latin.txt", []byte("caf\xe9"))
	write("exact.txt", []byte(strings.Repeat("a", maxInclude)))
	for name, to := range map[string]string{"loop.txt": "loop.txt", "zero.txt": "/dev/zero"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"absent.txt": "absent.txt: no such file or directory",
		".":          ". is a folder; name a file",
		"large.txt":  "large.txt has 1048577 bytes, and a model takes in files of at most 1048576",
		"latin.txt":  "latin.txt is not UTF-8 text: byte 3 is 0xe9",
		"loop.txt":   "loop.txt: too many levels of symbolic links",
		"zero.txt":   "zero.txt is no regular file, and reading it may never end",
	} {
		if _, err := include(dir, name); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	if data, err := include(dir, filepath.Join(dir, "exact.txt")); err != nil || len(data) != maxInclude {
		t.Errorf("an absolute path to a file of just the greatest size: %d bytes, %v", len(data), err)
	}
}

func TestTheTypeOfAVariableIsThatOfItsDefault(t *testing.T) {
	const text = `
variable "n" { default = 1 }
variable "on" { default = false }
variable "names" { default = ["a"] }
variable "by" { default = { a = 1 } }
variable "free" {}
`
	env := func(n string) (string, bool) {
		v, ok := map[string]string{"FETTLE_VAR_n": "7", "FETTLE_VAR_on": "true"}[n]
		return v, ok
	}
	l := loadText(t, text, Options{LookupEnv: env, Vars: map[string]string{"n": "3", "names": `["x", "y"]`, "by": "{ a = 5 }", "free": "7"}})
	got, err := ctyjson.Marshal(l.Eval.Variables["var"], l.Eval.Variables["var"].Type())
	if want := `{"by":{"a":5},"free":"7","n":3,"names":["x","y"],"on":true}`; err != nil || string(got) != want {
		t.Errorf("got %s, want %s: %v", got, want, err)
	}
	for name, value := range map[string]string{"n": "many", "on": "perhaps", "names": "a", "by": "3"} {
		_, diags := fromText(t, text, Options{Vars: map[string]string{"free": "", name: value}})
		if len(diags) != 1 || diags[0].Severity != hcl.DiagError || !strings.HasPrefix(diags[0].Summary, "Wrong value for variable") {
			t.Errorf("%s = %s: %v", name, value, diags)
		}
	}
}
