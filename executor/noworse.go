package executor

import (
	"context"
	"fmt"

	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/model"
)

// NoWorse is the goal that the severity of another is at most so high, for
// putting back what a run left: severity(healthy) <= 0.
func NoWorse(g *model.Goal, name string, most float64) *model.Goal {
	return &model.Goal{
		Name: NoWorseName(name, most), Doc: fmt.Sprintf("the severity of %s is at most %s", name, model.FormatNumber(most)),
		Params: g.Params, Severity: g.Severity, Cond: atMost(g, most),
	}
}

// NoWorseName is how that goal is named, given the name of the other.
func NoWorseName(goal string, most float64) string {
	return fmt.Sprintf("severity(%s) <= %s", goal, model.FormatNumber(most))
}

// atMost is the condition that the severity of a goal is at most so high.
func atMost(g *model.Goal, most float64) *model.Cond {
	return model.NewCond(g.Cond.Slots, &model.Expr{
		Op: model.OpLe, Kind: model.KindBool,
		Args: []*model.Expr{g.Severity, {Op: model.OpConst, Kind: model.KindNumber, Const: model.NumberValue(most)}},
	})
}

// StartOf returns the goal of a run and the severity at its start. False means
// that its goal gave none, or that it was not known.
func StartOf(ctx context.Context, j *journal.Journal, id string) (goal string, severity float64, ok bool, err error) {
	events, err := eventsOf(ctx, j, id)
	if err != nil {
		return "", 0, false, err
	}
	for _, e := range events {
		switch e.Kind {
		case RunStarted:
			err = fold(e, func(v Started) { goal = v.Goal })
		case SeverityTaken:
			err = fold(e, func(b Baseline) {
				if at := b.start(); at != nil {
					severity, ok = *at, true
				}
			})
		}
		if err != nil {
			return "", 0, false, fmt.Errorf("event %d of run %s: %w", e.Seq, id, err)
		}
	}
	return goal, severity, ok, nil
}
