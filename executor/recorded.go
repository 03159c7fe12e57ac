package executor

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/fettleops/fettle/journal"
)

// ModelText is a model as it was read: enough to read it again. What env() and
// file() gave is not in it, nor what sensitive variables are set to: those may
// be secrets.
type ModelText struct {
	Files     map[string]string `json:"files"`               // contents by name, without folder; no tests
	Vars      map[string]string `json:"vars,omitempty"`      // values of variables that were given from outside
	Sensitive []string          `json:"sensitive,omitempty"` // names of variables whose values and defaults are left out
}

// RecordedModel is where the journal has the model that a run is driven with.
type RecordedModel struct {
	Parts []journal.Ref `json:"parts,omitempty"` // of the compressed text, in their order
	Size  int           `json:"size"`            // of the text, in bytes
	// TooLarge says that the model is left out: it has more than MaxRecorded
	// bytes, compressed.
	TooLarge bool `json:"too_large,omitempty"`
}

// MaxRecorded is the size of a compressed model, in bytes, above which the
// journal does not keep it. All of it goes into one request to etcd.
const MaxRecorded = 12 * journal.MaxBlob

// maxUnpacked bounds what a compressed body is unpacked to.
const maxUnpacked = 64 << 20

// record returns what the first event of a run says of its model, with the
// bodies. Redact takes the secrets out of the text before it is compressed;
// what looks like one is out of it already, as far as it can be read without.
func (m *ModelText) record(redact func(json.RawMessage) json.RawMessage) (*RecordedModel, []journal.Blob) {
	if m == nil {
		return nil, nil
	}
	raw, err := json.Marshal(m) // Strings: cannot fail.
	if err != nil {
		return nil, nil
	}
	raw = redact(raw)
	packed := pack(raw)
	rec := &RecordedModel{Size: len(raw)}
	if len(packed) > MaxRecorded {
		rec.TooLarge = true
		return rec, nil
	}
	var blobs []journal.Blob
	for len(packed) > 0 {
		n := min(len(packed), journal.MaxBlob)
		b := journal.NewBlob(packed[:n])
		rec.Parts = append(rec.Parts, b.Ref)
		blobs = append(blobs, b)
		packed = packed[n:]
	}
	return rec, blobs
}

func pack(raw []byte) []byte {
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	_, err := w.Write(raw)
	if err = errors.Join(err, w.Close()); err != nil { // Into memory: cannot fail.
		return nil
	}
	return buf.Bytes()
}

// isPacked tells a compressed body from JSON.
func isPacked(raw []byte) bool { return bytes.HasPrefix(raw, []byte{0x1f, 0x8b}) }

func unpack(packed []byte) ([]byte, error) {
	zr, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("a body cannot be unpacked: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(zr, maxUnpacked))
	if err != nil {
		return nil, fmt.Errorf("a body cannot be unpacked: %w", err)
	}
	return raw, nil
}

// Text reads the model back, given the bodies of the run by their digests.
func (m *RecordedModel) Text(body func(sum string) ([]byte, error)) (*ModelText, error) {
	if m.TooLarge {
		return nil, fmt.Errorf("the model has %d bytes, more than the journal keeps", m.Size)
	}
	var packed []byte
	for _, ref := range m.Parts {
		part, err := body(ref.SHA256)
		if err != nil {
			return nil, fmt.Errorf("the recorded model: %w", err)
		}
		packed = append(packed, part...)
	}
	raw, err := unpack(packed)
	if err != nil {
		return nil, fmt.Errorf("the recorded model: %w", err)
	}
	var t ModelText
	if err := json.Unmarshal(raw, &t); err != nil {
		return nil, fmt.Errorf("the recorded model cannot be read: %w", err)
	}
	return &t, nil
}
