package etcd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
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
// the client itself only says that a deadline passed. It also ends every request
// once there is nothing to wait for any more.
type lastError struct {
	check    func() error // Cheap: why the store can be used no more, asked around each request; nil: for ever.
	failFast atomic.Bool  // Fail while there is no connection, where the client would wait for one.

	over context.Context //nolint:containedctx // Ends with the store's use, for a cause.
	end  context.CancelCauseFunc

	mu    sync.Mutex
	err   error
	since time.Time // Of the first request without an answer, and none since then had one; zero: etcd answers.
}

func newLastError(check func() error) *lastError {
	l := &lastError{check: check}
	l.over, l.end = context.WithCancelCause(context.Background())
	return l
}

// ended is why the store can be used no more, nil while it can.
func (l *lastError) ended() error {
	if l.check != nil && l.over.Err() == nil {
		if err := l.check(); err != nil {
			l.end(err)
		}
	}
	return context.Cause(l.over)
}

func (l *lastError) intercept(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	sent := time.Now()
	err := l.ended()
	if err == nil {
		if l.failFast.Load() {
			opts = append(opts, grpc.WaitForReady(false))
		}
		bounded, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(l.over, cancel)()
		err = invoke(bounded, method, req, reply, cc, opts...)
	}
	err = l.better(err)
	l.note(sent, err)
	return err
}

// note remembers what came of a request.
func (l *lastError) note(sent time.Time, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch code := status.Code(err); code {
	case codes.Canceled:
	case codes.Unavailable, codes.Aborted, codes.DeadlineExceeded:
		if l.since.IsZero() {
			l.since, l.err = sent, nil
		}
		if code != codes.DeadlineExceeded {
			l.err = err
		}
	default: // An answer, be it a no.
		l.since = time.Time{}
		if err != nil {
			l.err = err
		}
	}
}

// better is what a person can read of the error of a request. Nothing counts that
// was answered by a store that can be used no more.
func (l *lastError) better(err error) error {
	if why := l.ended(); why != nil {
		return &plainError{status: status.New(codes.Aborted, why.Error()), cause: why} // Unlike Unavailable this is not tried again.
	}
	if status.Code(err) == codes.Unavailable {
		return &plainError{status: status.Convert(err)}
	}
	return err
}

// plainError is an error of gRPC that a person can read; whoever asks for its code is answered.
type plainError struct {
	status *status.Status
	cause  error
}

// ErrServerGone is behind every error of a request to an embedded etcd whose
// server failed, or whose process has ended and nobody could take its place: to open the store again may help.
var ErrServerGone = errors.New("the server of the embedded etcd is gone")

// ErrTakenAway is behind every error of a request to an embedded etcd whose state
// directory was moved, removed or replaced while it was in use: another store may be there by now.
var ErrTakenAway = errors.New("the state directory was taken away")

// Interrupted tells whether a request was not answered because the server or the
// connection to it went away: to open the store again may help.
func Interrupted(err error) bool {
	return errors.Is(err, ErrServerGone) || status.Code(err) == codes.Unavailable
}

// reasonError is a message of its own for one of the above.
type reasonError struct {
	reason string
	kind   error
}

func (e *reasonError) Error() string { return e.reason }

func (e *reasonError) Unwrap() error { return e.kind }

func (e *plainError) Unwrap() error { return e.cause }

func (e *plainError) Error() string { return unwrapped(e.status.Message()) }

func (e *plainError) GRPCStatus() *status.Status { return e.status }

// unwrapped is the cause within what gRPC says of a connection that failed:
// "connection error: desc = \"transport: …: connect: connection refused\"".
func unwrapped(msg string) string {
	if why, ok := strings.CutPrefix(msg, "error reading from server: "); ok {
		return "the connection broke before the answer came: " + why
	}
	_, inner, ok := strings.Cut(msg, "connection error: desc = ")
	if !ok {
		return msg
	}
	if text, err := strconv.Unquote(inner); err == nil {
		inner = text
	}
	return strings.TrimPrefix(inner, "transport: ")
}

func (l *lastError) get() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Outage says since when etcd has not answered, and why as far as is known. The
// zero time says that it answers, or was not asked.
func (s *Store) Outage() (since time.Time, why string) {
	s.last.mu.Lock()
	defer s.last.mu.Unlock()
	if s.last.since.IsZero() {
		return time.Time{}, ""
	}
	why = "no answer"
	if s.last.err != nil && status.Code(s.last.err) != codes.DeadlineExceeded {
		why = unwrapped(status.Convert(s.last.err).Message())
	}
	return s.last.since, why
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
	return &Store{client: cli, endpoints: conf.Endpoints, prefix: prefix, last: last}, nil
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
		return fmt.Errorf("%w: %s", err, unwrapped(status.Convert(cause).Message()))
	}
	return err
}

func read(ctx context.Context, cli *clientv3.Client, prefix string) error {
	_, err := cli.Get(ctx, prefix+"/"+Version+"/", clientv3.WithLimit(1), clientv3.WithPrefix(), clientv3.WithKeysOnly())
	return err
}
