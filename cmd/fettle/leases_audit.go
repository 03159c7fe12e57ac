package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/fettleops/fettle/lease"
)

// noDeeds says that people did nothing that is written down.
const noDeeds = "nobody has broken a lease, resolved an action or paused anything"

// audit lists what people did to leases, to actions in doubt and to the kill switch.
func (a *app) audit(ctx context.Context, k *lease.Locker, format string) error {
	all, err := k.AuditLog(ctx)
	if err != nil {
		return err
	}
	if format == "json" {
		return writeJSON(a.out, append([]lease.AuditRecord{}, all...))
	}
	if len(all) == 0 {
		fmt.Fprintln(a.err, noDeeds)
	}
	who := make([]string, len(all))
	for i, rec := range all {
		who[i] = plain(rec.By + " on " + rec.Host)
	}
	w := widest(24, who...)
	for i, rec := range all {
		fmt.Fprintf(a.out, "%s  %s  %s\n", rec.Time.Local().Format(time.DateTime), pad(who[i], w), plain(deed(rec)+actionOf(ctx, k, rec)))
		fmt.Fprintf(a.out, "    reason: %s\n", plain(rec.Reason))
	}
	return nil
}

// deed says what somebody did.
func deed(rec lease.AuditRecord) string {
	switch rec.Deed {
	case lease.DeedBreak:
		names := make([]string, 0, len(rec.Resources))
		for _, r := range rec.Resources {
			names = append(names, r.String())
		}
		s := fmt.Sprintf("broke %s, token %d", strings.Join(names, ", "), rec.Token)
		if rec.Holder != nil {
			s += ", held by " + rec.Holder.String()
		}
		return s
	case lease.DeedResolve:
		return fmt.Sprintf("resolved %s as %s", rec.Intent, strings.ReplaceAll(string(rec.Result), "_", "-"))
	case lease.DeedApprove, lease.DeedReject:
		return answered(rec)
	case lease.DeedPause:
		return "paused"
	case lease.DeedUnpause:
		return "unpaused"
	case lease.DeedReset:
		return "reset the breaker of goal " + rec.Goal
	}
	return string(rec.Deed) // Of a later version.
}

// answered says what somebody answered to a run.
func answered(rec lease.AuditRecord) string {
	did := "approved"
	if rec.Deed == lease.DeedReject {
		did = "rejected"
	}
	what := "plan " + shortHash(rec.Plan)
	if rec.Step > 0 {
		what = fmt.Sprintf("step %d of plan %s", rec.Step, shortHash(rec.Plan))
	}
	return fmt.Sprintf("%s %s of run %s", did, what, rec.Run)
}

// actionOf names the action that was resolved, as long as its run is not archived.
func actionOf(ctx context.Context, k *lease.Locker, rec lease.AuditRecord) string {
	if rec.Deed != lease.DeedResolve {
		return ""
	}
	in, ok, err := k.Intent(ctx, rec.Intent)
	if err != nil || !ok {
		return ""
	}
	return ", " + in.Owner.Action
}
