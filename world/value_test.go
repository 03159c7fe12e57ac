package world

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/expr-lang/expr/types"

	"github.com/fettleops/fettle/model"
)

// evaluate runs an expression over a JSON body, as a list's item where list.
func evaluate(t *testing.T, src, body string, list bool) string {
	t.Helper()
	p, err := compile(src, httpKind().answers, []model.Param{{Name: "s"}}, list)
	if err != nil {
		return "refused: " + err.Error()
	}
	var v any
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatal(err)
	}
	env := map[string]any{"status": 200, "headers": map[string]any{"etag": "x"}, "text": body, "body": v, "s": "api"}
	if list {
		env["item"], env["body"] = v, nil
	}
	out, note, err := p.run(env)
	if err != nil {
		return "unknown: " + err.Error()
	}
	got := fmt.Sprint(out)
	if note != "" {
		got += " {" + note + "}"
	}
	return got
}

func TestValueIsNeverFalseForWantOfAnAnswer(t *testing.T) {
	for _, c := range []struct{ src, body, want string }{
		{"body.status == 'UP'", `{"status":"UP"}`, `true {status = "UP"}`},
		{"body.status == 'UP'", `{"status":"DOWN"}`, `false {status = "DOWN"}`},
		{"body.status == 'UP'", `{}`, "unknown: the answer has no status"},
		{"body.status != 'UP'", `{"status":null}`, "unknown: the answer has no status"},
		{"body.status == 'UP'", `{"status":1}`, `unknown: 1 cannot be compared with "UP"`},
		{"body.ok == true", `{"ok":"yes"}`, `unknown: "yes" cannot be compared with true`},
		{"body.a.b == 1", `{"a":null}`, "unknown: the answer has no a"},
		{"body.a.b == 1", `{"a":{"b":1}}`, "true {a.b = 1}"},
		{"body == 'UP'", `null`, "unknown: the answer has no body"},
		{"body['state'] == 'x'", `{}`, "unknown: the answer has no state"},
		{"body.state in ['a','b']", `{}`, "unknown: the answer has no state"},
		{"body.state in ['a','b']", `{"state":3}`, "unknown: 3 cannot be compared with what is in the list"},
		{"body.state in ['a','b']", `{"state":"b"}`, `true {state = "b"}`},
		{"body.state not in ['a','b']", `{"state":"c"}`, `true {state = "c"}`},
		{"'a' in body", `{"a":1}`, "true"},
		{"'a' in body", `{"b":1}`, "false"},
		{"any(body.xs, .name == s && .up)", `{"xs":[{"name":"db","up":false},{"name":"api","up":true}]}`, "true"},
		{"any(body.xs, .name == s)", `{"xs":[{"nam":"api"}]}`, "unknown: the answer has no name"},
		{"any(body.xs, # == 'a')", `{"xs":[null]}`, "unknown: the answer has no #"},
		{"all(body.xs, # > 1)", `{}`, "unknown: the answer has no xs"},
		{"find(body.xs, .name == s).up", `{"xs":[]}`, "unknown: the answer has no find"},
		{"first(body.xs) == 1", `{"xs":[]}`, "unknown: the answer has no first"},
		{"count(body.xs, #.ok) > 1", `{"xs":[{"ok":true},{"ok":true}]}`, "true"},
		{"string(body.x)", `{}`, "unknown: the answer has no x"},
		{"!body.x", `{}`, "unknown: the answer has no x"},
		{"body.x", `{}`, "unknown: the answer has no x"},
		{"let x = body.y; x == 1", `{}`, "unknown: the answer has no y"},
		{"true || body.x", `{}`, "true"},
		{"body.x || true", `{}`, "unknown: the answer has no x"},
		{"body.x > 1", `{"x":"2"}`, "unknown: invalid operation: string > int"},
		{"int(body.x)", `{"x":"two"}`, `unknown: invalid operation: int(two)`},
		{"headers.etag == 'x'", `{}`, `true {headers.etag = "x"}`},
		{"headers.server == 'x'", `{}`, "unknown: the answer has no headers.server"},
		{"status == 200", `{}`, "true {status = 200}"},
		{"body.a == body.b", `{"a":1,"b":1.0}`, "true {a = 1, b = 1}"},
		// What the author says of a missing field counts.
		{"body.x ?? false", `{}`, "false"},
		{"body.x == nil", `{}`, "true"},
		{"body?.a?.b ?? 'none'", `{}`, "none"},
		{"body.a?.b == 1", `{"a":null}`, "unknown: the answer has no a.b"},
		{"body.x == nil ? 'no' : body.x", `{"x":"y"}`, `y {x = "y"}`},
	} {
		if got := evaluate(t, c.src, c.body, false); got != c.want {
			t.Errorf("%s over %s\n got %s\nwant %s", c.src, c.body, got, c.want)
		}
	}
}

