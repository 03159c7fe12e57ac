package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"
	clientv3 "go.etcd.io/etcd/client/v3"
)

func TestEventsComeInOrderRiddenOrAppended(t *testing.T) {
	j := newJournal(t)
	r := start(t, j)
	if _, err := ulid.Parse(r.ID()); err != nil {
		t.Errorf("id %q: %v", r.ID(), err)
	}
	must(t, r.Append(testCtx(t), "observed", map[string]int{"n": 1}))
	ridden, err := r.Ride("armed", []int{2})
	must(t, err)
	_, err = store.Client().Txn(testCtx(t)).If(ridden.Cmps()...).Then(ridden.Ops()...).Commit()
	must(t, err)
	must(t, r.Append(testCtx(t), "a kind nobody knows", nil))
	if got, want := kinds(t, j, r.ID()), []string{"1 observed", "2 armed", "3 a kind nobody knows"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for ev, err := range j.Events(testCtx(t), r.ID()) {
		must(t, err)
		if ev.Run != r.ID() || string(ev.Data) != `{"n":1}` || !ev.Time.Equal(time.Date(2026, 7, 1, 10, 0, 4, 0, time.UTC)) {
			t.Errorf("event %+v", ev)
		}
		break
	}
}

func TestFailedRideLeavesNoHoleThatBreaksReading(t *testing.T) {
	j := newJournal(t)
	r := start(t, j)
	must(t, r.Append(testCtx(t), "one", nil))
	lost, err := r.Ride("lost", nil)
	must(t, err)
	never := clientv3.Compare(clientv3.CreateRevision("absent"), ">", 0)
	resp, err := store.Client().Txn(testCtx(t)).If(never).Then(lost.Ops()...).Commit()
	must(t, err)
	if resp.Succeeded {
		t.Fatal("the transaction was to fail")
	}
	must(t, r.Append(testCtx(t), "three", nil))
	if got, want := kinds(t, j, r.ID()), []string{"1 one", "3 three"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestReadingGoesOverManyPages(t *testing.T) {
	j := newJournal(t)
	r := start(t, j)
	const n = 2*pageSize + 1
	for i := 0; i < n; {
		var ops []clientv3.Op
		for ; i < n && len(ops) < 100; i++ {
			e, err := r.Ride(fmt.Sprint("k", i+1), nil)
			must(t, err)
			ops = append(ops, e.Ops()...)
		}
		_, err := store.Client().Txn(testCtx(t)).Then(ops...).Commit()
		must(t, err)
	}
	got := kinds(t, j, r.ID())
	if len(got) != n || got[0] != "1 k1" || got[n-1] != fmt.Sprintf("%d k%d", n, n) {
		t.Errorf("%d events, first %q, last %q", len(got), got[0], got[len(got)-1])
	}
}

func TestSecondWriterIsToldSo(t *testing.T) {
	j := newJournal(t)
	first := start(t, j)
	must(t, first.Append(testCtx(t), "one", nil))
	second, err := j.Resume(testCtx(t), first.ID())
	must(t, err)
	must(t, second.Append(testCtx(t), "two", nil))
	if err := first.Append(testCtx(t), "mine", nil); !errors.Is(err, ErrNotWriter) {
		t.Errorf("first writer: %v, want %v", err, ErrNotWriter)
	}
	if got, want := kinds(t, j, first.ID()), []string{"1 one", "2 two"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := j.StartAs(testCtx(t), first.ID(), nil); !errors.Is(err, ErrNotWriter) {
		t.Errorf("started twice: %v", err)
	}
	if _, err := j.Resume(testCtx(t), "absent"); !errors.Is(err, ErrNotFound) {
		t.Errorf("resumed what is not there: %v", err)
	}
}

func TestAppendWhoseAnswerWasLostIsWrittenOnce(t *testing.T) {
	j := newJournal(t)
	r := start(t, j)
	e, err := r.Ride("once", 1)
	must(t, err)
	for range 2 { // The second finds its own.
		must(t, j.putOnce(testCtx(t), e.key, e.value, e.Ops()))
	}
	if got := kinds(t, j, r.ID()); !slices.Equal(got, []string{"1 once"}) {
		t.Errorf("got %q", got)
	}
}

func TestHeadsAreUpdatedInPlaceAndListedNewestFirst(t *testing.T) {
	j := newJournal(t)
	var ids []string
	for _, id := range []string{"01A", "01B", "01C"} {
		r, err := j.StartAs(testCtx(t), id, "running")
		must(t, err)
		must(t, r.Append(testCtx(t), "e", nil))
		ids = append(ids, r.ID())
		if id == "01B" {
			must(t, r.SetHead(testCtx(t), "done"))
		}
	}
	_, err := store.Client().Put(testCtx(t), j.run("01D")+"owner", "claimed, not started")
	must(t, err)
	heads, err := j.Runs(testCtx(t))
	must(t, err)
	var got []string
	for _, h := range heads {
		got = append(got, h.Run+" "+string(h.Data))
	}
	if want := []string{`01C "running"`, `01B "done"`, `01A "running"`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	h, err := j.Head(testCtx(t), ids[1])
	if err != nil || !h.Updated.After(h.Started) || h.Started.IsZero() {
		t.Errorf("head %+v, %v", h, err)
	}
	_, err = store.Client().Delete(testCtx(t), j.run("01A"), clientv3.WithPrefix())
	must(t, err)
	gone := &Run{j: j, id: "01A"}
	if err := gone.SetHead(testCtx(t), "x"); !errors.Is(err, ErrNotFound) {
		t.Errorf("head of a pruned run: %v", err)
	}
}

func TestFollowYieldsWhatIsThereAndWhatComes(t *testing.T) {
	j := newJournal(t)
	r := start(t, j)
	must(t, r.Append(testCtx(t), "before", nil))
	ctx, cancel := context.WithCancel(testCtx(t))
	defer cancel()
	var got []string
	for ev, err := range j.Follow(ctx, r.ID(), 0) {
		must(t, err)
		got = append(got, fmt.Sprintf("%d %s", ev.Seq, ev.Kind))
		switch ev.Seq {
		case 1, 2:
			must(t, r.Append(testCtx(t), "after", nil))
		case 3:
			cancel() // Ends the loop without an error.
		}
	}
	if want := []string{"1 before", "2 after", "3 after"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for ev, err := range j.Follow(testCtx(t), r.ID(), 2) {
		must(t, err)
		if ev.Seq != 3 {
			t.Errorf("followed after 2: %d", ev.Seq)
		}
		break
	}
}

func TestBodiesAreCappedAndNamedByTheirDigest(t *testing.T) {
	j := newJournal(t)
	r := start(t, j)
	small, big := NewBlob([]byte("ok")), NewBlob(bytes.Repeat([]byte("x"), MaxBlob+1))
	must(t, r.Append(testCtx(t), "acted", []Ref{small.Ref, big.Ref}, small, big, small))
	if small.Ref != (Ref{SHA256: "2689367b205c16ce32ed4200942b8b8b1e262dfc70d9bc9fbc77c49699a4f1df", Size: 2}) {
		t.Errorf("ref %+v", small.Ref)
	}
	if !big.Ref.Cut || big.Ref.Size != MaxBlob+1 {
		t.Errorf("ref %+v", big.Ref)
	}
	for _, b := range []Blob{small, big} {
		got, err := j.Blob(testCtx(t), r.ID(), b.Ref.SHA256)
		if err != nil || !bytes.Equal(got, b.body) || len(got) > MaxBlob {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	}
	if _, err := j.Blob(testCtx(t), r.ID(), "absent"); !errors.Is(err, ErrNotFound) {
		t.Errorf("absent blob: %v", err)
	}
	twice, err := r.Ride("a", nil, small, small)
	must(t, err)
	if _, err := store.Client().Txn(testCtx(t)).Then(twice.Ops()...).Commit(); err != nil {
		t.Errorf("an event with one body twice: %v", err)
	}
}

func TestCapDoesNotCutThroughACharacter(t *testing.T) {
	for pad := range 4 {
		body := []byte(strings.Repeat("a", pad) + strings.Repeat("€😀", MaxBlob/7+1))
		got, cut := Cap(body)
		if !cut || len(got) > MaxBlob || len(got) < MaxBlob-3 || !utf8.Valid(got) {
			t.Errorf("pad %d: %d bytes, cut %v, valid %v", pad, len(got), cut, utf8.Valid(got))
		}
	}
	if got, cut := Cap(bytes.Repeat([]byte{0x80}, MaxBlob+9)); !cut || len(got) != MaxBlob {
		t.Errorf("binary: %d bytes, cut %v", len(got), cut)
	}
	if got, cut := Cap(make([]byte, MaxBlob)); cut || len(got) != MaxBlob {
		t.Errorf("just fitting: %d bytes, cut %v", len(got), cut)
	}
}

func TestBigEventsAreRefused(t *testing.T) {
	r := start(t, newJournal(t))
	err := r.Append(testCtx(t), "acted", strings.Repeat("x", MaxEvent))
	if err == nil || err.Error() != "journal: acted of 262146 bytes, more than 262144; put its body into a blob" {
		t.Errorf("got %v", err)
	}
	if err := r.Append(testCtx(t), "acted", func() {}); err == nil {
		t.Error("data that is no JSON was taken")
	}
	must(t, r.Append(testCtx(t), "first", nil))
	if got := kinds(t, r.j, r.ID()); !slices.Equal(got, []string{"1 first"}) {
		t.Errorf("got %q: a refused event takes no number", got)
	}
}

func TestUnreadableEventIsAnErrorThatNamesIt(t *testing.T) {
	j := newJournal(t)
	r := start(t, j)
	_, err := store.Client().Put(testCtx(t), j.event(r.ID(), 1), "{")
	must(t, err)
	for _, err := range j.Events(testCtx(t), r.ID()) {
		if err == nil || !strings.Contains(err.Error(), j.event(r.ID(), 1)+" cannot be read") {
			t.Errorf("got %v", err)
		}
	}
}

func TestNothingWaitsOnADeadEtcd(t *testing.T) {
	dead, err := clientv3.New(clientv3.Config{Endpoints: []string{"unix:///nowhere.sock"}})
	must(t, err)
	defer dead.Close()
	j := Open(dead, "p/")
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := j.Start(ctx, nil); err == nil {
		t.Error("started without etcd")
	}
	for _, err := range j.Events(ctx, "r") {
		if err == nil {
			t.Error("an event without etcd")
		}
	}
}
