package world

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// age is how old a reading is at a moment, to half a second.
func age(r Reading, at time.Time) time.Duration {
	return at.Sub(r.Sampled).Round(500 * time.Millisecond)
}

func TestASelectorTellsWhenItsSamplesWereTakenWhateverTheServersClock(t *testing.T) {
	m := newTestModel(t)
	there := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC) // The server's clock is years ahead.
	log := m.servePrometheus(t, map[string]func() promAnswer{
		timed(`m{job="x"}`): func() promAnswer { return marked(there, 10*time.Second, "service=api 1", "service=db 0") },
	})
	w := m.mustCompile(t, prometheusBody("up", `m{job="x"}`, "value > 0", `max_age = "20s"`, `reduce = "max"`))
	now := time.Now()
	up := m.refs(t, "up(api)")
	got := w.Observe(t.Context(), m.u, up, now)[0]
	if !got.Value.Known() || age(got, now) != 10*time.Second || got.Sampled.After(now.Add(-10*time.Second)) {
		t.Errorf("%s: sampled %s ago", m.show([]Reading{got}), now.Sub(got.Sampled))
	}
	if got.Source.Query != `m{job="x"}` {
		t.Errorf("source %q", got.Source.Query)
	}
	if n := len(strings.Split(log.lines(), "\n")); n != 1 {
		t.Errorf("%d requests for one fluent", n)
	}
	// An object without a series has no sample either.
	same(t, m.show(w.Observe(t.Context(), m.u, m.refs(t, "up('-rf')"), now)), "up('-rf') = unknown [no series is about up('-rf')]")
}

func TestGuardsAcceptMaxAgeAndConfirmationsOnlyLaterSamples(t *testing.T) {
	const old = 10 * time.Second
	plain := func() promAnswer { return marked(time.Now(), old, "service=api 1") }
	for _, c := range []struct {
		name, query, more string
		guard, confirm    string // "": known
		never             bool   // …and no later look will know more
	}{
		{name: "a selector without max_age", query: "m", confirm: "too early"},
		{name: "young enough", query: "m", more: `max_age = "20s"`, confirm: "too early"},
		{name: "too old", query: "m", more: `max_age = "5s"`, guard: "too early", confirm: "too early"},
		{name: "only later ones", query: "m", more: `max_age = "0s"`, guard: "too early", confirm: "too early"},
		{name: "an aggregate without max_age", query: "sum(m)", confirm: "give freshness", never: true},
		{name: "an aggregate cannot tell", query: "sum(m)", more: `max_age = "20s"`, guard: "give freshness", confirm: "give freshness", never: true},
		{name: "freshness by object", query: "sum(m)", more: "max_age = \"20s\"\nfreshness = \"by object\"", confirm: "too early"},
		{name: "freshness by object, too old", query: "sum(m)", more: "max_age = \"5s\"\nfreshness = \"by object\"", guard: "too early", confirm: "too early"},
		{name: "freshness for all", query: "m", more: "max_age = \"20s\"\nfreshness = \"for all\"", confirm: "too early"},
		{name: "freshness of others", query: "sum(m)", more: "max_age = \"20s\"\nfreshness = \"of others\"", guard: "give freshness", confirm: "give freshness", never: true},
		{name: "freshness that is no time", query: "sum(m)", more: "max_age = \"20s\"\nfreshness = \"no time\"", guard: "give freshness", confirm: "give freshness", never: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newTestModel(t)
			stamp := func(labels string, d time.Duration) string {
				return labels + " " + strconv.FormatFloat(float64(time.Now().Add(-d).UnixMilli())/1000, 'f', 3, 64)
			}
			m.servePrometheus(t, map[string]func() promAnswer{
				timed("m"): plain,
				"m":        fixed("service=api 1"),
				"sum(m)":   fixed("service=api 1"),
				"by object": func() promAnswer {
					return promAnswer{series: []string{stamp("service=api,i=1", time.Second), stamp("service=api,i=2", old), stamp("service=db", time.Hour)}}
				},
				"for all":   func() promAnswer { return promAnswer{series: []string{stamp("job=x", old)}} },
				"of others": func() promAnswer { return promAnswer{series: []string{stamp("service=db", old)}} },
				"no time":   fixed("service=api NaN"),
			})
			w, diags := m.compile(t, t.TempDir(), prometheusBody("up", c.query, "value > 0", c.more))
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			refs := m.refs(t, "up(api)")
			check := func(who, want string, r Reading) {
				t.Helper()
				if r.Value.Known() != (want == "") || !strings.Contains(r.Err, want) || r.TooOld != (want != "" && !c.never) {
					t.Errorf("%s: wanted %q, got %s too old: %v", who, want, m.show([]Reading{r}), r.TooOld)
				}
			}
			check("guard", c.guard, w.Observe(t.Context(), m.u, refs, time.Now())[0])
			check("confirmation", c.confirm, w.Confirm(t.Context(), m.u, refs, time.Now())[0])
			check("anybody", "", w.Observe(t.Context(), m.u, refs, time.Time{})[0])
			if !c.never {
				check("confirmation of what ended long ago", "", w.Confirm(t.Context(), m.u, refs, time.Now().Add(-2*old))[0])
			}
		})
	}
}