func TestItemFieldsInLists(t *testing.T) {
	for _, c := range []struct{ src, item, want string }{
		{"item.in_lb", `{"in_lb":true}`, "true {in_lb = true}"},
		{"in_lb", `{"in_lb":false}`, "false {in_lb = false}"},
		{"version == wanted", `{"version":"v41","wanted":"v40"}`, `false {version = "v41", wanted = "v40"}`},
		{"name == s", `{"name":"api"}`, `true {name = "api"}`},
		{"memory == 'ok'", `{}`, "unknown: the answer has no memory"},
		{"item == 'x'", `"x"`, `true {item = "x"}`},
		{"let x = up; x", `{"up":true}`, "true {up = true}"},
		// status is the answer's, whatever the items have: told at load.
		{"status == 'UP'", `{"status":"UP"}`, "refused: invalid operation: == (mismatched types int and string); status is the answer's, an item's field is item.status"},
	} {
		if got := evaluate(t, c.src, c.item, true); got != c.want {
			t.Errorf("%s over %s\n got %s\nwant %s", c.src, c.item, got, c.want)
		}
	}
}

func TestExpressionsAreBounded(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"now()", "there is no function now here"},
		{"repeat('a', 1000000)", "there is no function repeat here"},
		{"body.close()", "an answer has no methods"},
		{"$env", "there is no name $env here"},
		{"__known(body)", "there is no function __known here"},
		{"bod.x", "there is no name bod here; the answer has body, headers, s, status, text"},
		{"body.x ==", "unexpected token EOF"},
		{strings.Repeat("(", 5000), "the expression is longer than 4096 bytes"},
		{"1" + strings.Repeat("+1", 600), "compilation failed: expression exceeds maximum allowed nodes"},
	} {
		_, err := compile(c.src, httpKind().answers, []model.Param{{Name: "s"}}, false)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%.40s: got %v, want %s", c.src, err, c.want)
		}
	}
	xs := "[" + strings.TrimSuffix(strings.Repeat("1,", 2000), ",") + "]"
	got := evaluate(t, "all(body, let x = #; any(body, # > x) || all(body, # == x))", xs, false)
	if got != "unknown: the expression looked at more than 300000 elements" {
		t.Errorf("nested loops over a large answer: %s", got)
	}
}

func TestParameterThatHidesANameOfTheAnswer(t *testing.T) {
	_, err := compile("body.x == status", types.Map{"body": types.Any, "status": types.Int}, []model.Param{{Name: "status"}}, false)
	if err == nil || err.Error() != "status is both a parameter and a name of the answer; rename the parameter" {
		t.Errorf("got %v", err)
	}
}

func FuzzAnswers(f *testing.F) {
	f.Add("body.status == 'UP'", `{"status":"UP"}`)
	f.Add("any(body.xs, .a in ['x'] || .b?.c ?? false)", `{"xs":[{"a":1},{"b":{"c":true}}]}`)
	f.Add("let x = find(body, # != nil); x[0] + len(body[1:])", `[[1],2,null]`)
	f.Add("count(keys(body), body[#] == s) > 0 ? text : headers.etag", `{"a":"api"}`)
	f.Fuzz(func(t *testing.T, src, body string) {
		p, err := compile(src, httpKind().answers, []model.Param{{Name: "s"}}, true)
		if err != nil {
			return
		}
		env := map[string]any{
			"status": 200, "headers": map[string]any{"etag": "x"}, "text": body, "s": "api",
			"body": (&answer{}).decode([]byte(body), ""), "item": (&answer{}).decode([]byte(body), ""),
		}
		if v, _, err := p.run(env); err != nil && v != nil {
			t.Errorf("%s over %s: both %v and %v", src, body, v, err)
		}
	})
}
