package executor

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/fettleops/fettle/journal"
)

// kept is what is written of a model, by the digests of its bodies.
func kept(t *testing.T, m *ModelText, redact func(json.RawMessage) json.RawMessage) (*RecordedModel, map[string][]byte) {
	t.Helper()
	run, err := journal.Open(store.Client(), "recorded/v1/"+t.Name()+"/").Start(testCtx(t), map[string]any{})
	must(t, err)
	rec, blobs := m.record(redact)
	must(t, run.Append(testCtx(t), RunStarted, Started{Model: rec}, blobs...))
	bodies := map[string][]byte{}
	for _, ref := range rec.Parts {
		b, err := journal.Open(store.Client(), "recorded/v1/"+t.Name()+"/").Blob(testCtx(t), run.ID(), ref.SHA256)
		must(t, err)
		bodies[ref.SHA256] = b
	}
	return rec, bodies
}

func asItIs(raw json.RawMessage) json.RawMessage { return raw }

func bodyOf(bodies map[string][]byte) func(string) ([]byte, error) {
	return func(sum string) ([]byte, error) {
		if b, ok := bodies[sum]; ok {
			return b, nil
		}
		return nil, errors.New("it is lost")
	}
}

// noise is text that hardly gets smaller.
func noise(n int) string {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for b.Len() < n {
		b.WriteByte(byte('!' + r.IntN(90)))
	}
	return b.String()
}

// TestTheRecordedModelIsReadBack promises the same text, however large, up to
// the bound that is documented, and beyond it that the journal says so.
func TestTheRecordedModelIsReadBack(t *testing.T) {
	for name, text := range map[string]string{"small": "type \"s\" {}\n", "in parts": noise(300 << 10)} {
		t.Run(name, func(t *testing.T) {
			m := &ModelText{Files: map[string]string{"a.fettle.hcl": text}, Vars: map[string]string{"v": "1"}, Sensitive: []string{"token"}}
			rec, bodies := kept(t, m, asItIs)
			got, err := rec.Text(bodyOf(bodies))
			must(t, err)
			if !reflect.DeepEqual(got, m) {
				t.Errorf("got another text of %d bytes", len(got.Files["a.fettle.hcl"]))
			}
			_, err = rec.Text(bodyOf(nil))
			if err == nil || !strings.Contains(err.Error(), "the recorded model: it is lost") {
				t.Errorf("without its bodies: %v", err)
			}
		})
	}
	huge := &ModelText{Files: map[string]string{"a.fettle.hcl": noise(2 << 20)}}
	rec, blobs := huge.record(asItIs)
	if !rec.TooLarge || len(blobs) > 0 {
		t.Errorf("%+v with %d bodies", rec, len(blobs))
	}
	if _, err := rec.Text(bodyOf(nil)); err == nil || !strings.Contains(err.Error(), "more than the journal keeps") {
		t.Errorf("error %v", err)
	}
}

// TestTheRecordedModelHasNoSecrets promises that what the journal keeps out of
// its events is not in a model's body either, packed or not.
func TestTheRecordedModelHasNoSecrets(t *testing.T) {
	const secret = "hunter2 <&> \"quoted\""
	run, err := journal.Open(store.Client(), "recorded/v1/secret/").Start(testCtx(t), map[string]any{})
	must(t, err)
	run.Redact(secret)
	m := &ModelText{
		Files: map[string]string{"a.fettle.hcl": "# " + secret + "\n"},
		Vars:  map[string]string{"copy": "x" + secret},
	}
	rec, bodies := kept(t, m, run.Redacted)
	got, err := rec.Text(bodyOf(bodies))
	must(t, err)
	if want := (&ModelText{Files: map[string]string{"a.fettle.hcl": "# (sensitive)\n"}, Vars: map[string]string{"copy": "x(sensitive)"}}); !reflect.DeepEqual(got, want) {
		t.Errorf("kept %+v", got)
	}
}

// TestManyValuesAreReadBackWhole promises that the values of ten thousand
// objects fit into the journal, so that a run over them can be gone on with and
// replayed.
func TestManyValuesAreReadBackWhole(t *testing.T) {
	changed := map[string]any{}
	for i := range 10_000 {
		changed[fmt.Sprintf("replicas(pod-%05d)", i)] = float64(i % 7)
	}
	vals, blobs := values(changed)
	if vals.Body == nil || vals.Body.Cut || len(blobs) != 1 {
		t.Fatalf("%+v with %d bodies", vals.Body, len(blobs))
	}
	run, err := journal.Open(store.Client(), "recorded/v1/many/").Start(testCtx(t), map[string]any{})
	must(t, err)
	must(t, run.Append(testCtx(t), Observed, Observation{Values: vals}, blobs...))
	got, whole, err := vals.Read(func(sum string) ([]byte, error) {
		return journal.Open(store.Client(), "recorded/v1/many/").Blob(testCtx(t), run.ID(), sum)
	})
	must(t, err)
	if !whole || !reflect.DeepEqual(got, changed) {
		t.Errorf("got %d values", len(got))
	}
}
