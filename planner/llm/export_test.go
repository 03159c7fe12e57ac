package llm

import (
	"context"
	"time"
)

// PauseBy lets a test do the waiting between two requests.
func (c *Caller) PauseBy(f func(context.Context, time.Duration) error) { c.pause = f }

// TimeBy lets a test tell the time.
func (c *Caller) TimeBy(f func() time.Time) { c.now = f }
