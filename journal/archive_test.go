package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// withArchive returns a journal with an archive, and three runs: a finished one with a body, one that is newer, one that waits.
func withArchive(t *testing.T) (j *Journal, dir string, ids []string, blob Blob) {
	t.Helper()
	dir = t.TempDir()
	j = OpenWithArchive(store.Client(), newJournal(t).prefix, dir)
	now := time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC)
	j.Now = func() time.Time { return now }
	blob = NewBlob([]byte("output \x00\xff"))
	for i, status := range []string{"succeeded", "waiting", "succeeded"} {
		now = now.Add(time.Hour)
		r, err := j.StartAs(testCtx(t), fmt.Sprintf("01%c/%%", 'A'+i), map[string]string{"status": status})
		must(t, err)
		must(t, r.Append(testCtx(t), "observed", map[string]int{"n": i}))
		must(t, r.Append(testCtx(t), "acted", blob.Ref, blob))
		ids = append(ids, r.ID())
	}
	return j, dir, ids, blob
}

func finished(h Head) bool { return strings.Contains(string(h.Data), "succeeded") }

func before(hour int) time.Time { return time.Date(2026, 7, 1, hour, 30, 0, 0, time.UTC) }

func keysOf(t *testing.T, j *Journal, id string) int64 {
	t.Helper()
	resp, err := store.Client().Get(testCtx(t), j.run(id), clientv3.WithPrefix(), clientv3.WithCountOnly())
	must(t, err)
	return resp.Count
}

func TestArchivedRunsReadAsBefore(t *testing.T) {
	j, dir, ids, blob := withArchive(t)
	heads, err := j.Runs(testCtx(t))
	must(t, err)
	var forgotten []string
	n, err := j.Archive(testCtx(t), dir, Archiving{Before: before(12), Finished: finished, Forget: func(_ context.Context, run string) error {
		forgotten = append(forgotten, run)
		return nil
	}})
	must(t, err)
	if n != 1 || !slices.Equal(forgotten, ids[:1]) || keysOf(t, j, ids[0]) != 0 || keysOf(t, j, ids[1]) == 0 || keysOf(t, j, ids[2]) == 0 {
		t.Fatalf("%d archived, forgotten %q", n, forgotten)
	}
	after, err := j.Runs(testCtx(t))
	must(t, err)
	if got, want := runsOf(after), runsOf(heads); !slices.Equal(got, want) {
		t.Errorf("runs %q, before %q", got, want)
	}
	h, err := j.Head(testCtx(t), ids[0])
	must(t, err)
	if string(h.Data) != `{"status":"succeeded"}` || !h.Started.Equal(before(11).Add(-30*time.Minute)) {
		t.Errorf("head %+v", h)
	}
	if got, want := kinds(t, j, ids[0]), []string{"1 observed", "2 acted"}; !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
	for ev, err := range j.Follow(testCtx(t), ids[0], 1) { // Ends by itself.
		must(t, err)
		if ev.Seq != 2 {
			t.Errorf("followed after 1: %d", ev.Seq)
		}
	}
	body, err := j.Blob(testCtx(t), ids[0], blob.Ref.SHA256)
	if err != nil || string(body) != "output \x00\xff" {
		t.Errorf("body %q, %v", body, err)
	}
	if _, err := j.Blob(testCtx(t), ids[0], "absent"); !errors.Is(err, ErrNotFound) {
		t.Errorf("absent body: %v", err)
	}
	if _, err := j.Resume(testCtx(t), ids[0]); err == nil || !strings.Contains(err.Error(), "finished and archived in "+dir) {
		t.Errorf("resumed: %v", err)
	}
	if _, err := Open(store.Client(), j.prefix).Head(testCtx(t), ids[0]); !errors.Is(err, ErrNotFound) {
		t.Errorf("without its archive: %v", err)
	}
}

func runsOf(heads []Head) (out []string) {
	for _, h := range heads {
		out = append(out, h.Run)
	}
	return out
}

func TestCrashBetweenFileAndPruningLosesNothing(t *testing.T) {
	j, dir, ids, _ := withArchive(t)
	crash := errors.New("killed here")
	a := Archiving{Before: before(12), Finished: finished, Forget: func(context.Context, string) error { return crash }}
	if n, err := j.Archive(testCtx(t), dir, a); n != 0 || !errors.Is(err, crash) {
		t.Fatalf("%d, %v", n, err)
	}
	if heads, err := j.Runs(testCtx(t)); err != nil || len(heads) != 3 {
		t.Errorf("runs %q, %v: one that is in both counts once", runsOf(heads), err)
	}
	must(t, os.WriteFile(j.archived(ids[0]), []byte("half of"), 0o600)) // What is in etcd is what counts.
	if got := kinds(t, j, ids[1]); len(got) != 2 {
		t.Errorf("events %q", got)
	}
	a.Forget = nil
	n, err := j.Archive(testCtx(t), dir, a)
	if n != 1 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	if got := kinds(t, j, ids[0]); len(got) != 2 {
		t.Errorf("events %q", got)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(j.archived("x")), ".*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

func TestRunsThatAreDrivenOrChangedStay(t *testing.T) {
	j, dir, ids, _ := withArchive(t)
	_, err := store.Client().Put(testCtx(t), j.owner(ids[0]), "driven")
	must(t, err)
	r, err := j.Resume(testCtx(t), ids[2])
	must(t, err)
	a := Archiving{Before: before(20), Finished: finished, Forget: func(context.Context, string) error {
		return r.SetHead(testCtx(t), map[string]string{"status": "running"}) // Resumed at the last moment.
	}}
	if n, err := j.Archive(testCtx(t), dir, a); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	for _, id := range ids {
		if keysOf(t, j, id) < 4 {
			t.Errorf("run %s was pruned", id)
		}
	}
}

func TestDamagedArchiveIsNamed(t *testing.T) {
	j, dir, ids, _ := withArchive(t)
	_, err := j.Archive(testCtx(t), dir, Archiving{Before: before(12), Finished: finished})
	must(t, err)
	path := j.archived(ids[0])
	raw, err := os.ReadFile(path)
	must(t, err)
	whole := strings.SplitAfter(string(raw), "\n")
	for name, content := range map[string]string{
		"is damaged after 2 lines": strings.Join(whole[:2], ""),
		"has 3 lines of 4":         whole[0] + whole[1] + whole[2] + whole[4],
	} {
		must(t, os.WriteFile(path, []byte(content), 0o600))
		var last error
		for _, err := range j.Events(testCtx(t), ids[0]) {
			last = err
		}
		if last == nil || !strings.Contains(last.Error(), name) || !strings.Contains(last.Error(), path) {
			t.Errorf("got %v, want %q", last, name)
		}
	}
}
