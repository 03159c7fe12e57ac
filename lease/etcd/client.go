package etcd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// lastError remembers why the newest failed request failed: after its retries
// the client itself only says that a deadline passed. Where explain is set it
// is asked for a better reason whenever the server cannot be reached.
type lastError struct {
	explain  func() string
	failed   <-chan struct{} // Closed once the server is known to have failed; nil: never.
	failFast atomic.Bool     // Fail while there is no connection, where the client would wait for one.

	mu  sync.Mutex
	err error
}

func (l *lastError) intercept(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	select {
	case <-l.failed:
		return l.better(status.Error(codes.Unavailable, "the server failed"))
	default:
	}
	if l.failFast.Load() {
		opts = append(opts, grpc.WaitForReady(false))
	}
	err := l.better(invoke(ctx, method, req, reply, cc, opts...))
	if code := status.Code(err); err != nil && code != codes.DeadlineExceeded && code != codes.Canceled {
		l.mu.Lock()
		l.err = err
		l.mu.Unlock()
	}
	return err
}

func (l *lastError) better(err error) error {
	if err == nil || l.explain == nil {
		return err
	}
	if code := status.Code(err); code != codes.Unavailable && code != codes.DeadlineExceeded {
		return err
	}
	if reason := l.explain(); reason != "" {
		return status.Error(codes.Aborted, reason) // Unlike Unavailable this is not tried again.
	}
	return err
}

func (l *lastError) get() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

func clientConfig(endpoints []string, last *lastError) clientv3.Config {
	return clientv3.Config{
		Endpoints:            endpoints,
		DialTimeout:          3 * time.Second,
		DialKeepAliveTime:    10 * time.Second,
		DialKeepAliveTimeout: 3 * time.Second,
		Logger:               zap.NewNop(),
		DialOptions: []grpc.DialOption{
			grpc.WithChainUnaryInterceptor(last.intercept),
		},
	}
}

// dial makes the client and proves with one linearizable read that the server answers.
func dial(ctx context.Context, conf clientv3.Config, last *lastError, prefix string) (*Store, error) {
	cli, err := clientv3.New(conf)
	if err != nil {
		return nil, err
	}
	if err := probe(ctx, cli, prefix, last); err != nil {
		return nil, errors.Join(err, cli.Close())
	}
	return &Store{client: cli, endpoints: conf.Endpoints, prefix: prefix}, nil
}

func probe(ctx context.Context, cli *clientv3.Client, prefix string, last *lastError) error {
	err := read(ctx, cli, prefix)
	if err == nil || ctx.Err() == nil {
		return err
	}
	// Out of time, most likely without a connection: ask once more, not waiting for one, to learn why.
	last.failFast.Store(true)
	why, cancel := context.WithTimeout(context.WithoutCancel(ctx), 100*time.Millisecond)
	defer cancel()
	if read(why, cli, prefix) == nil {
		return err
	}
	if cause := last.get(); cause != nil {
		return fmt.Errorf("%w: %s", err, status.Convert(cause).Message())
	}
	return err
}

func read(ctx context.Context, cli *clientv3.Client, prefix string) error {
	_, err := cli.Get(ctx, prefix+"/"+Version+"/", clientv3.WithLimit(1), clientv3.WithPrefix(), clientv3.WithKeysOnly())
	return err
}
