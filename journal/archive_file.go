package journal

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// line is one line of an archived run: its head first, then its events in their
// order, then the bodies, and last how many lines that were.
type line struct {
	Head  *Head  `json:"head,omitempty"`
	Event *Event `json:"event,omitempty"`
	Blob  *body  `json:"blob,omitempty"`
	Lines int    `json:"lines,omitempty"`
}

type body struct {
	SHA256 string `json:"sha256"`
	Body   []byte `json:"body"`
}

// export writes the run as it was when the store was at the revision of its first page.
func (j *Journal) export(ctx context.Context, w io.Writer, h Head) error {
	buf := bufio.NewWriter(w)
	enc := json.NewEncoder(buf)
	n := 1
	if err := enc.Encode(line{Head: &h}); err != nil {
		return err
	}
	revision := int64(0)
	for _, part := range []string{j.events(h.Run), j.blobs(h.Run)} {
		from, end := part, clientv3.GetPrefixRangeEnd(part)
		for {
			resp, err := j.pageAt(ctx, from, end, revision)
			if err != nil {
				return err
			}
			revision = resp.Header.Revision
			for _, kv := range resp.Kvs {
				l := line{Blob: &body{SHA256: strings.TrimPrefix(string(kv.Key), part), Body: kv.Value}}
				if part == j.events(h.Run) {
					ev, err := decodeEvent(kv)
					if err != nil {
						return err
					}
					l = line{Event: &ev}
				}
				if err := enc.Encode(l); err != nil {
					return err
				}
				n++
				from = string(kv.Key) + "\x00"
			}
			if !resp.More {
				break
			}
		}
	}
	return errors.Join(enc.Encode(line{Lines: n}), buf.Flush())
}

// pageAt reads few keys at once, since bodies may be large. Revision 0 is the newest.
func (j *Journal) pageAt(ctx context.Context, from, to string, revision int64) (*clientv3.GetResponse, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	resp, err := j.cli.Get(ctx, from, clientv3.WithRange(to), clientv3.WithLimit(16), clientv3.WithRev(revision))
	if err == nil && revision > 0 {
		resp.Header.Revision = revision
	}
	return resp, err
}

// lines yields the lines of an archived run. It ends at the first error, one
// that is ErrNotFound where there is no such file.
func (j *Journal) lines(id string) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		path := j.archived(id)
		f, err := os.Open(path)
		if j.archive == "" || errors.Is(err, fs.ErrNotExist) {
			yield(line{}, fmt.Errorf("%w: %s", ErrNotFound, id))
			return
		}
		if err != nil {
			yield(line{}, fmt.Errorf("journal: archived run %s: %w", id, err))
			return
		}
		defer f.Close()
		dec := json.NewDecoder(bufio.NewReader(f))
		for n := 0; ; n++ {
			var l line
			if err := dec.Decode(&l); err != nil {
				yield(line{}, fmt.Errorf("journal: archived run %s: %s is damaged after %d lines: %w", id, path, n, err))
				return
			}
			if l.Lines != 0 && l.Lines != n {
				yield(line{}, fmt.Errorf("journal: archived run %s: %s has %d lines of %d", id, path, n, l.Lines))
				return
			}
			if l.Lines != 0 || !yield(l, nil) {
				return
			}
		}
	}
}

func (j *Journal) archivedHead(id string) (Head, error) {
	for l, err := range j.lines(id) {
		if err != nil {
			return Head{}, err
		}
		if l.Head != nil {
			return *l.Head, nil
		}
		break
	}
	return Head{}, fmt.Errorf("journal: archived run %s: %s does not begin with its head", id, j.archived(id))
}

// archivedHeads returns the heads of all archived runs. A damaged file costs no
// more than itself: its head says so.
func (j *Journal) archivedHeads() ([]Head, error) {
	if j.archive == "" {
		return nil, nil
	}
	files, err := os.ReadDir(j.archive)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("journal: archive: %w", err)
	}
	var out []Head
	for _, f := range files {
		name, ok := strings.CutSuffix(filepath.Base(f.Name()), archiveExt)
		if !ok || strings.HasPrefix(name, ".") {
			continue
		}
		id, err := url.PathUnescape(name)
		if err != nil {
			continue // Not a file of ours.
		}
		h, err := j.archivedHead(id)
		if err == nil && h.Run != id {
			err = fmt.Errorf("journal: archived run %s: %s is of run %s", id, j.archived(id), h.Run)
		}
		if err != nil {
			h = Head{Run: id, Damaged: err}
		}
		out = append(out, h)
	}
	return out, nil
}

// archivedEvents yields the events of an archived run after a number; see read.
func (j *Journal) archivedEvents(id string, after int64, yield func(Event, error) bool) {
	for l, err := range j.lines(id) {
		if err != nil {
			yield(Event{}, err)
			return
		}
		if l.Event != nil && l.Event.Seq > after && !yield(*l.Event, nil) {
			return
		}
	}
}

func (j *Journal) archivedBlob(id, sum string) ([]byte, error) {
	for l, err := range j.lines(id) {
		if err != nil {
			return nil, err
		}
		if l.Blob != nil && l.Blob.SHA256 == url.PathEscape(sum) {
			return l.Blob.Body, nil
		}
	}
	return nil, ErrNotFound
}
