package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/fettleops/fettle/journal"
)

const (
	// Grace is the longest that the end of a run waits for its notifiers, all of
	// them together; what is under way then is cut, which takes another second
	// or two where a program has to be ended.
	Grace = 10 * time.Second
	// slow is how long the end of a run waits for them without saying so.
	slow = time.Second
	// maxQueued bounds what waits for a slow notifier.
	maxQueued = 16
)

// Options are what notifiers get beside their blocks.
type Options struct {
	// Next names the commands that a person may type next; nil: none.
	Next func(Message) []string
	// Warn is told, from any goroutine, what could not be told; it must not be nil.
	Warn func(string)
	// OnWait is told, from another goroutine, that the end of a run waits for its
	// notifiers, and for how long at most; nil is fine.
	OnWait func(most time.Duration)
	// Secrets are texts that no warning shows; the journal has none of them.
	Secrets []string
	// Agent is the User-Agent of requests.
	Agent string
}

// Notifier tells of one run. Its methods are safe for concurrent use, and on a
// nil one they do nothing.
type Notifier struct {
	o       Options
	targets []*target
	work    sync.WaitGroup
	life    context.Context //nolint:containedctx // Of the deliveries, which outlive every call.
	cut     context.CancelCauseFunc

	mu     sync.Mutex
	story  story
	told   map[string]bool // ids of messages
	timers []*time.Timer   // of the wait under way
	closed bool
}

// target is one notify block with what waits for it.
type target struct {
	Settings
	queue   chan Message
	deliver func(context.Context, Message, []byte) error
}

func newTarget(s Settings, o Options) *target {
	t := &target{Settings: s, queue: make(chan Message, maxQueued), deliver: s.run}
	if s.Kind == "http" {
		t.deliver = newCaller(s, o.Agent).call
	}
	return t
}

// Test sends a notifier a message that says it is a test, and waits for it.
func Test(ctx context.Context, s Settings, o Options, m Message) error {
	t := newTarget(s, o)
	m.Version, m.Occasions = SchemaVersion, []Occasion{trial}
	if err := t.tell(ctx, m); err != nil {
		return errors.New(o.hide(t, err.Error()))
	}
	return nil
}

// New starts a notifier for each of the settings; nil where there are none.
func New(all []Settings, o Options) *Notifier {
	if len(all) == 0 {
		return nil
	}
	n := &Notifier{o: o, told: map[string]bool{}}
	n.life, n.cut = context.WithCancelCause(context.Background())
	for _, s := range all {
		t := newTarget(s, o)
		n.targets = append(n.targets, t)
		n.work.Go(func() { n.serve(t) })
	}
	return n
}

// CatchUp takes in an event of the time before: nobody is told of it.
func (n *Notifier) CatchUp(e journal.Event) error {
	if n == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	_, err := n.story.tell(e)
	return err
}

// Event takes an event in and tells of it where it is an occasion. It never
// waits.
func (n *Notifier) Event(e journal.Event) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	before := n.story.wait
	m, err := n.story.tell(e)
	if err != nil {
		n.o.Warn("nobody may have been told of it: " + err.Error())
		return
	}
	if n.story.wait != before {
		n.watchWait()
	}
	if m != nil {
		n.send(*m, func(*target) bool { return true })
	}
}

// watchWait tells of the wait that has begun once it has lasted.
func (n *Notifier) watchWait() {
	for _, t := range n.timers {
		t.Stop()
	}
	n.timers = nil
	w := n.story.wait
	if w == nil {
		return
	}
	for _, t := range n.targets {
		n.timers = append(n.timers, time.AfterFunc(t.After, func() {
			n.mu.Lock()
			defer n.mu.Unlock()
			if n.story.wait == w {
				n.send(n.story.waitingLong(*w, t.After), func(to *target) bool { return to == t })
			}
		}))
	}
}

// send queues a message for those that want it. The Notifier is locked by the caller.
func (n *Notifier) send(m Message, to func(*target) bool) {
	if n.closed {
		return
	}
	if n.o.Next != nil {
		m.Next = n.o.Next(m)
	}
	m.Text = m.summary()
	for _, t := range n.targets {
		if !to(t) {
			continue
		}
		key := t.Kind + " " + t.Name + " " + m.ID
		one := m
		if one.Occasions = t.wants(m.Occasions); len(one.Occasions) == 0 || n.told[key] {
			continue
		}
		n.told[key] = true
		select {
		case t.queue <- one:
		default:
			n.untold(t, one, errors.New("too many messages wait for it"))
		}
	}
}

// serve delivers what is queued for a notifier, one after another.
func (n *Notifier) serve(t *target) {
	for m := range t.queue {
		if err := t.tell(n.life, m); err != nil {
			n.untold(t, m, err)
		}
	}
}

// tell delivers a message. Where the notifiers' time is over the error says so.
func (t *target) tell(ctx context.Context, m Message) error {
	raw, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode the message: %w", err)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return t.deliver(ctx, m, raw)
}

// untold says that a notifier could not be told.
func (n *Notifier) untold(t *target, m Message, err error) {
	n.o.Warn(fmt.Sprintf("notify %q was not told of %s: %s", t.Name, strings.ReplaceAll(words(m.Occasions), ",", ", "), n.o.hide(t, err.Error())))
}

// minSecret is the length below which a text is not taken for a secret.
const minSecret = 4

// hide takes out of a warning what must not be shown: an address may be as good
// as a password.
func (o Options) hide(t *target, s string) string {
	secrets := append([]string{t.URL}, o.Secrets...)
	for _, v := range t.Headers {
		secrets = append(secrets, v)
		if _, credential, ok := strings.Cut(v, " "); ok {
			secrets = append(secrets, credential)
		}
	}
	for _, v := range secrets {
		if len(v) >= minSecret {
			s = strings.ReplaceAll(s, v, "(sensitive)")
		}
	}
	return clean(s)
}

var errGrace = fmt.Errorf("it had not taken the message %s after the end of the run", Grace)

// Close waits until everything is told, for [Grace] at most and no longer than
// ctx lasts, and cuts what is under way then. After it nothing more is told.
func (n *Notifier) Close(ctx context.Context) {
	if n == nil {
		return
	}
	n.mu.Lock()
	again := n.closed
	n.closed, n.story.wait = true, nil
	n.watchWait()
	n.mu.Unlock()
	if again {
		return
	}
	for _, t := range n.targets {
		close(t.queue) // Whoever sends holds the lock and has seen that it is closed.
	}
	done := make(chan struct{})
	go func() {
		n.work.Wait()
		close(done)
	}()
	grace := time.NewTimer(Grace)
	defer grace.Stop()
	if n.o.OnWait != nil {
		defer time.AfterFunc(slow, func() { n.o.OnWait(Grace) }).Stop()
	}
	select {
	case <-done:
	case <-grace.C:
		n.cut(errGrace)
	case <-ctx.Done():
		n.cut(errors.New("interrupted"))
	}
	<-done
	n.cut(context.Canceled)
}
