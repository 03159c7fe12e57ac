package world

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/expr-lang/expr/vm/runtime"
)

// trace is one evaluation: what it read, and how many turns its predicates took.
type trace struct {
	read  []string
	turns int
}

func (t *trace) install(env map[string]any) {
	env[guardKnown] = t.known
	env[guardEqual] = equal
	env[guardIn] = in
	env[guardTurn] = t.turn
}

func (t *trace) known(args ...any) any {
	v, name := args[0], args[1].(string)
	if v == nil {
		panic(&unknownError{fmt.Sprintf("the answer has no %s", strings.TrimPrefix(name, "."))})
	}
	if len(t.read) < 4 && name[0] != '#' && name[0] != '.' {
		if s := scalar(v); s != "" {
			if name != "body" {
				s = name + " = " + s
			}
			t.add(s)
		}
	}
	return v
}

func (t *trace) add(s string) {
	for _, r := range t.read {
		if r == s {
			return
		}
	}
	t.read = append(t.read, s)
}

func (t *trace) turn(...any) any {
	t.turns++
	if t.turns > maxTurns {
		panic(&unknownError{fmt.Sprintf("the expression looked at more than %d elements", maxTurns)})
	}
	return nil
}

// note says what was read, for a person.
func (t *trace) note(p *program, env map[string]any) string {
	for _, name := range []string{"status", "exit_code", "value", "stdout", "text"} {
		if v, ok := env[name]; ok && p.names[name] && len(t.read) < 4 {
			if s := scalar(v); s != "" {
				t.add(name + " = " + s)
			}
		}
	}
	return clip(strings.Join(t.read, ", "), 160)
}

func equal(a, b any) bool {
	if sortOf(a) != sortOf(b) {
		panic(&unknownError{fmt.Sprintf("%s cannot be compared with %s", describe(a), describe(b))})
	}
	return runtime.Equal(a, b)
}

// in tells whether a list has the value, or a map the key. A list in which
// nothing is of the value's sort cannot tell.
func in(v, list any) bool {
	l := reflect.ValueOf(list)
	if l.Kind() != reflect.Slice && l.Kind() != reflect.Array {
		return runtime.In(v, list)
	}
	comparable := l.Len() == 0
	for i := range l.Len() {
		e := l.Index(i).Interface()
		if sortOf(e) == sortOf(v) {
			comparable = true
			if runtime.Equal(e, v) {
				return true
			}
		}
	}
	if !comparable {
		panic(&unknownError{fmt.Sprintf("%s cannot be compared with what is in the list", describe(v))})
	}
	return false
}

// sortOf names the values that can be compared with each other.
func sortOf(v any) string {
	switch reflect.ValueOf(v).Kind() {
	case reflect.Bool:
		return "bool"
	case reflect.String:
		return "text"
	case reflect.Slice, reflect.Array:
		return "list"
	case reflect.Map:
		return "map"
	case reflect.Invalid:
		return "nil"
	default:
		return "number"
	}
}
