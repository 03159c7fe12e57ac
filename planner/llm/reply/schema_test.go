package reply_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/model/load"
	"github.com/fettleops/fettle/planner/llm/reply"
)

func example(t *testing.T, name string) *model.Universe {
	t.Helper()
	l, diags := load.Model(filepath.Join("..", "..", "..", "examples", name), load.Options{LookupEnv: func(string) (string, bool) { return "", false }})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return model.NewUniverse(l.Model)
}

// many is a model with so many actions over so many objects.
func many(actions, objects int) *model.Universe {
	m := model.New()
	typ := m.AddType("host", nil)
	for i := range objects {
		typ.AddObject(fmt.Sprintf("host-%d", i))
	}
	for i := range actions {
		m.AddAction(&model.Action{Name: fmt.Sprintf("act_%d", i), Params: []model.Param{{Name: "h", Type: typ}}})
	}
	m.Link()
	return model.NewUniverse(m)
}

func TestTheSchemaOfASmallModelNamesItsActionsAndObjects(t *testing.T) {
	u := example(t, "classic")
	drain, release := u.Action("drain"), u.Action("release")
	want := `{"additionalProperties":false,"properties":{` +
		`"no_plan":{"description":"Why there is no plan; null where there is one.","type":["string","null"]},` +
		`"steps":{"description":"The whole plan, in order, at most 9 steps; [] where there is none.","items":{"anyOf":[` +
		`{"additionalProperties":false,"properties":{"action":{"enum":["drain"],"type":"string"},"args":{"description":"the arguments of drain(service)","items":{"enum":["api","db"],"type":"string"},"type":"array"}},"required":["action","args"],"type":"object"},` +
		`{"additionalProperties":false,"properties":{"action":{"enum":["release"],"type":"string"},"args":{"description":"the arguments of release(service)","items":{"enum":["api","db"],"type":"string"},"type":"array"}},"required":["action","args"],"type":"object"}` +
		`]},"type":"array"}},"required":["no_plan","steps"],"type":"object"}`
	if got := string(reply.Schema(u, []*model.Action{release, drain}, 9)); got != want {
		t.Errorf("%s\nexpected\n%s", got, want)
	}
}

func TestASchemaSaysAsMuchAsItsBoundsAllow(t *testing.T) {
	tests := []struct {
		name              string
		actions, objects  int
		alternatives      int // 0: one sort of step
		allNames, objectN int // words of the enums of the one sort
	}{
		{"few of both", 3, 20, 3, 0, 0},
		{"many actions", 100, 20, 0, 100, 20},
		{"many objects", 3, 200, 0, 3, 200},
		{"more objects than can be told", 3, 20_000, 0, 3, 0},
		{"more actions than can be told", 1_000, 20_000, 0, 0, 0},
		{"no object", 2, 0, 2, 0, 0},
		{"no action", 0, 5, 0, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			raw := reply.Schema(many(tt.actions, tt.objects), nil, 0)
			step := strictSchema(t, raw)["properties"].(map[string]any)["steps"].(map[string]any)["items"].(map[string]any)
			alternatives, _ := step["anyOf"].([]any)
			if len(alternatives) != tt.alternatives {
				t.Fatalf("%d alternatives, expected %d\n%.2000s", len(alternatives), tt.alternatives, raw)
			}
			if tt.alternatives > 0 {
				return
			}
			props := step["properties"].(map[string]any)
			names, _ := props["action"].(map[string]any)["enum"].([]any)
			args, _ := props["args"].(map[string]any)["items"].(map[string]any)["enum"].([]any)
			if len(names) != tt.allNames || len(args) != tt.objectN {
				t.Errorf("%d actions, %d objects, expected %d and %d", len(names), len(args), tt.allNames, tt.objectN)
			}
		})
	}
}

// strictSchema decodes a schema and holds it against what the strict modes of
// the providers take.
func strictSchema(t *testing.T, raw json.RawMessage) map[string]any {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal(raw, &root); err != nil {
		t.Fatal(err)
	}
	words := 0
	var visit func(s map[string]any)
	visit = func(s map[string]any) {
		for key := range s {
			if !slices.Contains([]string{"type", "properties", "required", "additionalProperties", "items", "enum", "anyOf", "description"}, key) {
				t.Errorf("keyword %q", key)
			}
		}
		if props, ok := s["properties"].(map[string]any); ok {
			if s["additionalProperties"] != false || len(s["required"].([]any)) != len(props) {
				t.Errorf("not strict: %v", s)
			}
			for _, p := range props {
				visit(p.(map[string]any))
			}
		}
		if items, ok := s["items"].(map[string]any); ok {
			visit(items)
		}
		for _, a := range anyList(s["anyOf"]) {
			visit(a.(map[string]any))
		}
		if enum, ok := s["enum"]; ok {
			if len(anyList(enum)) == 0 {
				t.Error("an enum without words")
			}
			words += len(anyList(enum))
		}
	}
	visit(root)
	if words > 1000 || len(raw) > 64<<10 {
		t.Errorf("%d words, %d bytes", words, len(raw))
	}
	if root["type"] != "object" {
		t.Errorf("the root is of type %v", root["type"])
	}
	return root
}

func anyList(v any) []any {
	l, _ := v.([]any)
	return l
}

func TestTheExamplesHaveStrictSchemasAndEqualOnesEachTime(t *testing.T) {
	for _, name := range []string{"classic", "fleet", "coordinated", "node-reboot", "postgres-failover"} {
		t.Run(name, func(t *testing.T) {
			first := reply.Schema(example(t, name), nil, 0)
			strictSchema(t, first)
			if again := reply.Schema(example(t, name), nil, 0); string(again) != string(first) {
				t.Errorf("%s\nthen\n%s", first, again)
			}
			for _, a := range example(t, name).Actions {
				if !strings.Contains(string(first), `"`+a.Name+`"`) {
					t.Errorf("%s is not in it", a.Name)
				}
			}
		})
	}
}