// A clock that is far ahead of the server's tells nothing.
func TestSamplesOfTheFutureHaveNoTime(t *testing.T) {
	const untold = "nothing tells when this was sampled, and "
	for _, c := range []struct {
		name  string
		ahead time.Duration
		why   string // "": it was taken just now
	}{
		{"a little ahead", 4 * time.Second, ""},
		{"ahead", 6 * time.Second, "the time it is given is 6s in the future"},
		{"an hour ahead", time.Hour, "the time it is given is 1h0m0s in the future"},
		{"milliseconds", 0, "the time it is given is not in seconds since 1970"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newTestModel(t)
			now := time.Now()
			stamp := strconv.FormatInt(now.Add(c.ahead).Unix(), 10)
			if c.ahead == 0 {
				stamp += "000"
			}
			at := time.Unix(now.Unix(), 0)
			m.servePrometheus(t, map[string]func() promAnswer{
				"q()":      fixed("service=api 1"),
				"f()":      func() promAnswer { return promAnswer{at: at, series: []string{"service=api " + stamp}} },
				timed("m"): func() promAnswer { return marked(at, -c.ahead, "service=api 1") },
			})
			w := m.mustCompile(t, prometheusBody("up", "q()", "value > 0", `max_age = "1m"`, `freshness = "f()"`)+prometheusBody("in_lb", "m", "value > 0", `max_age = "1m"`))
			asked := []string{"up(api)", "in_lb(api)"}
			if c.ahead == 0 {
				asked = asked[:1]
			}
			for _, ref := range asked {
				guard := w.Observe(t.Context(), m.u, m.refs(t, ref), now)[0]
				confirm := w.Confirm(t.Context(), m.u, m.refs(t, ref), now.Add(-time.Minute))[0]
				anybody := w.Observe(t.Context(), m.u, m.refs(t, ref), time.Time{})[0]
				if c.why == "" {
					if !guard.Value.Known() || guard.Sampled.After(time.Now()) {
						t.Errorf("%s: sampled %s", m.show([]Reading{guard}), guard.Sampled)
					}
					continue
				}
				same(t, guard.Err, untold+"max_age asks for that: "+c.why)
				same(t, confirm.Err, untold+"an effect is only seen in later samples: "+c.why)
				if guard.Value.Known() || confirm.Value.Known() || !anybody.Sampled.IsZero() {
					t.Errorf("%s", m.show([]Reading{guard, confirm, anybody}))
				}
				same(t, m.show([]Reading{anybody}), ref+" = true {value = 1; "+c.why+"}")
			}
		})
	}
}

