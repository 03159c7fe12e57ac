package main

import (
	"context"
	"slices"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/lease"
)

// bury ends the leases of a scope that nobody will renew, once it is certain that
// every process that could has ended: the kernel has released the files that they
// had locked, so nothing rests on a clock or on a process id. Else they would live
// on as long as no command stays for their whole TTL, which begins anew with each
// start of the etcd. What cannot be ended here still expires.
func bury(ctx context.Context, cli *clientv3.Client, scope string) {
	leases, err := cli.Leases(ctx)
	if err != nil || len(leases.Leases) == 0 {
		return
	}
	locker := lease.New(cli, scope, lease.Options{})
	defer locker.Close()
	left, err := outliving(ctx, locker)
	if err != nil {
		return
	}
	for _, l := range leases.Leases {
		has, err := cli.TimeToLive(ctx, l.ID, clientv3.WithAttachedKeys())
		if err != nil {
			return
		}
		stays := func(key []byte) bool { return left[string(key)] || !strings.HasPrefix(string(key), scope) }
		if len(has.Keys) > 0 && !slices.ContainsFunc(has.Keys, stays) {
			_, _ = cli.Revoke(ctx, l.ID)
		}
	}
}

// outliving returns the keys of locks that stand for something that may go on
// without the process that took them: an action that was armed, with all that
// its run holds meanwhile, a person's command, or a run that waits and was to
// keep them. For these their TTL is the time to end in.
func outliving(ctx context.Context, locker *lease.Locker) (map[string]bool, error) {
	intents, err := locker.Intents(ctx)
	if err != nil {
		return nil, err
	}
	acting := map[string]bool{"": true} // No run: a person's command.
	for _, in := range intents {
		acting[in.Owner.Run] = true
	}
	holders, err := locker.AllHolders(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, h := range holders {
		out[h.Key] = acting[h.Owner.Run] || !h.Until.IsZero()
	}
	return out, nil
}
