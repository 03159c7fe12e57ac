package policy

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fettleops/fettle/docs"
)

// withShared is a policy with a shared block, which begins on the second line.
func withShared(block []byte) []byte {
	return []byte("policy {\n" + string(block) + `
  max_rounds = 3
  max_attempts = 3
  max_actions = 30
  deadline = "10m"
  max_repeats = 2
  same_failure_retries = 2
  no_evidence_rounds = 2
  max_errors = 5
}
`)
}

// TestSharedDiagnostics holds each mistake in a shared block to its message, word for word.
func TestSharedDiagnostics(t *testing.T) {
	const file = "testdata/shared.txtar"
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(ar.Files); i += 2 {
		f, want := ar.Files[i], &ar.Files[i+1]
		if strings.TrimSuffix(f.Name, ".hcl") != strings.TrimSuffix(want.Name, ".txt") {
			t.Fatalf("%s is followed by %s", f.Name, want.Name)
		}
		_, diags := decode(t, f.Name, withShared(f.Data))
		got := lines(diags)
		if *update {
			want.Data = []byte(got)
		}
		if got != string(want.Data) {
			t.Errorf("%s: got\n%swant\n%s", f.Name, got, want.Data)
		}
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(ar), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSharedIsDecoded(t *testing.T) {
	p, diags := decode(t, "shared", withShared([]byte(`shared {
  window         = "1h"
  max_per_object = 3
  max_per_action = 10
  max_total      = 20
  cooldown       = "5m"
  breaker        = 4
  breaker_reset  = "2h"
  ineffective    = "30m"
}`)))
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	want := Shared{
		Window: time.Hour, MaxPerObject: AtMost(3), MaxPerAction: AtMost(10), MaxTotal: AtMost(20), Cooldown: AtMost(5 * time.Minute),
		Breaker: AtMost(4), BreakerReset: AtMost(2 * time.Hour), Ineffective: AtMost(30 * time.Minute),
	}
	if p.Shared != want {
		t.Errorf("got  %+v\nwant %+v", p.Shared, want)
	}
	if none, _ := decode(t, "none", withShared(nil)); none.Shared != (Shared{}) || none.Shared.LimitsActions() || none.Shared.LimitsRuns() {
		t.Errorf("without a block: %+v", none.Shared)
	}
}

// TestReferenceNamesEverySharedLimit promises that the language reference names
// what a shared block may say, and no other.
func TestReferenceNamesEverySharedLimit(t *testing.T) {
	same(t, "shared", docs.Tables()["shared"], sharedSchema)
	if got, want := len(sharedSchema.Attributes), reflect.TypeFor[Shared]().NumField(); got != want {
		t.Errorf("%d attributes are read into %d fields", got, want)
	}
}
