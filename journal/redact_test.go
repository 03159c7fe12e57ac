package journal

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
)

func TestSecretsAreNotWritten(t *testing.T) {
	j := newJournal(t)
	run, err := j.Start(context.Background(), map[string]string{})
	if err != nil {
		t.Fatal(err)
	}
	run.Redact("sekret\"123", "abc", "plain", "plain-secret")
	if err := run.Append(context.Background(), "said", map[string]string{"a": `got sekret"123 there`, "b": "plain-secret", "c": "abc"}); err != nil {
		t.Fatal(err)
	}
	for e, err := range j.Events(context.Background(), run.ID()) {
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(e.Data) || strings.Contains(string(e.Data), "sekret") || strings.Contains(string(e.Data), "-secret") {
			t.Errorf("written: %s", e.Data)
		}
		if !strings.Contains(string(e.Data), "got (sensitive) there") || !strings.Contains(string(e.Data), `"abc"`) {
			t.Errorf("not as expected: %s", e.Data)
		}
	}
}
