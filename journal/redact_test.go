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

// TestMoreThanSecretsIsTakenOut: what RedactBy says goes after the secrets, but
// for what must stay as it is besides them.
func TestMoreThanSecretsIsTakenOut(t *testing.T) {
	j := newJournal(t)
	run, err := j.Start(context.Background(), map[string]string{})
	if err != nil {
		t.Fatal(err)
	}
	run.Redact("plain")
	run.RedactBy(func(raw json.RawMessage) json.RawMessage {
		return json.RawMessage(strings.ReplaceAll(string(raw), "looks", "(redacted)"))
	})
	if err := run.Append(context.Background(), "said", "plain looks"); err != nil {
		t.Fatal(err)
	}
	for e, err := range j.Events(context.Background(), run.ID()) {
		if err != nil || string(e.Data) != `"(sensitive) (redacted)"` {
			t.Errorf("written: %s, %v", e.Data, err)
		}
	}
	if got := run.WithoutSecrets(json.RawMessage(`"plain looks"`)); string(got) != `"(sensitive) looks"` {
		t.Errorf("without secrets alone: %s", got)
	}
}
