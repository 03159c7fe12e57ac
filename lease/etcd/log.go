package etcd

import (
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// log keeps etcd's errors in a file of the state directory, and keeps etcd from
// ending the whole process: by default it exits or panics without a word that a
// user could act on when it cannot write its log or read its data.
type log struct {
	file *os.File
	zap  *zap.Logger

	mu  sync.Mutex
	why string

	failed  chan struct{} // Closed at the first fatal error.
	closing atomic.Bool
}

// serving is what etcd logs of each of its listeners that ends, also in an orderly end.
const serving = "setting up serving from embedded etcd failed."

// quiet is a core that leaves that out while the server is being closed.
type quiet struct {
	zapcore.Core
	closing *atomic.Bool
}

func (q quiet) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if entry.Message == serving && q.closing.Load() {
		return checked
	}
	return q.Core.Check(entry, checked)
}

func (q quiet) With(fields []zapcore.Field) zapcore.Core {
	return quiet{q.Core.With(fields), q.closing}
}

func openLog(path string) (*log, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	l := &log{file: f, failed: make(chan struct{})}
	core := zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.Lock(f), zapcore.ErrorLevel)
	l.zap = zap.New(quiet{core, &l.closing}, zap.WithFatalHook(l), zap.WithPanicHook(l),
		zap.ErrorOutput(zapcore.AddSync(io.Discard))) // Where the disk is full it would write to stderr.
	return l, nil
}

// OnWrite is called by zap after a fatal error or panic was written. It ends the
// goroutine that met it, and with it the server, but not the process.
func (l *log) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	why := entry.Message
	for _, f := range fields {
		if err, ok := f.Interface.(error); ok && f.Type == zapcore.ErrorType {
			why += ": " + err.Error()
		}
	}
	l.mu.Lock()
	first := l.why == ""
	if first {
		l.why = why
	}
	l.mu.Unlock()
	if first {
		close(l.failed)
	}
	runtime.Goexit()
}

// reason returns the first fatal error, empty where there was none.
func (l *log) reason() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.why
}

func (l *log) close() error { return l.file.Close() }
