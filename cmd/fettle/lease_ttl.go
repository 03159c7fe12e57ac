package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// Bounds of --lease-ttl. A lease must outlive an election and a renewal, three
// times: the embedded etcd elects within 0.1 s and a renewal is given a second,
// which makes 3.3 s and, in the whole seconds that etcd counts, 4 s. At the other
// end, what a dead process held is in everybody's way for as long.
const (
	shortestTTL = 4 * time.Second
	longestTTL  = time.Hour
	usualTTL    = 15 * time.Second
)

// leaseTTLFlag adds the flag that says how long leases outlive their holder.
func (a *app) leaseTTLFlag(cmd *cobra.Command) {
	a.leaseTTL = usualTTL
	cmd.Flags().Var((*ttlValue)(&a.leaseTTL), "lease-ttl", "how long the leases of a process that is no longer heard of are kept: whole seconds,\n"+
		"from 4s to 1h, and from 6s in a cluster with etcd's usual election time-out of 1s")
}

// ttlValue is a flag that takes a time within the bounds.
type ttlValue time.Duration

func (v *ttlValue) Set(text string) error {
	d, err := time.ParseDuration(text)
	bounds := fmt.Sprintf("use whole seconds from %s to %s", brief(shortestTTL), brief(longestTTL))
	switch {
	case err != nil || d%time.Second != 0:
		return errors.New(bounds + ", such as 15s")
	case d < shortestTTL:
		return errors.New(bounds + ": a shorter lease may not outlive an election of etcd and a slow renewal")
	case d > longestTTL:
		return errors.New(bounds + ": for as long, what a dead process held is in everybody's way")
	}
	*v = ttlValue(d)
	return nil
}

func (v *ttlValue) String() string { return brief(time.Duration(*v)) }

func (v *ttlValue) Type() string { return "duration" }

// brief writes whole hours as such.
func brief(d time.Duration) string {
	if d > 0 && d%time.Hour == 0 {
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return d.String()
}
