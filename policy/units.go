package policy

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"
)

func (d *decoder) duration(name string, zero bool) (time.Duration, bool) {
	v, rng, ok := d.value(name, cty.String)
	if !ok {
		return 0, false
	}
	t, err := parseDuration(v.AsString())
	switch {
	case err != nil:
		d.invalid(name, rng, fmt.Sprintf(`%s must be a duration such as "90s", "10m", "1h30m" or "30d", got %q.`, name, v.AsString()))
	case t < 0:
		d.invalid(name, rng, fmt.Sprintf("%s cannot be negative, got %q.", name, v.AsString()))
	case t == 0 && !zero:
		d.invalid(name, rng, fmt.Sprintf("%s must be more than no time, got %q.", name, v.AsString()))
	default:
		return t, true
	}
	return 0, false
}

// parseDuration reads Go's notation, and days, which a retention is told in.
func parseDuration(s string) (time.Duration, error) {
	days, ok := strings.CutSuffix(s, "d")
	if !ok {
		return time.ParseDuration(s)
	}
	n, err := strconv.ParseUint(days, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("days: %w", err)
	}
	const day = 24 * time.Hour
	if n > math.MaxInt64/uint64(day) {
		return 0, fmt.Errorf("%d days is too long", n)
	}
	return time.Duration(n) * day, nil
}

// spell writes a duration for a person: 10m and not 10m0s, to the second where
// it is longer than a minute.
func spell(d time.Duration) string {
	if d >= time.Minute {
		d = d.Round(time.Second)
	} else {
		d = d.Round(10 * time.Millisecond)
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// units of memory, by their usual names.
var units = []struct {
	name string
	size float64
}{
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"TiB", 1 << 40},
	{"kB", 1e3},
	{"KB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"TB", 1e12},
	{"B", 1},
}

// memory reads a number of bytes, or a string with a unit.
func (d *decoder) memory(name string) (int64, bool) {
	v, rng, ok := d.value(name, cty.String) // a number converts to its digits
	if !ok {
		return 0, false
	}
	n, err := ParseMemory(v.AsString())
	if err != nil {
		d.invalid(name, rng, fmt.Sprintf(`%s must be a number of bytes, or a size such as "512MiB" or "2GB", got %q.`, name, v.AsString()))
	}
	return n, err == nil
}

// ParseMemory reads an amount of memory in bytes: 1048576, 512MiB, 2GB. The
// amount is at least one byte.
func ParseMemory(s string) (int64, error) {
	size := 1.0
	digits := s
	for _, u := range units {
		if rest, ok := strings.CutSuffix(s, u.name); ok {
			digits, size = strings.TrimSpace(rest), u.size
			break
		}
	}
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || n*size < 1 || n*size >= math.MaxInt64 || math.IsNaN(n) {
		return 0, fmt.Errorf("%q is no amount of memory; write for example 512MiB", s)
	}
	return int64(n * size), nil
}
