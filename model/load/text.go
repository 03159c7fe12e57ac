package load

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
)

// notText returns a diagnostic for a file that is no text as HCL reads it,
// whose parser would report each of its characters.
func notText(name string, data []byte) *hcl.Diagnostic {
	const how = "A model is UTF-8 text with lines that end in a line feed"
	say := func(at int, detail string) *hcl.Diagnostic {
		rng := oneByte(name, data, at)
		return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Not a text file", Detail: detail, Subject: &rng}
	}
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return say(0, how+", and this is UTF-16. Save it as UTF-8.")
	case bytes.IndexByte(data, 0) >= 0:
		return say(bytes.IndexByte(data, 0), how+"; a byte 0x00 stands in none. Look whether the file is what its name says.")
	}
	if at := invalid(data); at >= 0 {
		return say(at, fmt.Sprintf("%s, and the byte 0x%02x here is not UTF-8. Save the file as UTF-8.", how, data[at]))
	}
	if at := bytes.IndexByte(data, '\r'); at >= 0 && bytes.IndexByte(data, '\n') < 0 {
		return say(at, how+", with or without a carriage return before it, and here they end in carriage returns alone. Save it with other line ends.")
	}
	return nil
}

// invalid returns where a text ceases to be UTF-8, -1 where it does not.
func invalid(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	for i := 0; ; {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
}

// oneByte is the range of a byte, whose column counts characters.
func oneByte(name string, data []byte, at int) hcl.Range {
	before := data[:at]
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	start := hcl.Pos{Line: 1 + bytes.Count(before, []byte("\n")), Column: 1 + utf8.RuneCount(line), Byte: at}
	end := start
	end.Column++
	end.Byte++
	return hcl.Range{Filename: name, Start: start, End: end}
}
