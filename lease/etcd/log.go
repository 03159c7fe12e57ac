package etcd

import (
	"io"
	"os"
	"runtime"
	"sync"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// log keeps etcd's errors in a file of the state directory, and keeps etcd from
// ending the whole process: by default it exits or panics without a word that a
// user could act on when it cannot write its log or read its data.
type log struct {
	file   *os.File
	zap    *zap.Logger
	failed chan struct{} // Closed at the first fatal error.

	mu  sync.Mutex
	why string
}

func openLog(path string) (*log, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	l := &log{file: f, failed: make(chan struct{})}
	core := zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.Lock(f), zapcore.ErrorLevel)
	l.zap = zap.New(core, zap.WithFatalHook(l), zap.WithPanicHook(l),
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
