package journal

import (
	"fmt"
	"slices"
	"testing"
)

func TestAWriterReadsWhatItHasWritten(t *testing.T) {
	r := start(t, newJournal(t))
	r.Redact("plain-secret")
	must(t, r.Append(testCtx(t), "one", "plain-secret"))
	_, err := r.Ride("never written", nil)
	must(t, err)
	must(t, r.Append(testCtx(t), "two", nil))
	var got []string
	for e, err := range r.Events(testCtx(t)) {
		must(t, err)
		got = append(got, fmt.Sprintf("%d %s %s", e.Seq, e.Kind, e.Data))
	}
	if want := []string{`1 one "(sensitive)"`, "3 two null"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
