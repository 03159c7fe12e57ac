package model_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fettleops/fettle/model"
)

// world has a fluent of every kind.
func world(t testing.TB) *small {
	t.Helper()
	s := newSmall()
	s.node.Discovered = true
	s.bool("in", s.svc)
	s.number("n", s.svc)
	s.fluent(model.KindString, "note")
	s.fluent(model.KindObject, "home").Type = s.node
	s.fluent(model.KindObject, "mode").Type = s.AddEnum([]string{"on", "off"})
	s.derived("out", not(on(s.Fluent("in"), slot(s.svc, 0))), s.svc)
	s.bool("up", s.node)
	s.done()
	return s
}

func TestAStateIsWrittenInTheOrderOfTheModel(t *testing.T) {
	s := world(t)
	state := s.u.NewState(false)
	put(t, state, map[string]any{"in(db)": true, "in(web)": false, "n(api)": 3, "n(db)": 0.25, "note": "a<b \"ü\"\n", "up(n2)": true})
	state.Set(atom(t, s.u, "mode"), model.ObjectValue(1))
	const want = `{"in(api)": null, "in(db)": true, "in(web)": false, "n(api)": 3, "n(db)": 0.25, "n(web)": null, ` +
		`"note": "a<b \"ü\"\n", "home": null, "mode": "off", "up(n1)": null, "up(n2)": true}`
	got, err := state.MarshalJSON()
	if err != nil || string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if _, err := json.Marshal(state); err != nil {
		t.Error(err)
	}
}

