package main

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// TestTheWholeHistoryIsReadBackFromACopy writes with one etcd, ends it, and
// reads what it left: deleted keys, leases and order included.
func TestTheWholeHistoryIsReadBackFromACopy(t *testing.T) {
	ctx := context.Background()
	state := t.TempDir()
	client, stop, err := openEtcd(ctx, filepath.Join(state, "etcd"))
	if err != nil {
		t.Fatal(err)
	}
	lease, err := client.Grant(ctx, 60)
	if err != nil {
		t.Fatal(err)
	}
	must := func(op clientv3.Op) int64 {
		t.Helper()
		resp, err := client.Txn(ctx).Then(op, clientv3.OpPut("head", "1")).Commit()
		if err != nil {
			t.Fatal(err)
		}
		return resp.Header.Revision
	}
	first := must(clientv3.OpPut("p/k/in_lb/x/api/l", "held", clientv3.WithLease(lease.ID)))
	second := must(clientv3.OpDelete("p/k/in_lb/x/api/l"))
	stop()
	before := listing(t, state)

	got, err := readHistory(ctx, state, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	want := []change{
		{Rev: first, Key: "p/k/in_lb/x/api/l", Create: first, Value: "held"},
		{Rev: first, Key: "head", Create: first, Value: "1"},
		{Rev: second, Key: "p/k/in_lb/x/api/l", Delete: true},
		{Rev: second, Key: "head", Create: first, Value: "1"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if after := listing(t, state); !reflect.DeepEqual(before, after) {
		t.Errorf("the evidence was changed: %v, before %v", after, before)
	}
}

func listing(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		out[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestNoEtcdDataIsToldPlainly(t *testing.T) {
	dir := t.TempDir()
	_, err := readHistory(context.Background(), dir, t.TempDir())
	if err == nil || err.Error() != "there is no etcd data below "+dir {
		t.Fatalf("got %v", err)
	}
}
