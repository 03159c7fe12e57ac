package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// controller repairs the fleet by a fixed rule and keeps the lease protocol in
// its simplest form, with a real etcd. It stands where fettle stands, so that
// the demo can be tried against one that does right and ones that do wrong.
type controller struct {
	base    string
	etcd    *clientv3.Client
	fault   string // Which rule of the protocol it breaks.
	actions int
}

// controllerMain is the test binary run as "run --approve --state-dir D --var fleet=URL MODEL".
func controllerMain(args []string) error {
	stateDir := args[slices.Index(args, "--state-dir")+1]
	base := strings.TrimPrefix(args[slices.Index(args, "--var")+1], "fleet=")
	client, stop, err := openEtcd(context.Background(), filepath.Join(stateDir, "etcd"))
	if err != nil {
		return err
	}
	defer stop()
	c := &controller{base: base, etcd: client, fault: os.Getenv("CONTROLLER_FAULT")}
	for {
		method, path, writes, err := c.next()
		if err != nil || path == "" {
			return err
		}
		if err := c.guarded(method, path, writes); err != nil {
			return err
		}
	}
}

// next is what a sensible person would do next; an empty path: all is well.
func (c *controller) next() (method, path string, writes []string, err error) {
	ctx := context.Background()
	services, err := newFleetClient(c.base).services(ctx)
	if err != nil {
		return "", "", nil, err
	}
	holder, err := newFleetClient(c.base).lockHolder(ctx)
	if err != nil {
		return "", "", nil, err
	}
	fit := func(s serviceView) bool { return s.Healthy && s.Memory == "ok" && s.Version == s.Wanted }
	if i := slices.IndexFunc(services, func(s serviceView) bool { return !s.InLB }); i >= 0 {
		s := services[i]
		on := func(op string, writes ...string) (string, string, []string, error) {
			for i, w := range writes {
				writes[i] = w + "(" + s.Name + ")"
			}
			return http.MethodPost, "/services/" + s.Name + "/" + op, writes, nil
		}
		switch {
		case fit(s):
			return on("add", "in_lb")
		case s.Version == s.Wanted:
			return on("restart", "up", "mem_ok")
		case holder != s.Name:
			return http.MethodPost, "/lock/" + s.Name, []string{"lock(" + s.Name + ")"}, nil
		}
		return on("revert", "up", "mem_ok", "version_ok")
	}
	if holder != "" {
		return http.MethodDelete, "/lock/" + holder, []string{"lock(" + holder + ")"}, nil
	}
	for _, s := range services {
		if !fit(s) {
			return http.MethodPost, "/services/" + s.Name + "/drain", []string{"in_lb(" + s.Name + ")"}, nil
		}
	}
	return "", "", nil, nil
}

// guarded is acquire, raise, observe, arm, act, finish.
func (c *controller) guarded(method, path string, writes []string) error {
	ctx := context.Background()
	c.actions++
	id := "action-" + strconv.Itoa(c.actions)
	var acquire, arm, finish []clientv3.Op
	for _, w := range writes {
		fluent, instance, _ := strings.Cut(strings.TrimSuffix(w, ")"), "(")
		key := "fettle/v1/fleet/k/" + fluent + "/x/" + instance + "/"
		acquire = append(acquire, clientv3.OpPut(key+"l", id))
		arm = append(arm, clientv3.OpPut(key+"d", id))
		finish = append(finish, clientv3.OpDelete(key+"d"), clientv3.OpDelete(key+"l"))
	}
	arm = append(arm, clientv3.OpPut("fettle/v1/fleet/intent/"+id, "armed"))
	finish = append(finish, clientv3.OpPut("fettle/v1/fleet/intent/"+id, "applied"))
	held, err := c.etcd.Txn(ctx).Then(acquire...).Commit()
	if err != nil {
		return err
	}
	fence := held.Header.Revision
	raise := map[string]any{"fence": fence, "resources": writes, "writes": writes, "run": "r", "action_id": id}
	var armed int64
	steps := []func() error{
		func() error { return c.send(http.MethodPost, "/fence", raise, nil) },
		func() error { return c.send(http.MethodGet, "/services", nil, nil) },
		func() error {
			resp, err := c.etcd.Txn(ctx).Then(arm...).Commit()
			if err == nil {
				armed = resp.Header.Revision
			}
			return err
		},
		func() error {
			text, _ := json.Marshal(writes)
			return c.send(method, path, nil, map[string]string{
				"Fettle-Fence": strconv.FormatInt(fence, 10), "Fettle-Run": "r", "Idempotency-Key": id, "Fettle-Writes": string(text),
				"Fettle-Armed": strconv.FormatInt(armed, 10),
			})
		},
		func() error { _, err := c.etcd.Txn(ctx).Then(finish...).Commit(); return err },
	}
	switch c.fault {
	case "acts before observing":
		steps[1], steps[3] = steps[3], steps[1]
	case "never finishes":
		steps = steps[:4]
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (c *controller) send(method, path string, body any, headers map[string]string) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequest(method, c.base+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	for k, v := range headers {
		req.Header.Set(k, v)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s", method, path, resp.Status)
	}
	return nil
}
