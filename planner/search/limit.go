package search

import (
	"context"
	"errors"
	"fmt"
)

// DefaultMaxMemory bounds the memory of a search whose options give no bound.
const DefaultMaxMemory = 1 << 30

// limiter counts what a search uses and remembers the first limit it reached.
type limiter struct {
	ctx       context.Context
	maxNodes  int // 0: none
	maxMemory int64
	nodes     int
	memory    int64
	reason    string // of the first limit reached
	err       error  // the caller went away
}

func newLimiter(ctx context.Context, o Options) *limiter {
	l := &limiter{ctx: ctx, maxNodes: o.MaxNodes, maxMemory: o.MaxMemory}
	if l.maxMemory <= 0 {
		l.maxMemory = DefaultMaxMemory
	}
	return l
}

// ok tells whether the search may go on.
func (l *limiter) ok() bool {
	if l.reason != "" || l.err != nil {
		return false
	}
	if err := l.ctx.Err(); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			l.reason = "timeout"
		} else {
			l.err = err
		}
		return false
	}
	return true
}

// node counts one more state and tells whether the search may go on.
func (l *limiter) node() bool {
	if !l.ok() {
		return false
	}
	if l.maxNodes > 0 && l.nodes >= l.maxNodes {
		l.reason = fmt.Sprintf("max_nodes: %d states were looked at", l.nodes)
		return false
	}
	l.nodes++
	return true
}

// use counts bytes, negative ones when they are given back.
func (l *limiter) use(bytes int64) {
	l.memory += bytes
	if l.memory > l.maxMemory && l.reason == "" {
		l.reason = fmt.Sprintf("max_memory: more than %d MiB", l.maxMemory>>20)
	}
}
