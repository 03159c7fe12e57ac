package main

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
)

func TestASecondRequestWithAKeyWaitsForTheFirstAnswer(t *testing.T) {
	a := newAnswers()
	began, proceed := make(chan struct{}), make(chan struct{})
	var calls atomic.Int64
	first := make(chan answer)
	go func() {
		got, _ := a.once(context.Background(), "k", "POST /x", func() answer {
			calls.Add(1)
			close(began)
			<-proceed
			return answer{status: http.StatusTeapot}
		})
		first <- got
	}()
	<-began
	again := func() answer { calls.Add(1); return answer{} }

	gone, hangUp := context.WithCancel(context.Background())
	hangUp()
	if got, repeat := a.once(gone, "k", "POST /x", again); got.status != http.StatusServiceUnavailable || !repeat {
		t.Errorf("while the first is under way: %+v, repeat %v", got, repeat)
	}
	close(proceed)
	if got := <-first; got.status != http.StatusTeapot {
		t.Errorf("first: %+v", got)
	}
	if got, repeat := a.once(context.Background(), "k", "POST /x", again); got.status != http.StatusTeapot || !repeat {
		t.Errorf("second: %+v, repeat %v", got, repeat)
	}
	if calls.Load() != 1 {
		t.Errorf("done %d times", calls.Load())
	}
}

func TestTheOldestAnswersAreForgotten(t *testing.T) {
	a := newAnswers()
	for i := range keptAnswers + 1 {
		a.claim(fmt.Sprint(i), "POST /x")
	}
	if len(a.known) != keptAnswers || len(a.order) != keptAnswers {
		t.Fatalf("%d answers kept, want %d", len(a.known), keptAnswers)
	}
}
