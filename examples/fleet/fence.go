package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// lateError says that a token is older than one already raised.
type lateError struct {
	Fence    int64  `json:"fence"`
	Resource string `json:"resource"`
}

func (e *lateError) Error() string {
	return fmt.Sprintf("late: the fence of %s is already at %d", e.Resource, e.Fence)
}

// fenceKeeper holds the highest token raised for each resource. A resource is
// a ground atom, "in_lb(api)", or a fluent's bare name, which stands for all
// its instances.
//
// After raise has returned, no act with a lower token on these resources is
// under way or can begin: what the raiser then observes stays so until it acts.
type fenceKeeper struct {
	file string // Where fences outlive the process; empty: nowhere.

	mu      sync.Mutex
	fences  map[string]int64
	writing map[*writeInFlight]struct{}
}

type writeInFlight struct {
	token  int64
	writes []string // Empty: may write anything.
	done   chan struct{}
}

// openFences reads the fences a former process left in file.
func openFences(file string) (*fenceKeeper, error) {
	k := &fenceKeeper{file: file, fences: map[string]int64{}, writing: map[*writeInFlight]struct{}{}}
	if file == "" {
		return k, nil
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return k, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read fences: %w", err)
	}
	if err := json.Unmarshal(text, &k.fences); err != nil {
		return nil, fmt.Errorf("read fences from %s: %w", file, err)
	}
	return k, nil
}

// raise lifts the fence of every resource to token, and waits for older acts on
// them to end. It is refused as a whole where the fence of something that is to
// be written, or of what shares an instance with it, is already higher. What is
// only read may have a higher one: that of another reader.
func (k *fenceKeeper) raise(ctx context.Context, token int64, resources, writes []string) error {
	older, err := k.lift(token, resources, writes)
	if err != nil {
		return err
	}
	for _, w := range older {
		select {
		case <-w.done:
		case <-ctx.Done():
			return fmt.Errorf("an older act is still under way: %w", ctx.Err())
		}
	}
	return nil
}

func (k *fenceKeeper) lift(token int64, resources, writes []string) ([]*writeInFlight, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for r, fence := range k.fences {
		if fence > token && overlapsAny(r, writes) {
			return nil, &lateError{Fence: fence, Resource: r}
		}
	}
	next := maps.Clone(k.fences)
	for _, r := range resources {
		next[r] = max(next[r], token)
	}
	if err := k.save(next); err != nil {
		return nil, err
	}
	k.fences = next
	var older []*writeInFlight
	for w := range k.writing {
		if w.token < token && w.touches(resources) {
			older = append(older, w)
		}
	}
	return older, nil
}

// admit lets an act begin unless one of the fences it is subject to is higher
// than its token; end must be called when the act is over. A token of 0 is a
// person without a fence and is always let in; an act that does not say what
// it writes is held against every fence.
func (k *fenceKeeper) admit(token int64, writes []string) (end func(), err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if token != 0 {
		for r, fence := range k.fences {
			if fence > token && (len(writes) == 0 || overlapsAny(r, writes)) {
				return nil, &lateError{Fence: fence, Resource: r}
			}
		}
	}
	w := &writeInFlight{token: token, writes: writes, done: make(chan struct{})}
	k.writing[w] = struct{}{}
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.writing, w)
		close(w.done)
	}, nil
}

// save writes through a rename, so that a crash leaves the old or the new set.
func (k *fenceKeeper) save(fences map[string]int64) error {
	if k.file == "" {
		return nil
	}
	text, err := json.Marshal(fences)
	if err != nil {
		return fmt.Errorf("save fences: %w", err)
	}
	tmp := filepath.Join(filepath.Dir(k.file), ".fences.tmp")
	if err := os.WriteFile(tmp, text, 0o600); err != nil {
		return fmt.Errorf("save fences: %w", err)
	}
	if err := os.Rename(tmp, k.file); err != nil {
		return fmt.Errorf("save fences: %w", err)
	}
	return nil
}

func (w *writeInFlight) touches(resources []string) bool {
	if len(w.writes) == 0 {
		return true
	}
	for _, r := range resources {
		if overlapsAny(r, w.writes) {
			return true
		}
	}
	return false
}

func overlapsAny(r string, others []string) bool {
	for _, o := range others {
		if overlaps(r, o) {
			return true
		}
	}
	return false
}

// overlaps tells whether two resources have an instance in common.
func overlaps(a, b string) bool {
	fa, instanceA, _ := strings.Cut(a, "(")
	fb, instanceB, _ := strings.Cut(b, "(")
	return fa == fb && (instanceA == "" || instanceB == "" || instanceA == instanceB)
}
