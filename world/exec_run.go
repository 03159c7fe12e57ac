package world

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/fettleops/fettle/world/process"
)

type execRun struct {
	command
	stdin   hcl.Expression
	success []int
}

func decodeExecRun(d *decoder) *execRun {
	return &execRun{d.process(), d.expr("stdin", cty.String), d.codes("success", 0, 255, []int{0})}
}

// act runs the program. It failed where it could not be started or ended with
// a code that means failure. One that was stopped, or that a signal ended, may
// have done its work before that, and leaves the outcome in doubt.
func (r *execRun) act(ctx context.Context, w *World, g *ground, c Call) (Outcome, int) {
	p, err := r.process(g, w.folder,
		"FETTLE_FENCE="+strconv.FormatInt(c.Fence, 10), "FETTLE_RUN="+c.Run, "FETTLE_STEP="+strconv.Itoa(c.Step),
		"FETTLE_ACTION_ID="+c.ActionID, "FETTLE_WRITES="+asciiJSON(c.Writes), "FETTLE_ARMED="+strconv.FormatInt(c.Armed, 10))
	if err == nil {
		p.Stdin, err = g.text(r.stdin)
	}
	if err != nil {
		return Outcome{Status: Failed, Message: "not started: " + clip(err.Error(), 300)}, 0
	}
	p.Stray = true // it may be its job to start something
	out := &output{}
	told := &hiding{s: w.sensitive, to: out} // For both streams: one pipe keeps their order.
	x := p.Run(ctx, told, told)
	told.flush()
	o := Outcome{Output: out.bytes(), Cut: out.cut()}
	switch {
	case !x.Started:
		o.Status, o.Message = Failed, "not started: "+x.Err.Error()
	case x.Killed:
		o.Status, o.Message = InDoubt, ended(ctx)+", killed"
	case x.Err != nil:
		o.Status, o.Message = InDoubt, x.Err.Error()
	case x.Signalled():
		o.Status, o.Message = InDoubt, x.Text
	case slices.Contains(r.success, x.Code):
		o.Status, o.Message = Done, x.Text
	default:
		o.Status, o.Message = Failed, x.Text
	}
	return o, max(x.Code, 0)
}

type execFence struct {
	command
	folder  string
	reject  []int
	timeout time.Duration
}

func decodeExecFence(d *decoder) *execFence {
	return &execFence{d.process(), d.w.folder, d.codes("reject", 1, 255, nil), d.duration("timeout", defaultRaise)}
}

func (f *execFence) rejects() []int { return f.reject }

func (f *execFence) target(g *ground) (target, error) {
	p, err := f.process(g, f.folder)
	if err != nil {
		return nil, err
	}
	return &execTarget{p, f.reject, f.timeout}, nil
}

type execTarget struct {
	process.Process
	reject  []int
	timeout time.Duration
}

func (t *execTarget) key() string {
	return fmt.Sprintf("exec %q %q %q %v", t.Argv, t.Env, t.Dir, t.reject)
}

func (t *execTarget) raise(ctx context.Context, w *World, f Fence) error {
	limit, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	p := t.Process
	p.Env = append(slices.Clone(p.Env),
		"FETTLE_FENCE="+strconv.FormatInt(f.Token, 10), "FETTLE_RUN="+f.Run, "FETTLE_ACTION_ID="+f.ActionID,
		"FETTLE_RESOURCES="+asciiJSON(f.Resources), "FETTLE_WRITES="+asciiJSON(f.Writes))
	out := &output{}
	told := &hiding{s: w.sensitive, to: out}
	x := p.Run(limit, told, told)
	told.flush()
	where := commandLine(p.Argv)
	switch {
	case !x.Started:
		return fmt.Errorf("raise the fence with %s: not started: %w", where, x.Err)
	case x.Killed && ctx.Err() == nil:
		return fmt.Errorf("raise the fence with %s: no answer within %s", where, t.timeout)
	case x.Killed:
		return fmt.Errorf("raise the fence with %s: %w", where, ctx.Err())
	case x.Err != nil:
		return fmt.Errorf("raise the fence with %s: %w", where, x.Err)
	case slices.Contains(t.reject, x.Code):
		return &HigherFenceError{Actuator: where, Token: f.Token, Higher: higher(out.bytes())}
	case x.Code != 0:
		return fmt.Errorf("raise the fence with %s: %s", where, withLines(x.Text, out.bytes()))
	}
	return nil
}
