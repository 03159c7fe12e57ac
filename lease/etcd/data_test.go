package etcd

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/etcd/server/v3/storage/wal/walpb"
	"go.etcd.io/raft/v3/raftpb"
	"go.uber.org/zap"
	"google.golang.org/protobuf/proto"
)

func TestDamagedDataIsNamedAndKept(t *testing.T) {
	for _, tt := range []struct {
		what, says string
		do         func(t *testing.T, member string)
	}{
		{"database", "its database ", func(t *testing.T, member string) { damage(t, filepath.Join(member, "snap", "db")) }},
		{"log", "its log ", func(t *testing.T, member string) { damage(t, filepath.Join(member, "wal")) }},
		{"a page of the database", "page", func(t *testing.T, member string) {
			f, err := os.OpenFile(filepath.Join(member, "snap", "db"), os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			for page := range int64(14) {
				if _, err := f.WriteAt([]byte(strings.Repeat("garbage ", 16)), 4096*(page+2)); err != nil {
					t.Fatal(err)
				}
			}
		}},
		{"no log", "the log (member/wal) of its database is missing", func(t *testing.T, member string) {
			for _, f := range walFiles(member) {
				must(t, os.Remove(f))
			}
		}},
		{"no log's folder", "the log (member/wal) of its database is missing", func(t *testing.T, member string) {
			must(t, os.RemoveAll(filepath.Join(member, "wal")))
		}},
		{"empty log", "its log (member/wal) is empty", func(t *testing.T, member string) {
			for _, f := range walFiles(member) {
				must(t, os.Truncate(f, 0))
			}
		}},
		{"log cut short", "its log (member/wal) ends at entry ", func(t *testing.T, member string) {
			for _, f := range walFiles(member) {
				must(t, os.Truncate(f, 3000))
			}
		}},
		{"database cut short", "its database ", func(t *testing.T, member string) {
			must(t, os.Truncate(filepath.Join(member, "snap", "db"), 2*4096))
		}},
		{"another's log", "are of different stores", func(t *testing.T, member string) {
			other := filled(t)
			must(t, os.RemoveAll(filepath.Join(member, "wal")))
			must(t, os.Rename(filepath.Join(other, "etcd", "member", "wal"), filepath.Join(member, "wal")))
		}},
	} {
		t.Run(tt.what, func(t *testing.T) {
			dir := filled(t)
			member := filepath.Join(dir, "etcd", "member")
			tt.do(t, member)
			before := contents(t, member)
			msg := openError(t, Config{StateDir: dir, OpenTimeout: 20 * time.Second})
			wants(t, msg, "the embedded etcd cannot start from "+filepath.Join(dir, "etcd")+": ", tt.says,
				"; its data may be damaged: nothing was deleted, move that folder aside to begin anew, or put a copy back")
			if after := contents(t, member); !maps.Equal(before, after) {
				t.Error("something was written into the damaged folder")
			}
			if _, err := os.Stat(filepath.Join(dir, "etcd.sock")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the socket is left behind: %v", err)
			}
			lock, free, err := tryLock(stateDir(dir).lock(), os.O_CREATE)
			if err != nil || !free {
				t.Fatalf("the lock is kept: %v", err)
			}
			must(t, lock.Close())
		})
	}
}

// What a crash or a person may leave that loses nothing is no damage.
func TestWhatEtcdCanMakeUpForIsNoDamage(t *testing.T) {
	for what, do := range map[string]func(member string) error{
		"no database":             func(member string) error { return os.Remove(filepath.Join(member, "snap", "db")) },
		"no database's folder":    func(member string) error { return os.RemoveAll(filepath.Join(member, "snap")) },
		"an entry half written":   halfWritten,
		"a log half preallocated": func(member string) error { return os.Truncate(walFiles(member)[0], 1<<20) },
	} {
		t.Run(what, func(t *testing.T) {
			dir := filled(t)
			member := filepath.Join(dir, "etcd", "member")
			must(t, do(member))
			got, err := mustOpen(t, dir).Client().Get(testCtx(t), "k", clientv3.WithPrefix(), clientv3.WithCountOnly())
			if err != nil || got.Count != 40 {
				t.Errorf("got %v, %v; want 40 keys", got, err)
			}
			if _, err := os.Stat(walFiles(member)[0] + ".broken"); (err == nil) != (what == "an entry half written") {
				t.Errorf("cut off: %v", err == nil)
			}
		})
	}
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "etcd", "member", "snap"), 0o700)) // A first start that was killed.
	must(t, os.WriteFile(filepath.Join(dir, "etcd", "member", "snap", "db"), nil, 0o600))
	mustOpen(t, dir)
}

func TestADatabaseThatTheLogCannotMakeUpForIsMissed(t *testing.T) {
	dir := stateDir(t.TempDir())
	must(t, os.MkdirAll(filepath.Join(dir.data(), "member"), 0o700))
	meta, err := proto.Marshal(&etcdserverpb.Metadata{NodeID: new(uint64(7)), ClusterID: new(uint64(8))})
	must(t, err)
	w, err := wal.Create(zap.NewNop(), filepath.Join(dir.data(), "member", "wal"), meta)
	must(t, err)
	must(t, w.SaveSnapshot(&walpb.Snapshot{Index: new(uint64(9)), Term: new(uint64(1)), ConfState: &raftpb.ConfState{Voters: []uint64{7}}}))
	must(t, w.Close())
	wants(t, openError(t, Config{StateDir: string(dir)}), "its database (member/snap/db) is missing")
}

// halfWritten leaves the log as a crash in the middle of a write does: behind its
// last record begins one that is not whole.
func halfWritten(member string) error {
	path := walFiles(member)[0]
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	decoder := wal.NewDecoder(fileutil.NewFileReader(f))
	var rec walpb.Record
	for decoder.Decode(&rec) == nil {
		if rec.GetType() == wal.CrcType {
			decoder.UpdateCRC(rec.GetCrc())
		}
	}
	end := decoder.LastOffset()
	binary.LittleEndian.PutUint64(raw[end:], 1000)
	copy(raw[end+8:], "half")
	return os.WriteFile(path, raw[:end+200], 0o600)
}

// filled returns a state directory with forty keys, its host ended.
func filled(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	s := mustOpen(t, dir)
	for i := range 40 {
		if _, err := s.Client().Put(testCtx(t), fmt.Sprint("k", i), strings.Repeat("v", 200)); err != nil {
			t.Fatal(err)
		}
	}
	must(t, s.Close())
	return dir
}

func walFiles(member string) []string {
	files, _ := filepath.Glob(filepath.Join(member, "wal", "*.wal"))
	return files
}

// contents returns what is in the files below a folder.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		out[path] = string(raw)
		return err
	}))
	return out
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// damage overwrites the file, or every file of the folder, and returns what it overwrote.
func damage(t *testing.T, path string) []string {
	t.Helper()
	files := []string{path}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		files, _ = filepath.Glob(filepath.Join(path, "*.wal"))
	}
	for _, f := range files {
		if err := os.WriteFile(f, []byte(strings.Repeat("garbage ", 4096)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return files
}
