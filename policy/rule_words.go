package policy

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/expr-lang/expr/types"
)

// word is a name that a condition may use.
type word struct {
	typ  types.Type
	step bool // it tells something of a step: its rule is asked of steps alone
	get  func(*Facts) any
}

var (
	textType  = types.String
	textsType = types.TypeOf([]string{})
	namedType = types.TypeOf(map[string]string{})
)

// words are those names.
var words = map[string]word{
	"action":       {textType, true, func(f *Facts) any { return f.Step.Action }},
	"ground":       {textType, true, func(f *Facts) any { return f.Step.Ground }},
	"args":         {namedType, true, func(f *Facts) any { return f.Step.Args }},
	"objects":      {textsType, true, func(f *Facts) any { return f.Step.objects() }},
	"labels":       {namedType, true, func(f *Facts) any { return f.Step.Labels }},
	"risk":         {textType, true, func(f *Facts) any { return f.Step.Risk }},
	"cost":         {types.Float64, true, func(f *Facts) any { return f.Step.Cost }},
	"adds":         {textsType, true, func(f *Facts) any { return f.Step.Adds }},
	"deletes":      {textsType, true, func(f *Facts) any { return f.Step.Deletes }},
	"sets":         {types.TypeOf(map[string]any{}), true, func(f *Facts) any { return f.Step.Sets }},
	"unfenced":     {types.Bool, true, func(f *Facts) any { return f.Step.Unfenced }},
	"unprotected":  {types.Bool, true, func(f *Facts) any { return f.Step.Unprotected }},
	"irreversible": {types.Bool, true, func(f *Facts) any { return f.Step.Irreversible }},
	"step":         {types.Int, true, func(f *Facts) any { return f.Step.Step }},
	"goal":         {textType, false, func(f *Facts) any { return f.Goal }},
	"plan":         {planType, false, func(f *Facts) any { return f.Plan.fields() }},
	"trigger":      {triggerType, false, func(f *Facts) any { return f.Trigger.fields() }},
}

var (
	planType    = types.Map{"length": types.Int, "cost": types.Float64, "objects": textsType, "actions": textsType, "unprotected": textsType, "irreversible": textsType}
	triggerType = types.Map{"kind": textType, "name": textType, "labels": namedType}
)

// records are the words whose parts are named, with the names.
var records = map[string]types.Map{"plan": planType, "trigger": triggerType}

func (p PlanFacts) fields() map[string]any {
	return map[string]any{
		"length": p.Length, "cost": p.Cost, "objects": p.Objects, "actions": p.Actions,
		"unprotected": p.Unprotected, "irreversible": p.Irreversible,
	}
}

func (t Trigger) fields() map[string]any {
	return map[string]any{"kind": t.Kind, "name": t.Name, "labels": t.Labels}
}

// functions are what a condition may call besides expr's own. The arguments
// that have to be written out are read as the condition is; see ruleReader.call.
var functions = map[string]struct {
	typ   types.Type
	usage string
}{
	"during":  {types.TypeOf(func(string, string, string) bool { return false }), "during('mon-fri', '22:00-06:00', 'America/New_York')"},
	"hour":    {types.TypeOf(func(string) int { return 0 }), "hour('America/New_York')"},
	"weekday": {types.TypeOf(func(string) string { return "" }), "weekday('America/New_York')"},
	"date":    {types.TypeOf(func(string) string { return "" }), "date('America/New_York')"},
	"times":   {types.TypeOf(func(string, string) int { return 0 }), "times('restart', '1h')"},
}

// The functions are carried out by names that no condition can write, on
// arguments that were read before.
const (
	callDuring  = "__during"
	callHour    = "__hour"
	callWeekday = "__weekday"
	callDate    = "__date"
	callTimes   = "__times"
	callArg     = "__arg"
	callSet     = "__set"
	callEqual   = "__equal"
	callIn      = "__in"
	callNumber  = "__number"
	callTurn    = "__turn"
)

