package model_test

import (
	"fmt"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/fettleops/fettle/model"
)

// crowded is a universe whose fluents over two objects are too many to be kept
// in arrays.
func crowded() (*model.Universe, []*model.Fluent) {
	m := model.New()
	node, word := m.AddType("node", nil), m.AddType("word", nil)
	node.Grow(3000)
	for i := range 3000 {
		node.AddObject(fmt.Sprintf("n%d", i))
	}
	word.AddObject("on")
	word.AddObject("off")
	var fs []*model.Fluent
	for _, k := range []model.Kind{model.KindBool, model.KindNumber, model.KindObject, model.KindString} {
		f := &model.Fluent{Name: k.String(), Kind: k, Params: []model.Param{{Name: "a", Type: node}, {Name: "b", Type: node}}}
		if k == model.KindObject {
			f.Type = word
		}
		m.AddFluent(f)
		fs = append(fs, f)
	}
	m.Link()
	return model.NewUniverse(m), fs
}

// drawValue is a value for the fluent, unknown among them.
func drawValue(t *rapid.T, f *model.Fluent) model.Value {
	n := rapid.IntRange(0, 2).Draw(t, "value")
	switch {
	case n == 2:
		return model.Value{}
	case f.Kind == model.KindBool:
		return model.BoolValue(n == 1)
	case f.Kind == model.KindNumber:
		return model.NumberValue(float64(n))
	case f.Kind == model.KindObject:
		return model.ObjectValue(int32(n))
	}
	return model.StringValue(fmt.Sprint(n))
}

func TestSparseFluentsKeepWhatIsWrittenAndClonesAreIndependent(t *testing.T) {
	u, fs := crowded()
	rapid.Check(t, func(t *rapid.T) {
		closed := rapid.Bool().Draw(t, "closed")
		states := []*model.State{u.NewState(closed)}
		twins := []map[string]model.Value{{}}
		for range rapid.IntRange(0, 300).Draw(t, "writes") {
			k := rapid.IntRange(0, len(states)-1).Draw(t, "state")
			if len(states) < 4 && rapid.IntRange(0, 30).Draw(t, "clone") == 0 {
				twin := map[string]model.Value{}
				for key, v := range twins[k] {
					twin[key] = v
				}
				states, twins = append(states, states[k].Clone()), append(twins, twin)
			}
			f := fs[rapid.IntRange(0, len(fs)-1).Draw(t, "fluent")]
			a := model.Atom{Fluent: f, Args: []int32{rapid.Int32Range(0, 2999).Draw(t, "a"), rapid.Int32Range(0, 9).Draw(t, "b")}}
			v := drawValue(t, f)
			states[k].Set(a, v)
			twins[k][u.Text(a)] = v
		}
		for k, s := range states {
			given := map[string]model.Value{}
			for _, f := range fs {
				for a, v := range s.Given(f) {
					given[u.Text(a)] = v
				}
			}
			for key, v := range twins[k] {
				a, err := u.FindAtom(parsed(key))
				if got := s.Get(a); err != nil || got != v {
					t.Fatalf("state %d: %s is %v, written %v (%v)", k, key, got, v, err)
				}
				if got, ok := given[key]; ok != (v.Known() && v != model.BoolValue(false)) || ok && got != v {
					t.Fatalf("state %d: %s = %v is given: %t, %v", k, key, v, ok, got)
				}
				delete(given, key)
			}
			if len(given) > 0 {
				t.Fatalf("state %d gives %v, which nobody wrote", k, given)
			}
			for i, f := range fs {
				rest := s.Get(model.Atom{Fluent: f, Args: []int32{7, 2999}})
				if want := closed && i == 0; rest.Known() != want {
					t.Fatalf("%s is %v where nothing was written", f.Name, rest)
				}
			}
		}
	})
}

func parsed(text string) (string, []string) {
	name, args, _ := model.ParseAtom(text)
	return name, args
}

func TestAStateMayBeClonedConcurrently(t *testing.T) {
	u, fs := crowded()
	s := u.NewState(true)
	a := model.Atom{Fluent: fs[0], Args: []int32{1, 2}}
	s.Set(a, model.BoolValue(true))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			c := s.Clone()
			c.Set(a, model.BoolValue(false))
			if c.Get(a).Tri() != model.False || s.Get(a).Tri() != model.True {
				t.Error("a clone is not independent")
			}
		})
	}
	wg.Wait()
}

func TestStepsOfAModelThatFoldsCaseMayBeInAnyCase(t *testing.T) {
	s := newSmall()
	s.action("drain", []*model.Type{s.svc}, nil)
	step := model.Step{Action: "DRAIN", Args: []string{"Api"}}
	u := s.done()
	if _, fault := u.Bind(step, nil); fault == nil || fault.Kind != model.UnknownAction {
		t.Errorf("without folding: %v", fault)
	}
	s.FoldCase = true
	g, fault := u.Bind(step, nil)
	if fault != nil || u.StepText(g) != "drain(api)" {
		t.Errorf("%v", fault)
	}
	if _, fault = u.Bind(model.Step{Action: "Drain", Args: []string{"APY"}}, nil); fault == nil || fault.Message != `Drain(APY): there is no service "apy"; did you mean api? drain takes 1 argument (s service)` {
		t.Errorf("%+v", fault)
	}
}
