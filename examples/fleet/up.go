package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fettleops/fettle/examples/fleet/accesslog"
)

const shutdownWithin = 3 * time.Second

type upFlags struct {
	listen, services, addressFile, logFile, stateDir string
	warmup                                           time.Duration
}

// up runs the fleet until ctx ends.
func up(ctx context.Context, args []string) error {
	var o upFlags
	fs := flag.NewFlagSet("up", flag.ContinueOnError)
	fs.StringVar(&o.listen, "listen", "127.0.0.1:7000", "address of the balancer and its control API")
	fs.StringVar(&o.services, "services", "api,db,web,worker", "names of the services")
	fs.StringVar(&o.addressFile, "address-file", "", "file to write the address to, when all services are up")
	fs.StringVar(&o.logFile, "log", "", "file to append the access log to, as JSON lines")
	fs.StringVar(&o.stateDir, "state", "", "folder where fences outlive the fleet, and the services' output goes")
	fs.DurationVar(&o.warmup, "warmup", 300*time.Millisecond, "how long a service takes to come up")
	if err := fs.Parse(args); err != nil {
		return err
	}
	fences, output, closeOutput, err := openState(o.stateDir)
	if err != nil {
		return err
	}
	defer closeOutput()
	access, closeLog, err := openLog(o.logFile)
	if err != nil {
		return err
	}
	defer closeLog()
	f, err := newFleet(strings.Split(o.services, ","), o.warmup, output)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownWithin)
		defer cancel()
		f.stop(ctx)
	}()
	ln, err := net.Listen("tcp", o.listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	c := &control{fleet: f, fences: fences, answers: newAnswers(), log: access}
	return serveFleet(ctx, ln, c, o.addressFile)
}

func serveFleet(ctx context.Context, ln net.Listener, c *control, addressFile string) error {
	srv := &http.Server{Handler: c.handler(), ReadHeaderTimeout: 5 * time.Second}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }()
	defer srv.Close()
	if err := c.fleet.start(ctx); err != nil {
		return err
	}
	if err := announce(ln.Addr().String(), addressFile); err != nil {
		return err
	}
	select {
	case err := <-served:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownWithin)
	defer cancel()
	if err := srv.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("shut down: %w", err)
	}
	return nil
}

// announce says where the fleet listens; the file appears whole or not at all.
func announce(address, file string) error {
	if file != "" {
		tmp := file + ".tmp"
		if err := os.WriteFile(tmp, []byte(address+"\n"), 0o600); err != nil {
			return fmt.Errorf("write address: %w", err)
		}
		if err := os.Rename(tmp, file); err != nil {
			return fmt.Errorf("write address: %w", err)
		}
	}
	fmt.Printf("fleet: ready at http://%s\n", address)
	return nil
}

func openState(dir string) (*fenceKeeper, io.Writer, func(), error) {
	if dir == "" {
		k, err := openFences("")
		return k, os.Stderr, func() {}, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, nil, fmt.Errorf("state folder: %w", err)
	}
	k, err := openFences(filepath.Join(dir, "fences.json"))
	if err != nil {
		return nil, nil, nil, err
	}
	out, err := os.OpenFile(filepath.Join(dir, "services.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("services' output: %w", err)
	}
	return k, out, func() { _ = out.Close() }, nil
}

// openLog goes on with the log that a former fleet left in file; an empty name
// keeps none.
func openLog(file string) (access *accesslog.Log, closeLog func(), err error) {
	if file == "" {
		return accesslog.New(io.Discard, nil), func() {}, nil
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("access log: %w", err)
	}
	already, err := accesslog.Read(f)
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return accesslog.New(f, already), func() { _ = f.Close() }, nil
}
