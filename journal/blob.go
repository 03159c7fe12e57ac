package journal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"unicode/utf8"
)

// Ref refers to a body from an event's data.
type Ref struct {
	SHA256 string `json:"sha256"`        // Of what is kept, in hex.
	Size   int    `json:"size"`          // Of the whole body, in bytes.
	Cut    bool   `json:"cut,omitempty"` // Whether only the beginning is kept.
}

// Blob is a body that goes with an event: an output, a prompt, a reply.
type Blob struct {
	Ref  Ref
	body []byte
}

// NewBlob caps a body and names it by its digest. It does no I/O.
func NewBlob(body []byte) Blob {
	kept, cut := Cap(body)
	sum := sha256.Sum256(kept)
	return Blob{Ref: Ref{SHA256: hex.EncodeToString(sum[:]), Size: len(body), Cut: cut}, body: slices.Clone(kept)}
}

// Cap returns the beginning of a body that may be kept, at most MaxBlob bytes,
// and whether something was cut off. It does not cut through a character.
func Cap(body []byte) ([]byte, bool) {
	if len(body) <= MaxBlob {
		return body, false
	}
	end := MaxBlob
	for i := range utf8.UTFMax {
		if utf8.RuneStart(body[MaxBlob-i]) {
			end = MaxBlob - i
			break
		}
	}
	return body[:end], true
}

// Blob returns a body of a run. It returns ErrNotFound where there is none of that digest.
func (j *Journal) Blob(ctx context.Context, run, sum string) ([]byte, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	resp, err := j.cli.Get(ctx, j.blob(run, sum))
	if err != nil {
		return nil, fmt.Errorf("journal: blob %s of run %s: %w", sum, run, err)
	}
	if len(resp.Kvs) == 0 {
		if body, err := j.archivedBlob(run, sum); err == nil {
			return body, nil
		}
		return nil, fmt.Errorf("journal: blob %s of run %s: %w", sum, run, ErrNotFound)
	}
	return resp.Kvs[0].Value, nil
}
