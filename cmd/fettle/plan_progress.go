package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// waitingLine shows on a terminal that planning goes on. It shares the terminal
// with lines that are printed meanwhile.
type waitingLine struct {
	mu    sync.Mutex
	w     io.Writer
	shown bool
	done  chan struct{}
	ended sync.WaitGroup
}

// newWaitingLine starts the line where w is a terminal, and does nothing but
// print elsewhere. It ends with stop.
func newWaitingLine(w io.Writer) *waitingLine {
	l := &waitingLine{w: w, done: make(chan struct{})}
	if bool(newPaint(w)) {
		l.ended.Go(l.run)
	}
	return l
}

func (l *waitingLine) run() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	began := time.Now()
	for {
		select {
		case <-l.done:
			return
		case now := <-tick.C:
			l.mu.Lock()
			fmt.Fprintf(l.w, "\r\x1b[Kplanning, %.0f s", now.Sub(began).Seconds())
			l.shown = true
			l.mu.Unlock()
		}
	}
}

// println prints a line in place of the waiting one.
func (l *waitingLine) println(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
	fmt.Fprintln(l.w, line)
}

func (l *waitingLine) clear() {
	if l.shown {
		fmt.Fprint(l.w, "\r\x1b[K")
		l.shown = false
	}
}

// stop ends the line and takes it away.
func (l *waitingLine) stop() {
	close(l.done)
	l.ended.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
}
