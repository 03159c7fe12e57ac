// Command fleet is a small real fleet to practise on: a load balancer with a
// control API, and one child process a service. It is the world that the model
// in this folder describes, and it knows nothing of fettle but the contract of
// an actuator that keeps fences.
//
// Faults are injected through the control API and are real: memory grows, a
// process dies, requests hang. The balancer never checks health; noticing and
// mending is left to whoever operates the fleet. When the parent ends, however
// it ends, its children end too.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

const usage = `usage:
  fleet up [--listen ADDR] [--services a,b,c] [--address-file F] [--log F] [--state DIR] [--warmup D]
  fleet service --name NAME --version V   (started by "up")
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return flag.ErrHelp
	}
	switch args[0] {
	case "up":
		return up(ctx, args[1:])
	case "service":
		return serveService(ctx, args[1:])
	}
	return flag.ErrHelp
}
