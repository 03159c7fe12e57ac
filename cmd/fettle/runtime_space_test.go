package main

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/lease/etcd"
)

// With an etcd of 32 MiB: nothing begins where it is nearly full, and what waits goes on once there is room.
func TestNothingBeginsInANearlyFullStore(t *testing.T) {
	const quota = 32 << 20
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	command := func(code int, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		a := &app{in: strings.NewReader(""), out: &out, err: &out, restore: func() {}, quota: quota}
		if got := a.command(ctx, args); got != code {
			t.Fatalf("fettle %v: exit code %d, want %d\n%s", args, got, code, &out)
		}
		return out.String()
	}
	between := func(do func(*clientv3.Client) error) {
		t.Helper()
		s, err := etcd.Open(ctx, etcd.Config{StateDir: filepath.Join(dir, ".fettle"), OpenTimeout: 20 * time.Second, Quota: quota})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := do(s.Client()); err != nil {
			t.Fatal(err)
		}
	}
	command(exitDone, "init", dir)
	command(exitWaiting, "run", dir)
	between(func(cli *clientv3.Client) error {
		for i := range 117 { // Two such values fill eight pages: 29.25 MiB in all.
			var puts []clientv3.Op
			for k := range 16 {
				puts = append(puts, clientv3.OpPut(fmt.Sprintf("filler/%d/%d", i, k), string(make([]byte, 16000))))
			}
			if _, err := cli.Txn(ctx).Then(puts...).Commit(); err != nil {
				return err
			}
		}
		return nil
	})
	full := "etcd is nearly full: 29 of 32 MiB are used, nothing new is begun; let finished runs be archived " +
		"(a shorter retention in the policy), or begin anew with another --state-dir"
	if out := command(exitFailed, "run", "--approve", dir); !strings.HasSuffix(out, "Error: "+full+"\n") {
		t.Errorf("run said %s", out)
	}
	if out := command(exitWaiting, "resume", "last", "--approve", "--model", dir); !strings.Contains(out,
		"Waiting (busy): there is no room left to record more: "+full+", then go on with fettle resume\n") {
		t.Errorf("resume said %s", out)
	}
	between(func(cli *clientv3.Client) error {
		_, err := cli.Delete(ctx, "filler/", clientv3.WithPrefix())
		return err
	})
	command(exitDone, "resume", "last", "--approve", "--model", dir)
}
