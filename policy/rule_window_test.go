package policy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// utc reads 03-08 07:00 as an instant of 2026, or of another year where it is
// given.
func utc(t testing.TB, text string) time.Time {
	t.Helper()
	if strings.Count(text, "-") == 1 {
		text = "2026-" + text
	}
	at, err := time.Parse("2006-01-02 15:04", text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// TestWindowsFollowTheWallClock holds windows to the instants in UTC at which
// they start and end, as a person finds them with a calendar: in weeks in which
// clocks are changed, in zones that are off by less than an hour, and where a
// date has no midnight, two of them, or does not exist.
func TestWindowsFollowTheWallClock(t *testing.T) {
	const ny = "America/New_York"
	for _, c := range []struct {
		days, hours, zone string
		from, to          string // what is looked at, minute by minute
		open              string // from – to, …
	}{
		{"sun", "01:00-04:00", ny, "03-07 00:00", "03-10 00:00", "03-08 06:00 – 03-08 08:00"},                            // two hours
		{"sun", "01:00-04:00", ny, "10-31 00:00", "11-03 00:00", "11-01 05:00 – 11-01 09:00"},                            // four
		{"sun", "02:00-03:00", ny, "03-07 00:00", "03-10 00:00", ""},                                                     // never comes
		{"sun", "02:30-03:30", ny, "03-07 00:00", "03-10 00:00", "03-08 07:00 – 03-08 07:30"},                            // half of it
		{"sun", "01:15-01:45", ny, "10-31 00:00", "11-03 00:00", "11-01 05:15 – 11-01 05:45, 11-01 06:15 – 11-01 06:45"}, // twice
		{"sun", "01:30-02:30", ny, "10-31 00:00", "11-03 00:00", "11-01 05:30 – 11-01 06:00, 11-01 06:30 – 11-01 07:30"},
		{"fri", "22:00-06:00", ny, "03-05 00:00", "03-09 00:00", "03-07 03:00 – 03-07 11:00"}, // friday's night
		{"sat", "22:00-06:00", ny, "03-07 00:00", "03-10 00:00", "03-08 03:00 – 03-08 10:00"}, // seven hours
		{"sat", "22:00-06:00", ny, "10-31 00:00", "11-03 00:00", "11-01 02:00 – 11-01 11:00"}, // nine
		{"sun", "00:00-24:00", ny, "03-07 00:00", "03-11 00:00", "03-08 05:00 – 03-09 04:00"}, // 23 hours
		{"sun", "00:00-24:00", ny, "10-31 00:00", "11-04 00:00", "11-01 04:00 – 11-02 05:00"}, // 25
		{"sat", "22:00-00:00", ny, "10-30 00:00", "11-03 00:00", "11-01 02:00 – 11-01 04:00"},
		{"sat-mon", "23:30-00:30", "UTC", "06-05 00:00", "06-10 00:00", "06-06 23:30 – 06-07 00:30, 06-07 23:30 – 06-08 00:30, 06-08 23:30 – 06-09 00:30"},
		{"mon,wed-thu", "12:00-12:01", "UTC", "06-01 00:00", "06-08 00:00", "06-01 12:00 – 06-01 12:01, 06-03 12:00 – 06-03 12:01, 06-04 12:00 – 06-04 12:01"},
		{"daily", "00:00-24:00", "UTC", "06-01 00:00", "06-02 00:00", "06-01 00:00 – 06-02 00:00"},
		{"*", "23:59-24:00", "UTC", "06-01 00:00", "06-02 00:00", "06-01 23:59 – 06-02 00:00"},
		{"mon", "09:00-17:00", "Asia/Kathmandu", "05-31 00:00", "06-03 00:00", "06-01 03:15 – 06-01 11:15"},
		{"mon", "09:00-17:00", "Pacific/Chatham", "05-31 00:00", "06-03 00:00", "05-31 20:15 – 06-01 04:15"},
		{"sun", "01:30-02:00", "Australia/Lord_Howe", "04-03 00:00", "04-07 00:00", "04-04 14:30 – 04-04 15:30"},                       // back by half an hour
		{"sat", "23:00-00:30", "Asia/Beirut", "03-27 00:00", "03-31 00:00", "03-28 21:00 – 03-28 22:00"},                               // no midnight
		{"sat", "23:30-00:30", "America/Havana", "10-31 00:00", "11-03 00:00", "11-01 03:30 – 11-01 04:30, 11-01 05:00 – 11-01 05:30"}, // midnight twice
		{"thu", "22:00-06:00", "Pacific/Apia", "2011-12-28 00:00", "2012-01-02 00:00", "2011-12-30 08:00 – 2011-12-30 16:00"},          // no friday
		{"fri", "22:00-06:00", "Pacific/Apia", "2011-12-28 00:00", "2012-01-02 00:00", ""},
	} {
		name := strings.Join([]string{c.days, c.hours, c.zone, c.from}, " ")
		p := rulesOf(t, fmt.Sprintf("rule \"r\" {\n  effect = deny\n  when = \"during('%s', '%s', '%s')\"\n}\n", c.days, c.hours, c.zone))
		within := func(at time.Time) bool { return p.Rule(Facts{Now: at}).Effect == EffectDeny }
		var spans []string
		var start time.Time
		to := utc(t, c.to)
		layout := "01-02 15:04"
		if strings.Count(c.from, "-") > 1 {
			layout = "2006-01-02 15:04"
		}
		for at := utc(t, c.from); !at.After(to); at = at.Add(time.Minute) {
			open := within(at) && at.Before(to)
			switch {
			case open && start.IsZero():
				start = at
				if within(at.Add(-time.Nanosecond)) && at.After(utc(t, c.from)) {
					t.Errorf("%s: it is open before %s", name, at)
				}
			case !open && !start.IsZero():
				spans = append(spans, start.Format(layout)+" – "+at.Format(layout))
				start = time.Time{}
				if !within(at.Add(-time.Nanosecond)) {
					t.Errorf("%s: it is closed before %s", name, at)
				}
			}
		}
		if got := strings.Join(spans, ", "); got != c.open {
			t.Errorf("%s: open %s, want %s", name, got, c.open)
		}
	}
}

// TestOvernightWindowBelongsToTheDayItStarts: Friday's night has Saturday's
// small hours, not its own.
func TestOvernightWindowBelongsToTheDayItStarts(t *testing.T) {
	p := rulesOf(t, "rule \"r\" {\n  effect = deny\n  when = \"during('fri', '22:00-06:00', 'UTC')\"\n}\n")
	for at, want := range map[string]RuleEffect{"06-05 02:00": "", "06-05 22:00": EffectDeny, "06-06 02:00": EffectDeny, "06-06 06:00": "", "06-06 22:00": ""} {
		if got := p.Rule(Facts{Now: utc(t, at)}).Effect; got != want {
			t.Errorf("%s: %q, want %q", at, got, want)
		}
	}
}

// TestTimesOfTheDay: hour, weekday and date are those of the zone.
func TestTimesOfTheDay(t *testing.T) {
	for _, c := range []struct{ at, holds string }{
		{"11-01 05:30", "hour('America/New_York') == 1 && weekday('America/New_York') == 'sun' && date('America/New_York') == '2026-11-01'"},
		{"11-01 06:30", "hour('America/New_York') == 1"},
		{"03-08 07:00", "hour('America/New_York') == 3"},
		{"11-02 04:59", "weekday('America/New_York') == 'sun' && weekday('UTC') == 'mon'"},
		{"12-24 23:30", "date('Pacific/Auckland') == '2026-12-25' && date('UTC') >= '2026-12-24' && date('UTC') < '2026-12-25'"},
	} {
		p := rulesOf(t, fmt.Sprintf("rule \"r\" {\n  effect = deny\n  when = \"%s\"\n}\n", c.holds))
		if p.Rule(Facts{Now: utc(t, c.at)}).Effect != EffectDeny {
			t.Errorf("at %s it is not so that %s", c.at, c.holds)
		}
	}
}

// TestDenialTellsWhenItEnds: where only time stands in the way, a denial tells
// the first instant at which it would not be given.
func TestDenialTellsWhenItEnds(t *testing.T) {
	const night = "during('sat', '22:00-06:00', 'America/New_York')"
	deeds := []Deed{{Action: "drain", Ground: "drain(api)", At: time.Date(2026, 6, 1, 11, 50, 0, 0, time.UTC)}}
	for _, c := range []struct{ rules, now, opens string }{
		{night, "03-08 05:00", "03-08 10:00"},
		{night, "11-01 05:00", "11-01 11:00"},
		{"!(during('mon-fri', '09:00-17:00', 'Europe/Berlin'))", "03-27 16:30", "03-30 07:00"}, // the clocks are changed in between
		{night + " || during('sun', '05:00-08:00', 'America/New_York')", "03-08 05:00", "03-08 12:00"},
		{"plan.length == 0", "03-08 05:00", ""},
		{"plan.length == 1 || during('daily', '00:00-24:00', 'UTC')", "03-08 05:00", ""},
		{"date('UTC') < '2026-06-03'", "06-01 12:00", "06-03 00:00"},
		{"date('UTC') < '2026-06-30'", "06-01 12:00", ""}, // too far ahead
		{"hour('Asia/Kathmandu') < 9", "06-01 00:00", "06-01 03:15"},
		{"weekday('Asia/Kathmandu') == 'mon'", "06-01 00:00", "06-01 18:15"},
		{"times('drain', '1h') > 0", "06-01 12:00", "06-01 12:50"},
	} {
		p := rulesOf(t, fmt.Sprintf("rule \"r\" {\n  effect = deny\n  when = \"%s\"\n}\n", c.rules))
		got := p.Rule(Facts{Now: utc(t, c.now), History: deeds})
		var want time.Time
		if c.opens != "" {
			want = utc(t, c.opens)
		}
		if got.Effect != EffectDeny || !got.Opens.Equal(want) {
			t.Errorf("%s at %s: %s until %s, want %s", c.rules, c.now, got.Effect, got.Opens, want)
		}
	}
}

// TestDenialEndsWhenAWatchSeesItEnd: the instant that a denial tells is the one
// that a look at every minute finds.
func TestDenialEndsWhenAWatchSeesItEnd(t *testing.T) {
	zones := []string{"America/New_York", "Australia/Lord_Howe", "America/Havana", "Asia/Kathmandu", "UTC"}
	starts := []string{"03-06 00:00", "10-30 00:00", "04-03 00:00", "06-01 00:00"}
	rapid.Check(t, func(r *rapid.T) {
		var whens []string
		for range rapid.IntRange(1, 3).Draw(r, "windows") {
			minute := rapid.IntRange(0, 95)
			a, b := minute.Draw(r, "start")*15, minute.Draw(r, "end")*15
			if a == b {
				b += 15
			}
			days := rapid.SampledFrom([]string{"sat", "sun", "fri-mon", "daily", "mon,wed"}).Draw(r, "days")
			w := fmt.Sprintf("during('%s', '%02d:%02d-%02d:%02d', '%s')", days, a/60, a%60, b/60, b%60, rapid.SampledFrom(zones).Draw(r, "zone"))
			if rapid.Bool().Draw(r, "not") {
				w = "!" + w
			}
			whens = append(whens, w)
		}
		p := rulesOf(t, fmt.Sprintf("rule \"r\" {\n  effect = deny\n  when = \"%s\"\n}\n", strings.Join(whens, rapid.SampledFrom([]string{" && ", " || "}).Draw(r, "join"))))
		now := utc(t, rapid.SampledFrom(starts).Draw(r, "now")).Add(time.Duration(rapid.IntRange(0, 4*24*60).Draw(r, "minutes")) * time.Minute)
		ruling := p.Rule(Facts{Now: now})
		if ruling.Effect != EffectDeny {
			return
		}
		for at := now.Truncate(15 * time.Minute).Add(15 * time.Minute); !at.After(now.Add(ahead)); at = at.Add(15 * time.Minute) {
			if p.rule(Facts{Now: at}).Effect == EffectDeny {
				continue
			}
			if !ruling.Opens.Equal(at) {
				r.Fatalf("%s at %s: opens %s, want %s", p.Rules[0].When, now, ruling.Opens, at)
			}
			return
		}
		if !ruling.Opens.IsZero() {
			r.Fatalf("%s at %s: opens %s, and it never does", p.Rules[0].When, now, ruling.Opens)
		}
	})
}
