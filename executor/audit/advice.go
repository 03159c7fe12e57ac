package audit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

const (
	// tight is the part of a limit beyond which it is too close.
	tight = 0.8
	// spare is what a limit that is proposed has beyond what was seen.
	spare = 1.5
	// loose is how much longer than settle a look may have come after it and still
	// say something of how long it should be.
	loose = 10
)

// Report returns what was found. The fold may go on; its next report is another.
func (f *Fold) Report() Report {
	r := Report{Runs: f.runs, Actions: []*Action{}, Planners: []*Planner{}}
	for _, a := range f.actions {
		a.Changes = []string{}
		slices.SortFunc(a.Effects, func(x, y *Effect) int {
			return cmp.Or(cmp.Compare(y.missed(), x.missed()), cmp.Compare(x.Fluent, y.Fluent))
		})
		a.advise()
		r.Actions = append(r.Actions, a)
	}
	slices.SortFunc(r.Actions, func(x, y *Action) int {
		return cmp.Or(cmp.Compare(y.rank(), x.rank()), cmp.Compare(len(y.Changes), len(x.Changes)), cmp.Compare(x.Name, y.Name))
	})
	for _, p := range f.planners {
		r.Planners = append(r.Planners, p)
	}
	slices.SortFunc(r.Planners, func(x, y *Planner) int {
		return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.Model, y.Model))
	})
	return r
}

// rank orders actions: by how many executions disagreed, and how large a part
// that is where there are as many.
func (a *Action) rank() float64 {
	if a.Executions == 0 {
		return float64(a.Unfinished)
	}
	return float64(a.Disagreed+a.Unfinished) + float64(a.Disagreed)/float64(a.Executions)
}

func (e *Effect) missed() int { return e.Other + e.Unknown }

// advise says what to change in the model.
func (a *Action) advise() {
	if a.Gone {
		return
	}
	a.adviseSettle()
	for _, e := range a.Effects {
		a.adviseEffect(e)
	}
	if a.Unannounced > 0 {
		a.change("%s said to have failed (%s) with all its effects seen, %s: look at what its command answers, and at success or expect_status", a.Name, a.Failure, times(a.Unannounced))
	}
	a.adviseTimeout()
	if n := a.Outcomes[unknown]; n > 0 && n > a.TimedOut {
		a.change("whether it took effect was unknown %s of %d: an actuator that says what became of a request, or a source that can be asked while it is down, would tell", times(n), a.Executions)
	}
}

func (a *Action) change(format string, args ...any) {
	a.Changes = append(a.Changes, fmt.Sprintf(format, args...))
}

// adviseSettle finds the time that the effects need.
func (a *Action) adviseSettle() {
	var why []string
	need := 0.0
	for _, e := range a.Effects {
		if e.Later > 0 {
			why = append(why, fmt.Sprintf("%s came true only after it was over, %s, at most %s after the action", e.Fluent, times(e.Later), Seconds(e.LaterS.Max())))
			need = max(need, e.LaterS.Max())
		}
		if e.Again > 0 {
			why = append(why, fmt.Sprintf("%s came true once the action was done again, %s, at most %s after the first time", e.Fluent, times(e.Again), Seconds(e.AgainS.Max())))
			need = max(need, e.AgainS.Max())
		}
		if most := e.AfterS.Max(); a.SettleS > 0 && most > tight*a.SettleS {
			why = append(why, fmt.Sprintf("%s was seen as late as %s after the action", e.Fluent, Seconds(most)))
			need = max(need, spare*most)
		}
	}
	if need == 0 {
		return
	}
	if need > loose*a.SettleS { // The next look came long after; that says little.
		need = 2 * a.SettleS
	}
	set := max(atLeast(need), atLeast(math.Nextafter(a.SettleS, math.Inf(1))))
	a.change(`settle of %s is too short, set timeout = "%s": %s`, Seconds(a.SettleS), spell(set), strings.Join(why, "; "))
}

func (a *Action) adviseEffect(e *Effect) {
	missed, never := e.missed()-e.Later-e.Again, e.Seen+e.Later+e.Assumed == 0
	switch {
	case missed <= 0:
	case e.Unknown > 0 && e.Other == 0:
		why := ""
		if e.Error != "" {
			why = " (" + e.Error + ")"
		}
		a.change("%s could not be observed after it %s of %d%s: look at how %s is observed", e.Fluent, times(missed), e.Declared, why, e.Fluent)
	case never:
		a.change("%s was never seen to become what the effect says, in %s (%s): the effect is wrong, takes longer than settle, or is not what is observed", e.Fluent, executions(e.Declared), e.Example)
	default:
		a.change("%s did not become what the effect says %s of %d (%s): what it depends on is missing from precondition or when", e.Fluent, times(missed), e.Declared, e.Example)
	}
}

func (a *Action) adviseTimeout() {
	most := a.ActS.Max()
	if a.TimeoutS == 0 || most <= tight*a.TimeoutS {
		return
	}
	how := fmt.Sprintf("it took %s", Seconds(most))
	if a.TimedOut > 0 {
		how = "it was cut off " + times(a.TimedOut)
	}
	a.change(`timeout of %s is too short, set timeout = "%s": %s`, Seconds(a.TimeoutS), spell(atLeast(max(spare*most, spare*a.TimeoutS))), how)
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

func executions(n int) string {
	if n == 1 {
		return "1 execution"
	}
	return fmt.Sprintf("%d executions", n)
}

// Seconds writes a time for a person: 3 ms, 0.4 s, 12 s, 2m30s.
func Seconds(s float64) string {
	switch {
	case s < 0.001:
		return "under 1 ms"
	case s < 0.1:
		return fmt.Sprintf("%.0f ms", 1000*s)
	case s < 10:
		return fmt.Sprintf("%.2g s", s)
	case s < 60:
		return fmt.Sprintf("%.0f s", s)
	}
	return spell(time.Duration(s * float64(time.Second)).Round(time.Second))
}

// spell writes a duration as a model does: 10m and not 10m0s.
func spell(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
