package world

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/fettleops/fettle/model"
)

// scraped is how often a fluent's series are sampled.
type scraped struct {
	every time.Duration // the longest interval of its jobs; zero where it could not be told
	job   string
}

// trySettle compares how long an action waits for samples with how often they
// are taken. An effect is only seen in a sample taken after the action, and a
// guard may want one taken after its leases, so that with a shorter settle
// either waits in vain most of the time.
func (w *World) trySettle(ctx context.Context, t Trying, told map[*observer]*observed) []Trial {
	every := w.scrapes(ctx, told)
	var out []Trial
	for _, a := range t.Universe.Actions {
		set, ok := t.Settle[a]
		if !ok || w.actions[a] == nil {
			continue
		}
		if f, s, why := slowest(a, t.Universe.Fluents, every, set.Timeout); f != nil {
			out = append(out, Trial{
				Block: fmt.Sprintf("settle of action %q", a.Name), Source: Source{Kind: "prometheus"}, Range: set.Range,
				Says:  fmt.Sprintf("waits %s for samples that job %q gives every %s", set.Timeout, s.job, s.every),
				Wrong: "Settle shorter than a scrape",
				Mend: fmt.Sprintf("Fluent %q, %s, is sampled every %s, and the action waits %s for a sample, so that it mostly gives up before there is one. Give it settle { timeout = \"%s\" }, two scrapes, or scrape more often.",
					f.Name, why, s.every, set.Timeout, 2*s.every),
			})
		}
	}
	return out
}

// slowest returns the fluent for whose samples the action has to wait longest,
// where it does not wait as long.
func slowest(a *model.Action, fluents []*model.Fluent, every map[*model.Fluent]awaited, timeout time.Duration) (*model.Fluent, scraped, string) {
	var slow *model.Fluent
	var most scraped
	why := ""
	look := func(f *model.Fluent, reason string) {
		if s, ok := every[f]; ok && s.every > timeout && s.every > most.every {
			slow, most, why = f, s.scraped, reason
		}
	}
	for _, e := range a.Effects {
		look(e.Fluent, "which it changes")
	}
	reads := map[*model.Fluent]bool{}
	if a.Precondition != nil {
		for _, c := range a.Precondition.Conjuncts {
			c.BaseFluents(reads)
		}
	}
	for _, f := range fluents {
		if s := every[f]; reads[f] && s.maxAge != nil && *s.maxAge < s.every {
			look(f, fmt.Sprintf("which it needs no older than %s", *s.maxAge))
		}
	}
	return slow, most, why
}

// awaited is how often a fluent is sampled, and how old its samples may be.
type awaited struct {
	scraped
	maxAge *time.Duration
}

// scrapes tells how often the fluents that a Prometheus answered about are
// sampled. What could not be told is left out.
func (w *World) scrapes(ctx context.Context, told map[*observer]*observed) map[*model.Fluent]awaited {
	intervals := w.intervals(ctx, told)
	var asked []*observer
	for o, d := range told {
		if p, ok := o.asker.(*prometheusObserve); ok && d.series != nil && len(intervals[p.server]) > 0 {
			asked = append(asked, o)
		}
	}
	every := make([]scraped, len(asked))
	var g errgroup.Group
	g.SetLimit(maxQueries)
	for i, o := range asked {
		g.Go(func() error {
			p := o.asker.(*prometheusObserve)
			for _, job := range p.jobs(ctx, told[o].series) {
				if t := intervals[p.server][job]; t > every[i].every {
					every[i] = scraped{t, job}
				}
			}
			return nil
		})
	}
	_ = g.Wait() // the functions return no error
	out := map[*model.Fluent]awaited{}
	for i, o := range asked {
		if every[i].every > 0 {
			out[o.fluent] = awaited{every[i], o.series.maxAge}
		}
	}
	return out
}

// intervals asks each Prometheus that answered how often it scrapes which job.
func (w *World) intervals(ctx context.Context, told map[*observer]*observed) map[*promServer]map[string]time.Duration {
	var servers []*promServer
	for o, d := range told {
		if p, ok := o.asker.(*prometheusObserve); ok && d.series != nil && !slices.Contains(servers, p.server) {
			servers = append(servers, p.server)
		}
	}
	all := make([]map[string]time.Duration, len(servers))
	var g errgroup.Group
	g.SetLimit(maxQueries)
	for i, s := range servers {
		g.Go(func() error { all[i] = s.intervals(ctx); return nil })
	}
	_ = g.Wait() // the functions return no error
	out := map[*promServer]map[string]time.Duration{}
	for i, s := range servers {
		out[s] = all[i]
	}
	return out
}