func TestStatesAreReadFromJSON(t *testing.T) {
	s := world(t)
	tests := []struct{ name, text, want string }{
		{
			"bare", `{"in(api)": true, "n( api )": 3e0, "note": "x", "home": "n2", "mode": "on", "up(n1)": false, "in(db)": null}`,
			`{"in(api)": true, "in(db)": null, "in(web)": null, "n(api)": 3, "n(db)": null, "n(web)": null, "note": "x", "home": "n2", "mode": "on", "up(n1)": false, "up(n2)": null}`,
		},
		{"a document", `{"sources": {"in(api)": [{}, {"state": {"in(db)": true}}]}, "state": {"in(api)": true}, "age": 3, "more": [1]}`, `{"in(api)": true, `},
		{"nothing", `{}`, `{"in(api)": null, `},
		{"no object", `[1]`, `line 1, byte 1: expected an object such as {"ready(db)": true}, got a list`},
		{"empty", ``, `line 1, byte 1: the JSON ends too early`},
		{"cut", "{\"in(api)\":\n true", `line 2, byte 5: the JSON ends too early`},
		{"broken", "{\"in(api)\": tru}", `line 1, byte 12: not well-formed JSON: invalid character '}' in literal true (expecting 'e')`},
		{"a byte order mark", "\ufeff{\"in(api)\": true}", `{"in(api)": true, `},
		{"a list for a bool of a discovered object", `{"up(n1)": [true]}`, `line 1, byte 12: "up(n1)": expected true, false or null, got a list`},
		{"the state twice", `{"state": {}, "state": {}}`, `line 1, byte 24: "state" is given twice`},
		{"null", `null`, `line 1, byte 4: expected an object such as {"ready(db)": true}, got null`},
		{"trailing", `{} {}`, `line 1, byte 4: something follows the state`},
		{"a key beyond all bounds", `{"` + strings.Repeat("k", 5000) + `": true}`, `line 1, byte 5003: "` + model.Clip(strings.Repeat("k", 5000)) + `": a key has at most 4096 bytes, this one has 5000`},
		{"sources alone", `{"sources": {}}`, `line 1, byte 15: the document has no "state"`},
		{"unknown fluent", "{\n  \"inn(api)\": true}", `line 2, byte 18: "inn(api)": there is no fluent inn; did you mean in?`},
		{"unknown object", `{"in(apu)": true}`, `line 1, byte 16: "in(apu)": there is no service "apu"; did you mean api?`},
		{"arity", `{"in": true}`, `line 1, byte 11: "in": in takes 1 argument (s service), got 0`},
		{"no atom", `{"in(": true}`, `line 1, byte 12: "in(": expected an argument at character 4, found the end`},
		{"derived", `{"out(api)": true}`, `line 1, byte 17: "out(api)": out is derived from other fluents and takes no value; leave it out`},
		{"twice", `{"in(api)": true, "in('api')": true}`, `line 1, byte 35: "in('api')": it is given twice`},
		{"a number for a bool", `{"in(api)": 1}`, `line 1, byte 13: "in(api)": expected true, false or null, got 1`},
		{"a string for a number", `{"n(api)": "1"}`, `line 1, byte 14: "n(api)": expected a number or null, got "1"`},
		{"an object for a string", `{"note": {}}`, `line 1, byte 10: "note": expected a string or null, got an object`},
		{"a number for an object", `{"home": 1}`, `line 1, byte 10: "home": expected the name of a node or null, got 1`},
		{"no such object", `{"home": "n3"}`, `line 1, byte 13: "home": there is no node "n3"; did you mean n1?`},
		{"a huge number", `{"n(api)": 1e999}`, `line 1, byte 16: "n(api)": 1e999 is too large a number`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			state, err := s.u.ParseState([]byte(tt.text))
			got := fmt.Sprint(err)
			if err == nil {
				b, _ := state.MarshalJSON()
				got = string(b)
			}
			if partly := err == nil && strings.HasSuffix(tt.want, " "); got != tt.want && (!partly || !strings.HasPrefix(got, tt.want)) {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestAStateBringsTheObjectsOfDiscoveredTypes(t *testing.T) {
	s := world(t)
	text := []byte(`{"up(n9)": true, "up(n8)": false, "home": "n7", "up(n1)": true, "in(zzz)": true}`)
	found, err := s.u.StateObjects(text)
	if err != nil || len(found) != 1 || strings.Join(found[0].Objects, " ") != "n9 n8 n7" {
		t.Fatalf("found %+v, %v", found, err)
	}
	if odd, err := s.u.StateObjects([]byte(`{"up(n6)": [true, {}], "note": {"a": [1]}, "up(n5)": null}`)); err != nil || strings.Join(odd[0].Objects, " ") != "n6 n5" {
		t.Errorf("behind values that are no scalars: found %+v, %v", odd, err)
	}
	for text, want := range map[string]string{
		`{"up(n9)": true, "in(zzz)": true, "up(n8)": x`: `line 1, byte 32: "in(zzz)": there is no service "zzz"`,
		`{"upp(n9)": true, "up(n8)": x`:                 `line 1, byte 16: "upp(n9)": there is no fluent upp; did you mean up?`,
	} {
		if _, err := s.u.CheckStateObjects([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	u := s.u.With(found...)
	if _, err := u.ParseState(text[:len(text)-len(`, "in(zzz)": true}`)]); err == nil {
		t.Error("a cut state is read")
	}
	state, err := u.ParseState(bytes.Replace(text, []byte(`, "in(zzz)": true`), nil, 1))
	if err != nil {
		t.Fatal(err)
	}
	if v := state.Get(atom(t, u, "up(n9)")); v.Tri() != model.True {
		t.Errorf("up(n9) is %v", v.Tri())
	}
	if n := len(s.u.Objects(s.node)); n != 2 {
		t.Errorf("the first universe has %d nodes now", n)
	}
}

func TestNamedStatesAreClosed(t *testing.T) {
	s := newSmall()
	s.bool("in", s.svc)
	n := s.number("n", s.svc)
	n.Initial = func(args []string) model.Value { return model.NumberValue(float64(len(args[0]))) }
	u := s.done()
	state := u.Named(&model.NamedState{Values: []model.Assignment{
		{Atom: atom(t, u, "in(db)"), Value: model.BoolValue(true)}, {Atom: atom(t, u, "in(web)")}, {Atom: atom(t, u, "n(db)"), Value: model.NumberValue(9)},
	}})
	const want = `{"in(api)": false, "in(db)": true, "in(web)": null, "n(api)": 3, "n(db)": 9, "n(web)": 3}`
	if got, _ := state.MarshalJSON(); string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestAHugeFluentIsKeptSparsely(t *testing.T) {
	m := model.New()
	host := m.AddType("host", nil)
	for i := range 3000 {
		host.AddObject(fmt.Sprint("h", i))
	}
	f := &model.Fluent{Name: "linked", Kind: model.KindBool, Params: []model.Param{{Name: "a", Type: host}, {Name: "b", Type: host}}}
	m.AddFluent(f)
	m.Link()
	u := model.NewUniverse(m)
	s := u.NewState(false)
	put(t, s, map[string]any{"linked(h2, h1)": true, "linked(h1, h2)": false})
	if got, _ := s.MarshalJSON(); string(got) != `{"linked(h1, h2)": false, "linked(h2, h1)": true}` {
		t.Errorf("got %s", got)
	}
	c := s.Clone()
	put(t, c, map[string]any{"linked(h2, h1)": nil})
	if s.Get(atom(t, u, "linked(h2, h1)")).Tri() != model.True || c.Get(atom(t, u, "linked(h2, h1)")).Known() {
		t.Error("a clone is not independent")
	}
	if closed := u.NewState(true); closed.Get(atom(t, u, "linked(h5, h6)")).Tri() != model.False {
		t.Error("what a closed state does not list is not false")
	}
}

func TestStatesSurviveJSON(t *testing.T) {
	s := world(t)
	rapid.Check(t, func(t *rapid.T) {
		state := s.u.NewState(false)
		for _, f := range s.Fluents {
			for a := range s.u.Atoms(f) {
				if f.Derived != nil || rapid.Bool().Draw(t, "unknown") {
					continue
				}
				switch f.Kind {
				case model.KindBool:
					state.Set(a, model.BoolValue(rapid.Bool().Draw(t, "bool")))
				case model.KindNumber:
					state.Set(a, model.NumberValue(rapid.Float64().Draw(t, "number")))
				case model.KindString:
					state.Set(a, model.StringValue(rapid.String().Draw(t, "string")))
				default:
					state.Set(a, model.ObjectValue(rapid.Int32Range(0, 1).Draw(t, "object")))
				}
			}
		}
		text, err := state.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		again, err := s.u.ParseState(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for _, f := range s.Fluents {
			for a := range s.u.Atoms(f) {
				if state.Get(a) != again.Get(a) {
					t.Fatalf("%s comes back changed in %s", s.u.Text(a), text)
				}
			}
		}
	})
}

func FuzzParseState(f *testing.F) {
	s := world(f)
	for _, t := range []string{`{"in(api)": true}`, `{"state": {"n(api)": 1e3}, "sources": {}}`, `{"state": {"state": {}}}`, `[[`, `{"home": "n1", "home": "n2"}`, "{\"\xff\": null}"} {
		f.Add([]byte(t))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		state, err := s.u.ParseState(data)
		if err != nil {
			return
		}
		text, err := state.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.u.ParseState(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	})
}
