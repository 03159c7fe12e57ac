// Package etcd opens the store that leases and the journal live in: an etcd
// cluster reached over its endpoints, or, where none are named, one etcd
// embedded in this process with its data in the state directory. Both give the
// same client, so nothing above can tell them apart.
//
// The embedded server listens only on unix sockets in a folder of mode 0700:
// whoever can write to the store can forge an approval. One process hosts it,
// guarded by a file lock; every other command on the host finds the socket and
// joins, and one of them takes the host's place when that ends.
//
// It refuses a state directory that belongs to somebody else, is full,
// read-only or damaged, and says how to mend it; it never deletes data. One that
// is taken away while it is in use ends everything that uses it.
package etcd

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Version is the version of the key layout and of the lease protocol. It is part of every key.
const Version = "v1"

// DefaultPrefix is put before every key where Config names no prefix.
const DefaultPrefix = "fettle"

// DefaultOpenTimeout bounds Open of a cluster where Config names no other bound.
const DefaultOpenTimeout = 5 * time.Second

// hostTimeout is the same for the embedded etcd, whose start waits for the disk.
const hostTimeout = 10 * time.Second

// TLS names the files of a TLS connection. The zero value means no TLS.
type TLS struct {
	CA, Cert, Key string // Paths of PEM files.
	ServerName    string // Expected name in the server's certificate; empty: from the endpoint.
}

// Config says which etcd to use.
type Config struct {
	Endpoints   []string      // Empty: embedded, with the data in StateDir.
	TLS         TLS           // For endpoints only.
	Username    string        // Empty: no authentication.
	Password    string        // With Username.
	Prefix      string        // Before every key; empty: DefaultPrefix.
	StateDir    string        // Folder of the embedded etcd, made with mode 0700 where absent.
	OpenTimeout time.Duration // Bound of Open; zero: DefaultOpenTimeout, or 10 s for the embedded one, whose start waits for the disk.

	// OnLinger makes Close of the process that hosts the embedded etcd wait until
	// those who joined it have ended, and is told how many they are, first and at
	// each change. Nil: Close ends the etcd, and one of them takes its place.
	OnLinger func(n int)

	// OnOrphaned is called where this process starts the embedded etcd and every
	// process that used it before has ended, before any other can join: whatever
	// lease there is by then belongs to nobody. Nil is fine.
	OnOrphaned func(context.Context, *clientv3.Client)

	Quota int64 // Of the embedded etcd, in bytes; zero: etcd's own, 2 GiB.
}

// Store is an open connection to etcd and, where this process hosts it, the server itself.
type Store struct {
	client    *clientv3.Client
	endpoints []string
	prefix    string
	last      *lastError
	local     *local // Of an embedded etcd.
	onLinger  func(int)

	closing  sync.Once
	closeErr error
}

// Open connects to the etcd of the config, starting or joining the embedded one where no endpoint is named.
// It returns within the config's OpenTimeout, and earlier when ctx ends.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	if cfg.Prefix == "" {
		cfg.Prefix = DefaultPrefix
	}
	if cfg.OpenTimeout <= 0 {
		cfg.OpenTimeout = DefaultOpenTimeout
		if len(cfg.Endpoints) == 0 {
			cfg.OpenTimeout = hostTimeout
		}
	}
	ctx, cancel := context.WithTimeout(ctx, cfg.OpenTimeout)
	defer cancel()
	if len(cfg.Endpoints) > 0 {
		return openCluster(ctx, cfg)
	}
	if cfg.StateDir == "" {
		return nil, errors.New("etcd: neither endpoints nor a state directory given; name one of them")
	}
	return openEmbedded(ctx, cfg)
}

// Client returns the client. It is closed by Close.
func (s *Store) Client() *clientv3.Client { return s.client }

// Hosted reports whether this process runs the server. One that joined does so
// once the process that ran it has ended.
func (s *Store) Hosted() bool { return s.hosting() != nil }

func (s *Store) hosting() *server {
	if s.local == nil {
		return nil
	}
	return s.local.host()
}

// Endpoints returns the addresses in use; for an embedded etcd the one of its socket.
func (s *Store) Endpoints() []string { return append([]string(nil), s.endpoints...) }

// Prefix returns what is put before every key, without version and scope.
func (s *Store) Prefix() string { return s.prefix }

// Scope returns the prefix of all keys of one scope, see ScopePrefix.
func (s *Store) Scope(scope string) string { return ScopePrefix(s.prefix, scope) }

// Close closes the client and, where this process hosts the server, stops it fully.
// One of the others that joined takes its place; with Config.OnLinger
// it first waits for their end. It may be called more than once.
func (s *Store) Close() error { return s.CloseContext(context.Background()) }

// CloseContext is Close, whose wait for others ends with ctx.
func (s *Store) CloseContext(ctx context.Context) error {
	s.closing.Do(func() {
		if s.local == nil {
			s.closeErr = s.client.Close()
			return
		}
		s.closeErr = s.local.close(ctx, s.onLinger, s.client.Close)
	})
	return s.closeErr
}

// ScopePrefix returns "<prefix>/v1/<scope>/", the beginning of every key of the
// scope. The scope is escaped, so that no scope's keys lie within another's.
func ScopePrefix(prefix, scope string) string {
	return prefix + "/" + Version + "/" + url.PathEscape(scope) + "/"
}

func openCluster(ctx context.Context, cfg Config) (*Store, error) {
	last := newLastError(nil)
	conf := clientConfig(cfg.Endpoints, last)
	conf.Username, conf.Password = cfg.Username, cfg.Password
	if cfg.TLS != (TLS{}) {
		info := transport.TLSInfo{
			TrustedCAFile: cfg.TLS.CA, CertFile: cfg.TLS.Cert, KeyFile: cfg.TLS.Key, ServerName: cfg.TLS.ServerName,
		}
		tlsConf, err := info.ClientConfig()
		if err != nil {
			return nil, fmt.Errorf("etcd: TLS files: %w", err)
		}
		conf.TLS = tlsConf
	}
	s, err := dial(ctx, conf, last, cfg.Prefix)
	if err != nil {
		return nil, fmt.Errorf("etcd: cannot use the cluster at %v: %w; check that it runs, the endpoints and the credentials", cfg.Endpoints, err)
	}
	return s, nil
}