// Of several times the oldest counts, and one that is not told is older than
// any, in whatever order they come.
func TestATimeThatIsNotToldIsTheOldest(t *testing.T) {
	stamp := func(d time.Duration) string {
		return "service=api,i=" + d.String() + " " + strconv.FormatInt(time.Now().Add(d).Unix(), 10)
	}
	for _, times := range [][]string{
		{stamp(0), "service=api,i=x NaN", stamp(-time.Second)},
		{"service=api,i=x NaN", stamp(0), stamp(-time.Second)},
		{stamp(0), stamp(-time.Second), "service=api,i=x NaN"},
		{stamp(time.Hour), stamp(0)},
	} {
		m := newTestModel(t)
		m.servePrometheus(t, map[string]func() promAnswer{"q()": fixed("service=api 1"), "f()": fixed(times...)})
		w := m.mustCompile(t, prometheusBody("up", "q()", "value > 0", `max_age = "1m"`, `freshness = "f()"`))
		if r := w.Observe(t.Context(), m.u, m.refs(t, "up(api)"), time.Now())[0]; r.Value.Known() || !r.Sampled.IsZero() {
			t.Errorf("%q: %s", times, m.show([]Reading{r}))
		}
	}
}

func TestTimesThatMayNotBeWholeTellNothing(t *testing.T) {
	m := newTestModel(t)
	m.servePrometheus(t, map[string]func() promAnswer{
		"m": fixed("service=api 1"),
		"f()": func() promAnswer {
			return promAnswer{series: []string{"{} " + strconv.FormatInt(time.Now().Unix(), 10)}, warnings: []string{"store-2 timed out"}}
		},
	})
	w := m.mustCompile(t, prometheusBody("up", "m", "value > 0", `max_age = "1m"`, `freshness = "f()"`))
	const why = "the answer of freshness may not be whole: store-2 timed out"
	same(t, m.show(w.Observe(t.Context(), m.u, m.refs(t, "up(api)"), time.Time{})), "up(api) = true {value = 1; "+why+"; warning: store-2 timed out}")
	same(t, w.Observe(t.Context(), m.u, m.refs(t, "up(api)"), time.Now())[0].Err, "nothing tells when this was sampled, and max_age asks for that: "+why)
}

func TestAReductionIsAsOldAsItsOldestSample(t *testing.T) {
	m := newTestModel(t)
	m.servePrometheus(t, map[string]func() promAnswer{timed("m"): func() promAnswer {
		now := time.Now()
		a, b := marked(now, 30*time.Second, "service=api,i=1 1"), marked(now, time.Second, "service=api,i=2 1")
		return promAnswer{at: now, series: append(a.series, b.series...)}
	}})
	w := m.mustCompile(t, prometheusBody("up", "m", "value > 0", `reduce = "all"`))
	r := w.Observe(t.Context(), m.u, m.refs(t, "up(api)"), time.Now())[0]
	if age(r, time.Now()) != 30*time.Second {
		t.Errorf("sampled %s ago", time.Since(r.Sampled))
	}
}

func TestWhatIsAPlainSelector(t *testing.T) {
	for query, want := range map[string]bool{
		"up": true, " up ": true, "a:b_c1": true, "up{}": true, `up{job="x"}`: true, `{__name__="x"}`: true, `up {a!~'b}c', d="\"}"}`: true,
		"up{a=`\\`}": true, "": false, "1": false, "1up": false, "NaN": false, "inf": false, "up == 1": false, "up[5m]": false, "sum(up)": false,
		"up offset 5m": false, "up @ 0": false, "-up": false, "(up)": false, `up{a="b"} > 0`: false, `up{a="b"`: false, `up{a="b}`: false,
		"up # x": false, "up{} or down{}": false, "time()": false, "up{a='b' # }\n}": false,
	} {
		if isSelector(query) != want {
			t.Errorf("%q: %v", query, !want)
		}
	}
}
