// Command demo shows fettle repairing a broken fleet, and checks from outside
// that it did so as promised.
//
// It starts the fleet of the folder above as real processes, breaks two
// services, lets fettle repair them, and at a random moment of the run makes a
// third one fail. Meanwhile a prober that knows nothing of fettle sends client
// requests and samples the balancer's pool. Afterwards the balancer's access
// log and every revision of the etcd that fettle left behind are laid side by
// side, joined by the fence and the action id that each request carries.
//
// The demo imports nothing of fettle's: it is the world and the judge.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"syscall"
	"time"
)

const (
	runWithin   = 42 * time.Second // From the start to fettle's end.
	judgeWithin = 12 * time.Second // From there to the verdict.
)

type options struct {
	fettle, fleet, model, keep string
	prometheus                 string // Program through which fettle sees the fleet; empty: it looks itself.
	seed                       uint64
}

func main() {
	var o options
	flag.StringVar(&o.fettle, "fettle", "", "the fettle program")
	flag.StringVar(&o.fleet, "fleet", "", "the fleet program")
	flag.StringVar(&o.model, "model", "examples/fleet", "folder of the model")
	flag.StringVar(&o.prometheus, "prometheus", "", "the Prometheus program; with the model in examples/fleet/prometheus, fettle sees the fleet through it")
	flag.StringVar(&o.keep, "keep", "", "folder to leave logs and state in; removed at the end where not given")
	flag.Uint64Var(&o.seed, "seed", 0, "seed of the surprise; drawn where 0")
	flag.Parse()
	if o.fettle == "" || o.fleet == "" {
		fmt.Fprintln(os.Stderr, "demo: give --fettle PATH and --fleet PATH")
		os.Exit(2)
	}
	if o.seed == 0 {
		o.seed = rand.Uint64N(1_000_000) + 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := demo(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// errChecks says that the demo ran and that something promised did not hold.
var errChecks = errors.New("not everything held")

func demo(ctx context.Context, o options) (err error) {
	began := time.Now()
	runCtx, cancel := context.WithTimeout(ctx, o.runLimit())
	defer cancel()
	st, err := setStage(runCtx, o)
	if err != nil {
		return err
	}
	var r report
	defer func() {
		if left := st.clear(); err == nil || errors.Is(err, errChecks) {
			r.check("no process is left behind", left)
			err = r.verdict(o.seed, time.Since(began))
		}
	}()
	s := drawSurprise(o.seed)
	st.tellOpening(o.seed)
	if err := st.breakTwo(runCtx); err != nil {
		return err
	}
	if st.prom != nil {
		if err := st.awaitSeries(runCtx, seenBroken); err != nil {
			return err
		}
	}
	p := startProber(ctx, st.fleet.base)
	defer p.stop()
	run := st.perform(runCtx, s)
	p.stop()
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted: %w", ctx.Err())
	}
	judgeCtx, cancelJudge := context.WithTimeout(ctx, judgeWithin)
	defer cancelJudge()
	return r.judge(judgeCtx, st, run, p.result())
}
