package world

import (
	"net/http"
	"strings"
)

// open headers say how to talk, not who talks.
var openHeaders = map[string]bool{
	"Accept": true, "Accept-Charset": true, "Accept-Encoding": true, "Accept-Language": true, "Cache-Control": true,
	"Content-Type": true, "User-Agent": true,
}

// minSecret is the length below which a header's value is no secret: taking
// out every "1" would spoil a text and protect nothing.
const minSecret = 6

// secrets returns what of a request's headers must not be shown. An answer may
// repeat it.
func secrets(h http.Header) []string {
	var out []string
	for name, values := range h {
		if openHeaders[http.CanonicalHeaderKey(name)] {
			continue
		}
		for _, v := range values {
			if len(v) >= minSecret {
				out = append(out, v)
			}
			if _, credential, ok := strings.Cut(v, " "); ok && len(credential) >= minSecret {
				out = append(out, credential)
			}
		}
	}
	return out
}

// redact takes secrets out of a text, also one that the text has only the
// beginning of because it was cut.
func redact(s string, secrets []string) string {
	for _, secret := range secrets {
		head := secret[:min(len(secret), 8)]
		for from := 0; ; {
			i := strings.Index(s[from:], head)
			if i < 0 {
				break
			}
			i += from
			n := len(head)
			for n < len(secret) && i+n < len(s) && s[i+n] == secret[n] {
				n++
			}
			s = s[:i] + "[redacted]" + s[i+n:]
			from = i + len("[redacted]")
		}
	}
	return s
}
