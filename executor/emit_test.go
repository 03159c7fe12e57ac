package executor

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestWhoWaitsForTheStoreSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []time.Duration
		r := &run{Config: Config{OnSilence: func(most time.Duration) { told = append(told, most) }}}
		_, answered := r.recording(t.Context())
		answered()
		time.Sleep(recordTimeout)
		if len(told) > 0 {
			t.Errorf("told %v although it was answered", told)
		}
		ctx, cancel := r.recording(t.Context())
		defer cancel()
		<-ctx.Done()
		synctest.Wait()
		if len(told) != 1 || told[0] != recordTimeout {
			t.Errorf("told %v", told)
		}
	})
}

func TestOnceTheStoreIsLostLittleIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &run{Config: Config{OnSilence: func(time.Duration) { t.Error("told again") }}, mute: true}
		began := time.Now()
		ctx, cancel := r.recording(t.Context())
		defer cancel()
		<-ctx.Done()
		if waited := time.Since(began); waited != lastTimeout {
			t.Errorf("waited %s", waited)
		}
	})
}
