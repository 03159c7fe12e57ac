package world

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestSecretsAreTakenOutOfBase64: wherever in a text a secret stands, itself or as
// JSON writes it, base64 of the whole shows nothing of it but what is left of the
// characters that it shares with what is around it.
func TestSecretsAreTakenOutOfBase64(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching(`[a-zA-Z0-9/"<&é\\]{8,40}`).Draw(t, "secret")
		around := rapid.StringMatching(`[ -.:-@]{0,7}`)
		before, after, text := around.Draw(t, "before"), around.Draw(t, "after"), secret
		if rapid.Bool().Draw(t, "json") {
			raw, err := json.Marshal(secret)
			if err != nil {
				t.Fatal(err)
			}
			before, after, text = before+`"`, `"`+after, inner(string(raw))
		}
		alphabets := []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding}
		coded := alphabets[rapid.IntRange(0, len(alphabets)-1).Draw(t, "alphabet")].EncodeToString([]byte(before + text + after))
		left, right, found := strings.Cut(Hide([]string{secret}, nil)(coded), hiddenMark)
		if !found {
			t.Fatalf("%q is in %s, which is shown as it is", secret, coded)
		}
		if most := (8*len(before) + 5) / 6; len(left) > most {
			t.Fatalf("%s is left before it: %d characters, at most %d are not its own", left, len(left), most)
		}
		if most := len(coded) - 8*len(before+text)/6; len(right) > most {
			t.Fatalf("%s is left after it: %d characters, at most %d are not its own", right, len(right), most)
		}
	})
}

// TestFormsAreTheLongestFirst: one form may begin another, and each is there once.
func TestFormsAreTheLongestFirst(t *testing.T) {
	forms := Forms([]string{"abc", "abcd", "abcdefgh", "abcd"})
	seen := map[string]bool{}
	for i, f := range forms {
		if seen[f] {
			t.Errorf("%q is there twice", f)
		}
		seen[f] = true
		if i > 0 && len(f) > len(forms[i-1]) {
			t.Errorf("%q comes after %q", f, forms[i-1])
		}
	}
	if seen["abc"] || !seen["abcd"] || !seen["abcdefgh"] {
		t.Errorf("%q", forms)
	}
	if got := Hide([]string{"abcd", "abcdefgh"}, nil)("x abcdefgh y"); got != "x (sensitive) y" {
		t.Errorf("%q", got)
	}
	if got := Hide(nil, nil)("abcd"); got != "abcd" {
		t.Errorf("%q", got)
	}
}
