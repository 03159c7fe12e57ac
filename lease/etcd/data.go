package etcd

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/etcd/server/v3/storage/wal/walpb"
	"golang.org/x/sys/unix"
	"google.golang.org/protobuf/proto"
)

// checkData refuses a data folder whose database and log do not belong together,
// before etcd has written anything there: it would begin a new log beside an
// old database, or never be ready. What is not there yet is fine, and so is what a
// crash leaves: a log that is cut short where nothing of it was in the database.
func (d stateDir) checkData() (err error) {
	defer func() {
		if p := recover(); p != nil { // How bbolt and the log's reader meet garbage.
			err = fmt.Errorf("%v", p)
		}
	}()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // The database is mapped into memory.
	for _, folder := range []string{"", "member", "member/snap", "member/wal"} {
		path := filepath.Join(d.data(), folder)
		if err := ignoreAbsent(unix.Access(path, unix.W_OK)); err != nil {
			return &fs.PathError{Op: "write to", Path: path, Err: err}
		}
	}
	db, err := readDatabase(filepath.Join(d.data(), "member", "snap", "db"))
	if err != nil {
		return err
	}
	log, err := readWAL(filepath.Join(d.data(), "member", "wal"))
	if err != nil {
		return err
	}
	switch {
	case !log.exists && db.applied == 0:
		return nil // Nothing was ever kept.
	case !log.exists:
		return errors.New("the log (member/wal) of its database is missing")
	case log.member == 0:
		return errors.New("its log (member/wal) is empty")
	case !db.exists && log.snapshot > 0:
		return errors.New("its database (member/snap/db) is missing")
	case db.applied > log.last:
		return fmt.Errorf("its log (member/wal) ends at entry %d, its database has %d", log.last, db.applied)
	case len(db.members) > 0 && !db.members[log.member]:
		return errors.New("its log (member/wal) and its database (member/snap/db) are of different stores")
	}
	return nil
}

// database is what is asked of a database of etcd.
type database struct {
	exists  bool
	applied uint64 // The last entry of the log that is in it.
	members map[uint64]bool
}

func readDatabase(path string) (database, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return database{}, nil
	}
	if err != nil {
		return database{}, err
	}
	out := database{exists: true, members: map[uint64]bool{}}
	if info.Size() == 0 {
		return out, nil // Just created.
	}
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, Timeout: closeTimeout})
	if err != nil {
		return out, fmt.Errorf("its database %s: %w", path, err)
	}
	err = db.View(func(tx *bbolt.Tx) error {
		if tx.Size() > info.Size() {
			return fmt.Errorf("its database %s is cut short: %d of %d bytes", path, info.Size(), tx.Size())
		}
		if b := tx.Bucket(schema.Meta.Name()); b != nil {
			if v := b.Get(schema.MetaConsistentIndexKeyName); len(v) == 8 {
				out.applied = binary.BigEndian.Uint64(v)
			}
		}
		b := tx.Bucket(schema.Members.Name())
		if b == nil {
			return nil
		}
		return b.ForEach(func(id, _ []byte) error {
			n, err := strconv.ParseUint(string(id), 16, 64)
			out.members[n] = true
			return err
		})
	})
	return out, errors.Join(err, db.Close())
}

// logState is what is asked of etcd's log.
type logState struct {
	exists   bool
	member   uint64 // Whose log it is; zero: it does not say.
	last     uint64 // The last entry.
	snapshot uint64 // Entries up to here need not be there any more.
}

func readWAL(dir string) (logState, error) {
	var out logState
	files, err := os.ReadDir(dir) // In order.
	if err != nil {
		return out, ignoreAbsent(err)
	}
	var readers []fileutil.FileReader
	for _, file := range files {
		if filepath.Ext(file.Name()) != ".wal" {
			continue
		}
		f, err := os.Open(filepath.Join(dir, file.Name()))
		if err != nil {
			return out, err
		}
		defer f.Close()
		readers = append(readers, fileutil.NewFileReader(f))
	}
	if out.exists = len(readers) > 0; !out.exists {
		return out, nil
	}
	decoder := wal.NewDecoder(readers...)
	for {
		var rec walpb.Record
		err := decoder.Decode(&rec)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return out, nil // An entry that was being written in a crash: etcd cuts it off.
		}
		if err == nil {
			err = out.add(decoder, &rec)
		}
		if err != nil {
			return out, fmt.Errorf("its log %s: %w", dir, err)
		}
	}
}

func (s *logState) add(decoder wal.Decoder, rec *walpb.Record) error {
	switch rec.GetType() {
	case wal.CrcType: // Begins each file.
		if crc := decoder.LastCRC(); crc != 0 && rec.Validate(crc) != nil {
			return wal.ErrCRCMismatch
		}
		decoder.UpdateCRC(rec.GetCrc())
	case wal.MetadataType:
		var m etcdserverpb.Metadata
		err := proto.Unmarshal(rec.GetData(), &m)
		s.member = m.GetNodeID()
		return err
	case wal.EntryType:
		s.last = wal.MustUnmarshalEntry(rec.GetData()).GetIndex()
	case wal.SnapshotType:
		var snap walpb.Snapshot
		err := proto.Unmarshal(rec.GetData(), &snap)
		s.snapshot = max(s.snapshot, snap.GetIndex())
		s.last = max(s.last, snap.GetIndex())
		return err
	}
	return nil
}
