package main

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
)

func keeper(t *testing.T) *fenceKeeper {
	t.Helper()
	k, err := openFences("")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestAnActIsLateWhereAFenceThatCoversItIsHigher(t *testing.T) {
	for _, c := range []struct {
		name   string
		raised map[string]int64
		token  int64
		writes []string
		late   string // Empty: let in.
	}{
		{"own instance higher", map[string]int64{"in_lb(api)": 20}, 10, []string{"in_lb(api)"}, "in_lb(api)"},
		{"own instance equal", map[string]int64{"in_lb(api)": 20}, 20, []string{"in_lb(api)"}, ""},
		{"own instance lower", map[string]int64{"in_lb(api)": 20}, 30, []string{"in_lb(api)"}, ""},
		{"another instance higher", map[string]int64{"in_lb(db)": 20}, 10, []string{"in_lb(api)"}, ""},
		{"whole fluent higher", map[string]int64{"in_lb": 20}, 10, []string{"in_lb(api)"}, "in_lb"},
		{"writes the whole, an instance higher", map[string]int64{"in_lb(db)": 20}, 10, []string{"in_lb"}, "in_lb(db)"},
		{"another fluent whose name begins alike", map[string]int64{"in_lb_x": 20}, 10, []string{"in_lb(api)"}, ""},
		{"second write late", map[string]int64{"up(api)": 20}, 10, []string{"in_lb(api)", "up(api)"}, "up(api)"},
		{"does not say what it writes", map[string]int64{"up(web)": 20}, 10, nil, "up(web)"},
		{"no fence at all", map[string]int64{"in_lb(api)": 20}, 0, []string{"in_lb(api)"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := keeper(t)
			for r, token := range c.raised {
				if err := k.raise(context.Background(), token, []string{r}, nil); err != nil {
					t.Fatal(err)
				}
			}
			end, err := k.admit(c.token, c.writes)
			if err == nil {
				end()
			}
			var late *lateError
			errors.As(err, &late)
			switch {
			case c.late == "" && err != nil:
				t.Fatalf("refused: %v", err)
			case c.late != "" && (late == nil || late.Resource != c.late || late.Fence != 20):
				t.Fatalf("got %v, want a refusal by the fence 20 of %s", err, c.late)
			}
		})
	}
}

func TestARaiseIsAllOrNothing(t *testing.T) {
	k := keeper(t)
	if err := k.raise(context.Background(), 20, []string{"up(api)"}, nil); err != nil {
		t.Fatal(err)
	}
	err := k.raise(context.Background(), 10, []string{"up(db)", "up(api)"}, []string{"up(db)", "up(api)"})
	if err == nil || err.Error() != "late: the fence of up(api) is already at 20" {
		t.Fatalf("got %v", err)
	}
	if got := k.fences["up(db)"]; got != 0 {
		t.Fatalf("a refused raise lifted up(db) to %d", got)
	}
}

func TestARaiseReturnsOnlyWhenOlderActsOnItsResourcesHaveEnded(t *testing.T) {
	k := keeper(t)
	endOther, err := k.admit(5, []string{"up(db)"})
	if err != nil {
		t.Fatal(err)
	}
	defer endOther()
	end, err := k.admit(5, []string{"in_lb(api)"})
	if err != nil {
		t.Fatal(err)
	}
	raised := make(chan error)
	go func() { raised <- k.raise(context.Background(), 9, []string{"in_lb"}, nil) }()
	for { // The fence is up at once; the answer waits.
		stop, err := k.admit(5, []string{"in_lb(api)"})
		if err != nil {
			break
		}
		stop()
	}
	select {
	case err := <-raised:
		t.Fatalf("raise answered (%v) while an older act was under way", err)
	default:
	}
	end()
	if err := <-raised; err != nil {
		t.Fatal(err)
	}
}

func TestFencesOutliveTheFleet(t *testing.T) {
	file := filepath.Join(t.TempDir(), "fences.json")
	k, err := openFences(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.raise(context.Background(), 20, []string{"up(api)"}, nil); err != nil {
		t.Fatal(err)
	}
	again, err := openFences(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.admit(10, []string{"up(api)"}); err == nil {
		t.Fatal("a late act was let in after a restart")
	}
}

func TestAReadersHigherFenceIsNoReasonToRefuseARaise(t *testing.T) {
	k := keeper(t)
	if err := k.raise(context.Background(), 20, []string{"in_lb", "up(db)"}, []string{"up(db)"}); err != nil {
		t.Fatal(err)
	}
	if err := k.raise(context.Background(), 10, []string{"in_lb", "up(api)"}, []string{"up(api)"}); err != nil {
		t.Fatalf("a reader of in_lb with a lower token was refused: %v", err)
	}
	if got := k.fences["in_lb"]; got != 20 {
		t.Errorf("the fence of in_lb went back to %d", got)
	}
	if err := k.raise(context.Background(), 10, nil, []string{"in_lb(api)"}); err == nil {
		t.Error("a raise to write in_lb(api) was let in below the fence of in_lb")
	}
}
