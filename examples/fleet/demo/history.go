package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
)

const etcdWithin = 15 * time.Second

// change is one key changed at one revision, as etcd itself recorded it.
type change struct {
	Rev    int64
	Key    string
	Delete bool
	Create int64 // Revision at which the key was created; 0 for a delete.
	Value  string
}

// readHistory opens a copy of the etcd data below stateDir, and reads every
// change since revision 1 by a watch over all keys.
func readHistory(ctx context.Context, stateDir, scratch string) ([]change, error) {
	data, err := findData(stateDir)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(scratch, "etcd-copy")
	if err := os.CopyFS(filepath.Join(dir, "member"), memberFiles{os.DirFS(filepath.Join(data, "member"))}); err != nil {
		return nil, fmt.Errorf("copy etcd's data: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, etcdWithin)
	defer cancel()
	client, stop, err := openEtcd(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer stop()
	return watchAll(ctx, client)
}

// memberFiles leaves out what is not a plain file, such as a socket.
type memberFiles struct{ fs.FS }

func (m memberFiles) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(m.FS, name)
	kept := entries[:0]
	for _, e := range entries {
		if e.IsDir() || e.Type().IsRegular() {
			kept = append(kept, e)
		}
	}
	return kept, err
}

// findData looks for the folder that holds etcd's "member" folder.
func findData(stateDir string) (string, error) {
	var found string
	err := filepath.WalkDir(stateDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "member" {
			found = filepath.Dir(path)
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("look for etcd's data: %w", err)
	}
	if found == "" {
		return "", fmt.Errorf("there is no etcd data below %s", stateDir)
	}
	return found, nil
}

// openEtcd serves the data on unix sockets in a short private folder.
func openEtcd(ctx context.Context, data string) (*clientv3.Client, func(), error) {
	sockets, err := os.MkdirTemp("", "oracle")
	if err != nil {
		return nil, nil, fmt.Errorf("folder for sockets: %w", err)
	}
	cfg := embed.NewConfig()
	cfg.Dir, cfg.Name = data, "default"
	cfg.LogLevel, cfg.LogOutputs = "fatal", []string{"/dev/null"}
	cfg.TickMs, cfg.ElectionMs = 10, 100
	clients := url.URL{Scheme: "unix", Path: filepath.Join(sockets, "c")}
	peers := url.URL{Scheme: "unix", Path: filepath.Join(sockets, "p")}
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{clients}, []url.URL{clients}
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{peers}, []url.URL{peers}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	server, err := embed.StartEtcd(cfg)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open etcd's data: %w", err), os.RemoveAll(sockets))
	}
	stop := func() {
		server.Close()
		_ = os.RemoveAll(sockets)
	}
	select {
	case <-server.Server.ReadyNotify():
	case <-ctx.Done():
		stop()
		return nil, nil, fmt.Errorf("etcd's data did not come up: %w", ctx.Err())
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{clients.String()}, DialTimeout: 5 * time.Second})
	if err != nil {
		stop()
		return nil, nil, fmt.Errorf("speak to etcd: %w", err)
	}
	return client, func() { _ = client.Close(); stop() }, nil
}

// watchAll reads from revision 1 up to the one at which it began.
func watchAll(ctx context.Context, client *clientv3.Client) ([]change, error) {
	now, err := client.Get(ctx, "\x00", clientv3.WithFromKey(), clientv3.WithCountOnly())
	if err != nil {
		return nil, fmt.Errorf("read etcd's revision: %w", err)
	}
	last := now.Header.Revision
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var out []change
	if last <= 1 {
		return nil, nil
	}
	for answer := range client.Watch(ctx, "\x00", clientv3.WithFromKey(), clientv3.WithRev(1)) {
		if err := answer.Err(); err != nil {
			return nil, fmt.Errorf("watch from revision 1: %w", err)
		}
		for _, e := range answer.Events {
			if e.Kv.ModRevision > last {
				return out, nil
			}
			out = append(out, change{e.Kv.ModRevision, string(e.Kv.Key), e.Type == clientv3.EventTypeDelete, e.Kv.CreateRevision, string(e.Kv.Value)})
		}
		if answer.Header.Revision >= last && len(out) > 0 && out[len(out)-1].Rev >= last {
			return out, nil
		}
	}
	return nil, fmt.Errorf("watch from revision 1: %w", ctx.Err())
}
