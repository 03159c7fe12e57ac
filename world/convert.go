package world

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"

	"github.com/fettleops/fettle/model"
)

// toValue makes a fluent's value of what an expression gave. It converts no
// text to numbers or bools: what is of the wrong type is an error that says
// what came.
func toValue(u *model.Universe, f *model.Fluent, v any) (model.Value, error) {
	if v == nil {
		return model.Value{}, fmt.Errorf("wanted %s, the value is null", wanted(f))
	}
	switch f.Kind {
	case model.KindBool:
		if b, ok := v.(bool); ok {
			return model.BoolValue(b), nil
		}
	case model.KindNumber:
		if n, ok := number(v); ok {
			if math.IsNaN(n) || math.IsInf(n, 0) {
				return model.Value{}, fmt.Errorf("the value is no finite number")
			}
			return model.NumberValue(n), nil
		}
	case model.KindString:
		if s, ok := v.(string); ok {
			return model.StringValue(s), nil
		}
	case model.KindObject:
		if s, ok := v.(string); ok {
			if o, ok := u.Find(f.Type, s); ok {
				return model.ObjectValue(o), nil
			}
		}
	}
	return model.Value{}, fmt.Errorf("wanted %s, got %s", wanted(f), describe(v))
}

func number(v any) (float64, bool) {
	r := reflect.ValueOf(v)
	switch {
	case r.CanInt():
		return float64(r.Int()), true
	case r.CanUint():
		return float64(r.Uint()), true
	case r.CanFloat():
		return r.Float(), true
	}
	return 0, false
}

// wanted says what a fluent's values are.
func wanted(f *model.Fluent) string {
	switch f.Kind {
	case model.KindBool:
		return "true or false"
	case model.KindNumber:
		return "a number"
	case model.KindString:
		return "a text"
	default:
		return "an object of " + f.Type.String()
	}
}

// fits tells whether an expression of this type can give the fluent's values.
func fits(f *model.Fluent, t reflect.Type) bool {
	if t == nil || t.Kind() == reflect.Interface {
		return true
	}
	switch f.Kind {
	case model.KindBool:
		return t.Kind() == reflect.Bool
	case model.KindNumber:
		return t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64
	default:
		return t.Kind() == reflect.String
	}
}

// typeWords names an expression's type.
func typeWords(t reflect.Type) string {
	switch sortOf(reflect.Zero(t).Interface()) {
	case "bool":
		return "true or false"
	case "number":
		return "a number"
	case "text":
		return "a text"
	case "list":
		return "a list"
	default:
		return "an object with fields"
	}
}

// plainValue turns a primitive configuration value into one of Go.
func plainValue(v cty.Value) any {
	switch {
	case v.IsNull() || !v.IsKnown():
		return nil
	case v.Type() == cty.Bool:
		return v.True()
	case v.Type() == cty.Number:
		f, _ := v.AsBigFloat().Float64()
		return f
	case v.Type() == cty.String:
		return v.AsString()
	}
	return []any{}
}

// describe says what a foreign value is, in a few words.
func describe(v any) string {
	if s := scalar(v); s != "" {
		return s
	}
	switch sortOf(v) {
	case "nil":
		return "null"
	case "list":
		return "a list"
	default:
		return "an object with fields"
	}
}

// scalar writes a text, number or bool, "" for anything else.
func scalar(v any) string {
	switch v := v.(type) {
	case string:
		if utf8.RuneCountInString(v) > 60 {
			return strconv.Quote(string([]rune(v)[:60])) + "…"
		}
		return strconv.Quote(v)
	case bool:
		return strconv.FormatBool(v)
	}
	if n, ok := number(v); ok {
		return model.FormatNumber(n)
	}
	return ""
}

// clip makes a text one line of at most n characters.
func clip(s string, n int) string {
	s = strings.Join(strings.Fields(printable(s)), " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
