package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// OpenWithArchive is Open, where finished runs may have been moved to files below
// a folder (the state directory). What is not in etcd is read there.
func OpenWithArchive(cli *clientv3.Client, prefix, dir string) *Journal {
	j := Open(cli, prefix)
	j.archive = archiveDir(dir, prefix)
	return j
}

// archiveDir is where the files of one scope are: a file per run.
func archiveDir(dir, prefix string) string {
	return filepath.Join(dir, "archive", url.PathEscape(strings.TrimSuffix(prefix, "/")))
}

const archiveExt = ".jsonl"

func (j *Journal) archived(id string) string {
	return filepath.Join(j.archive, url.PathEscape(id)+archiveExt)
}

// Archiving says which runs are moved to the archive.
type Archiving struct {
	// Before is the time before which they were last updated.
	Before time.Time
	// Finished tells from the head whether a run is over: neither under way, nor
	// waiting, nor with an action in doubt. The journal itself cannot know.
	Finished func(Head) bool
	// Forget takes away what else is kept of a run, its intents, once the file is
	// safe and before the run is pruned. Where it fails the run stays. Nil: nothing.
	Forget func(ctx context.Context, run string) error
}

// Archive moves finished runs to files below a folder, one JSON value a line, and
// prunes them from etcd: the file is written, synced and renamed into place
// before anything is deleted, and the deletion is one transaction, so that a
// crash in between loses nothing; the next call goes on. A run that is driven or
// was updated meanwhile stays. It returns how many were moved, also with an
// error, which may be several: one run that cannot be moved does not keep others back.
func (j *Journal) Archive(ctx context.Context, dir string, a Archiving) (int, error) {
	heads, err := j.stored(ctx)
	if err != nil {
		return 0, err
	}
	folder := archiveDir(dir, j.prefix)
	n := 0
	var errs []error
	for _, h := range heads {
		if !h.Updated.Before(a.Before) || a.Finished == nil || !a.Finished(h) {
			continue
		}
		moved, err := j.move(ctx, folder, h, a.Forget)
		if err != nil {
			errs = append(errs, fmt.Errorf("journal: archive run %s: %w", h.Run, err))
			if ctx.Err() != nil {
				break
			}
		}
		if moved {
			n++
		}
	}
	return n, errors.Join(errs...)
}

func (j *Journal) move(ctx context.Context, folder string, h Head, forget func(context.Context, string) error) (bool, error) {
	if driven, err := j.driven(ctx, h.Run); err != nil || driven {
		return false, err
	}
	if err := j.write(ctx, folder, h); err != nil {
		return false, err
	}
	if forget != nil {
		if err := forget(ctx, h.Run); err != nil {
			return false, err
		}
	}
	return j.prune(ctx, h)
}

// owner is the key that package lease keeps of the process that drives a run.
func (j *Journal) owner(id string) string { return j.run(id) + "owner" }

func (j *Journal) driven(ctx context.Context, id string) (bool, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	resp, err := j.cli.Get(ctx, j.owner(id), clientv3.WithCountOnly())
	if err != nil {
		return false, err
	}
	return resp.Count > 0, nil
}

// prune deletes all of a run, if its head is as it was written to the file and nobody drives it.
func (j *Journal) prune(ctx context.Context, h Head) (bool, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	same := clientv3.Compare(clientv3.ModRevision(j.head(h.Run)), "=", h.Revision)
	resp, err := j.cli.Txn(ctx).If(same, absent(j.owner(h.Run))).
		Then(clientv3.OpDelete(j.run(h.Run), clientv3.WithPrefix())).Commit()
	if err != nil {
		return false, err
	}
	return resp.Succeeded, nil
}

// write writes the file of a run, as of one revision, and returns when it is safe on the disk.
func (j *Journal) write(ctx context.Context, folder string, h Head) (err error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(folder, ".new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, ignoreClosed(f.Close()), os.Remove(f.Name()))
		}
	}()
	if err := j.export(ctx, f, h); err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	name := filepath.Join(folder, url.PathEscape(h.Run)+archiveExt)
	if err := os.Rename(f.Name(), name); err != nil {
		return err
	}
	return syncDir(folder)
}

func ignoreClosed(err error) error {
	if errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return err
}

// syncDir makes a renaming in a folder, and the folder itself, last.
func syncDir(folder string) error {
	for _, path := range []string{folder, filepath.Dir(folder), filepath.Dir(filepath.Dir(folder))} {
		d, err := os.Open(path)
		if err != nil {
			return err
		}
		if err := errors.Join(d.Sync(), d.Close()); err != nil {
			return err
		}
	}
	return nil
}
