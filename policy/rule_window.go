package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fettleops/fettle/model"
)

// dayWindow is a part of the day on some days of the week, by the wall clock of
// a zone. One whose end is not after its start lasts overnight and belongs to
// the day on which it starts.
//
// The wall clock decides: a time that a change of clocks makes come twice is
// within both times, and one that it leaves out never comes.
type dayWindow struct {
	days       [7]bool // by time.Weekday
	start, end int     // seconds from midnight, by the wall clock
	zone       *time.Location
}

// contains tells whether an instant is within the window: from its start on,
// and before its end.
func (w dayWindow) contains(at time.Time) bool {
	at = at.In(w.zone)
	h, m, s := at.Clock()
	now := 3600*h + 60*m + s
	if w.start < w.end {
		return w.days[at.Weekday()] && now >= w.start && now < w.end
	}
	return w.days[at.Weekday()] && now >= w.start || now < w.end && w.days[dayBefore(at)]
}

// dayBefore returns the weekday of the date before an instant's. It is counted
// from noon to noon, since a date may have no midnight, and may be left out.
func dayBefore(at time.Time) time.Weekday {
	y, m, d := at.Date()
	return time.Date(y, m, d, 12, 0, 0, 0, at.Location()).Add(-24 * time.Hour).Weekday()
}

// weekdays are the words for days, by time.Weekday.
var weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// parseDays reads a list of days: mon, mon-fri, sat,sun, daily or *.
func parseDays(text string) (days [7]bool, err error) {
	if text == "daily" || text == "*" {
		return [7]bool{true, true, true, true, true, true, true}, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			last = first
		}
		from, err := parseDay(first)
		if err != nil {
			return days, err
		}
		to, err := parseDay(last)
		if err != nil {
			return days, err
		}
		for d := from; ; d = (d + 1) % 7 {
			days[d] = true
			if d == to {
				break
			}
		}
	}
	return days, nil
}

func parseDay(word string) (int, error) {
	word = strings.TrimSpace(word)
	if d := slices.Index(weekdays, word); d >= 0 {
		return d, nil
	}
	const grammar = "days are mon, tue, wed, thu, fri, sat, sun, in lists and ranges such as \"mon-fri\" or \"sat,sun\", or \"daily\""
	if word == "" {
		return 0, fmt.Errorf("a day is missing; %s", grammar)
	}
	near := model.Nearest(word, weekdays)
	if lower := strings.ToLower(word); len(lower) >= 3 && slices.Contains(weekdays, lower[:3]) {
		near = lower[:3]
	}
	if near != "" {
		return 0, fmt.Errorf("there is no day %q, did you mean %q? %s", model.Clip(word), near, strings.ToUpper(grammar[:1])+grammar[1:])
	}
	return 0, fmt.Errorf("there is no day %q; %s", model.Clip(word), grammar)
}

const wholeDay = 24 * 3600

// parseHours reads a part of the day: 22:00-06:00, 00:00-24:00.
func parseHours(text string) (start, end int, err error) {
	from, to, ok := strings.Cut(text, "-")
	if !ok {
		return 0, 0, fmt.Errorf("%q is no part of a day; write it as in \"22:00-06:00\", the whole day as \"00:00-24:00\"", model.Clip(text))
	}
	if start, err = parseClock(from); err == nil {
		end, err = parseClock(to)
	}
	switch {
	case err != nil:
		return 0, 0, err
	case start == wholeDay:
		return 0, 0, fmt.Errorf("nothing starts at 24:00; write 00:00, of the next day")
	case start == end:
		return 0, 0, fmt.Errorf("%q starts when it ends; the whole day is \"00:00-24:00\"", model.Clip(text))
	case end == 0: // midnight, where the day ends
		end = wholeDay
	}
	return start, end, nil
}

func parseClock(text string) (int, error) {
	text = strings.TrimSpace(text)
	hours, minutes, ok := strings.Cut(text, ":")
	h, errH := strconv.ParseUint(hours, 10, 8)
	m, errM := strconv.ParseUint(minutes, 10, 8)
	if !ok || errH != nil || errM != nil || len(minutes) != 2 || h > 24 || m > 59 || h == 24 && m > 0 {
		return 0, fmt.Errorf("%q is no time of day; write hours from 00 to 24 and minutes, as in \"06:30\"", model.Clip(text))
	}
	return int(3600*h + 60*m), nil
}