// Their types. What stops a condition is an error, which no rule takes for a
// reason to allow.
var inner = types.Map{
	callDuring:  types.TypeOf(func(dayWindow) bool { return false }),
	callHour:    types.TypeOf(func(*time.Location) int { return 0 }),
	callWeekday: types.TypeOf(func(*time.Location) string { return "" }),
	callDate:    types.TypeOf(func(*time.Location) string { return "" }),
	callTimes:   types.TypeOf(func(string, time.Duration) (int, error) { return 0, nil }),
	callArg:     types.TypeOf(func(map[string]string, string) (string, error) { return "", nil }),
	callSet:     types.TypeOf(func(map[string]any, string) (any, error) { return nil, nil }),
	callEqual:   types.TypeOf(func(any, any) (bool, error) { return false, nil }),
	callIn:      types.TypeOf(func(any, any) (bool, error) { return false, nil }),
	callNumber:  types.TypeOf(func(any) (any, error) { return nil, nil }),
	callTurn:    types.TypeOf(func() (any, error) { return nil, nil }),
}

// scene gives the words and functions their values: what one ruling looks at.
func (f *Facts) scene() map[string]any {
	env := make(map[string]any, len(words)+len(inner))
	for name, w := range words {
		if !w.step || f.Step != nil {
			env[name] = w.get(f)
		}
	}
	env[callDuring] = func(w dayWindow) bool { return w.contains(f.Now) }
	env[callHour] = func(z *time.Location) int { return f.Now.In(z).Hour() }
	env[callWeekday] = func(z *time.Location) string { return weekdays[f.Now.In(z).Weekday()] }
	env[callDate] = func(z *time.Location) string { return f.Now.In(z).Format(time.DateOnly) }
	env[callTimes] = f.times
	env[callArg] = f.arg
	env[callSet] = setTo
	env[callEqual] = equal
	env[callIn] = among
	env[callNumber] = number
	env[callTurn] = turns()
	return env
}

// times counts the executions of an action, or of a ground action, that began
// within the time before now. One that a clock ahead of ours recorded is among
// them.
func (f *Facts) times(what string, within time.Duration) (int, error) {
	want, ground, err := deedName(what)
	if err != nil {
		return 0, err
	}
	n := 0
	for i := range f.History {
		d := &f.History[i]
		if d.At.After(f.Now.Add(-within)) && (d.Ground == want || !ground && d.Action == want) {
			n++
			if f.noted != nil {
				f.noted[i] = true
			}
		}
	}
	return n, nil
}

func (f *Facts) arg(args map[string]string, param string) (string, error) {
	v, ok := args[param]
	if !ok {
		return "", fmt.Errorf("%s has no parameter %q", f.Step.Action, param)
	}
	return v, nil
}

func setTo(sets map[string]any, atom string) (any, error) {
	v, ok := sets[atom]
	switch {
	case !ok:
		return nil, fmt.Errorf("the step does not set %s", atom)
	case v == nil:
		return nil, fmt.Errorf("it is not known what the step sets %s to", atom)
	}
	return v, nil
}

var errKinds = errors.New("values of different types are compared")

// equal compares values whose types were not known before.
func equal(a, b any) (bool, error) {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	switch {
	case x.CanInt() && y.CanFloat():
		return float64(x.Int()) == y.Float(), nil
	case x.CanFloat() && y.CanInt():
		return x.Float() == float64(y.Int()), nil
	case !x.IsValid() || !y.IsValid() || x.Type() != y.Type() || !x.Comparable() || !y.Comparable():
		return false, errKinds
	}
	return a == b, nil
}

// among looks for a value in a list.
func among(a, list any) (bool, error) {
	l := reflect.ValueOf(list)
	if l.Kind() != reflect.Slice {
		return false, errKinds
	}
	for i := range l.Len() {
		if same, err := equal(a, l.Index(i).Interface()); err != nil || same {
			return same, err
		}
	}
	return false, nil
}

// maxTurns is how many elements a condition may look at, all together.
const maxTurns = 100_000

func turns() func() (any, error) {
	n := 0
	return func() (any, error) {
		if n++; n > maxTurns {
			return nil, fmt.Errorf("it looks at more than %d elements", maxTurns)
		}
		return nil, nil
	}
}
