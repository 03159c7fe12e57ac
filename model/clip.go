package model

// maxName is how many characters of a foreign name a message shows.
const maxName = 120

// Clip shortens a name that came from outside to what a message can show, with
// … in place of the rest: a plan may give an argument of any length.
func Clip(name string) string {
	if len(name) <= maxName {
		return name
	}
	n := 0
	for at := range name {
		if n++; n > maxName {
			return name[:at] + "…"
		}
	}
	return name
}
