package search

import (
	"testing"

	"github.com/fettleops/fettle/model"
)

// classic is the whole model of the language's description.
func classic(t testing.TB) Problem {
	k := newKit()
	service := k.typ("service", "api", "db")
	s := slot(0, service)
	capacity, lockFree := k.pred("capacity"), k.pred("lock_free")
	inLB, drained, ready := k.pred("in_lb", service), k.pred("drained", service), k.pred("ready", service)
	mem, version, lock := k.pred("mem_ok", service), k.pred("version_ok", service), k.pred("lock", service)
	k.action("drain", types(service), exprs(read(capacity), read(inLB, s)), add(drained, s), del(capacity), del(inLB, s))
	k.action("restart", types(service), exprs(read(drained, s)), add(ready, s), add(mem, s))
	k.action("take_lock", types(service), exprs(read(lockFree)), add(lock, s), del(lockFree))
	k.action("revert", types(service), exprs(read(drained, s), read(lock, s)), add(ready, s), add(version, s))
	k.action("readd", types(service), exprs(read(drained, s), read(ready, s)), add(capacity), add(inLB, s), del(drained, s), del(ready, s))
	k.action("release", types(service), exprs(read(lock, s)), add(lockFree), del(lock, s))
	u := k.universe()
	start := u.NewState(true)
	facts(t, start, "capacity", "lock_free", "in_lb(api)", "in_lb(db)", "version_ok(api)", "mem_ok(db)")
	all := quantify(model.OpAll, model.KindBool, service, 0, model.And(read(inLB, s), read(mem, s), read(version, s)))
	return Problem{U: u, Start: start, Goal: goal(all, read(lockFree))}
}

func TestTheClassicExampleTakesEightSteps(t *testing.T) {
	for _, optimal := range []bool{false, true} {
		p := classic(t)
		r := solve(t, p, Options{Optimal: optimal})
		if r.Status != Solved || len(r.Plan) != 8 || r.Cost != 8 || !r.Optimal {
			t.Errorf("optimal=%v: got %s, cost %v, optimal %v: %s", optimal, r.Status, r.Cost, r.Optimal, planText(p.U, r.Plan))
		}
		t.Log(planText(p.U, r.Plan), r.Evaluated, r.Expanded)
	}
}
