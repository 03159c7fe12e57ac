package lease

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

var errLine = status.Error(codes.Unavailable, "the line broke")

// answerLost lets the next transaction be done, and loses its answer.
func (f *fault) answerLost() {
	befall := func(invoke func() error) error {
		if err := invoke(); err != nil {
			return err
		}
		return errLine
	}
	f.next.Store(&befall)
}

// putLost is answerLost for the next transaction that puts a lock: those that only read pass.
func (f *fault) putLost() {
	f.only.Store(true)
	f.answerLost()
}

// delayed holds the next transaction back until the function returned is called; its sender gives up before.
func (f *fault) delayed() (deliver func() error) {
	var late func() error
	befall := func(invoke func() error) error {
		late = invoke
		return errLine
	}
	f.next.Store(&befall)
	return func() error { return late() }
}
