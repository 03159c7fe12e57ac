package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // a machine may have no time zones of its own

	"github.com/fettleops/fettle/model"
)

// parseZone finds a time zone by its name in the IANA database. It has to be
// named: the zone of the machine would make one policy mean two things.
func parseZone(name string) (*time.Location, error) {
	const example = "name it as in \"Europe/Berlin\" or \"UTC\""
	switch name {
	case "":
		return nil, fmt.Errorf("a time zone is missing; %s", example)
	case "Local", "localtime":
		return nil, fmt.Errorf("the zone of the machine would make one policy mean different things on different machines; %s", example)
	}
	if zone, err := time.LoadLocation(name); err == nil {
		return zone, nil
	}
	if near := nearestZone(name); near != "" {
		return nil, fmt.Errorf("there is no time zone %q; did you mean %q?", model.Clip(name), near)
	}
	return nil, fmt.Errorf("there is no time zone %q; %s", model.Clip(name), example)
}

// fixedZones are names that are read as abbreviations of a zone with a summer
// time, and stand for an offset that never changes.
var fixedZones = map[string]string{"EST": "America/New_York", "MST": "America/Denver", "HST": "Pacific/Honolulu"}

// abbreviations that name no zone, and where they are in use.
var abbreviations = map[string]string{
	"PST": "America/Los_Angeles", "PDT": "America/Los_Angeles", "EDT": "America/New_York",
	"CST": "America/Chicago", "CDT": "America/Chicago", "MDT": "America/Denver",
	"BST": "Europe/London", "CEST": "Europe/Berlin", "IST": "Asia/Kolkata", "JST": "Asia/Tokyo", "AEST": "Australia/Sydney",
}

// nearestZone returns the zone that a name may have meant: one in use by many,
// or one that is there once blanks and letters are mended.
func nearestZone(name string) string {
	if zone := abbreviations[strings.ToUpper(name)]; zone != "" {
		return zone
	}
	mended := strings.ReplaceAll(strings.TrimSpace(name), " ", "_")
	if _, err := time.LoadLocation(mended); err == nil && mended != "" && mended != "Local" {
		return mended
	}
	if near := model.Nearest(mended, commonZones); near != "" {
		return near
	}
	i := slices.IndexFunc(commonZones, func(z string) bool {
		_, city, _ := strings.Cut(z, "/")
		return strings.EqualFold(z, mended) || strings.EqualFold(city, mended)
	})
	if i < 0 {
		return ""
	}
	return commonZones[i]
}

// commonZones are offered in place of a name that is misspelt.
var commonZones = []string{
	"UTC", "Africa/Cairo", "Africa/Johannesburg", "Africa/Lagos", "Africa/Nairobi",
	"America/Anchorage", "America/Argentina/Buenos_Aires", "America/Bogota", "America/Chicago", "America/Denver", "America/Halifax",
	"America/Lima", "America/Los_Angeles", "America/Mexico_City", "America/New_York", "America/Phoenix", "America/Santiago",
	"America/Sao_Paulo", "America/St_Johns", "America/Toronto", "America/Vancouver",
	"Asia/Bangkok", "Asia/Dhaka", "Asia/Dubai", "Asia/Hong_Kong", "Asia/Jakarta", "Asia/Jerusalem", "Asia/Karachi", "Asia/Kathmandu",
	"Asia/Kolkata", "Asia/Manila", "Asia/Riyadh", "Asia/Seoul", "Asia/Shanghai", "Asia/Singapore", "Asia/Taipei", "Asia/Tehran", "Asia/Tokyo",
	"Australia/Adelaide", "Australia/Brisbane", "Australia/Melbourne", "Australia/Perth", "Australia/Sydney",
	"Europe/Amsterdam", "Europe/Athens", "Europe/Berlin", "Europe/Brussels", "Europe/Dublin", "Europe/Helsinki", "Europe/Istanbul",
	"Europe/Kyiv", "Europe/Lisbon", "Europe/London", "Europe/Madrid", "Europe/Moscow", "Europe/Oslo", "Europe/Paris", "Europe/Prague",
	"Europe/Rome", "Europe/Stockholm", "Europe/Vienna", "Europe/Warsaw", "Europe/Zurich",
	"Pacific/Auckland", "Pacific/Honolulu",
}
