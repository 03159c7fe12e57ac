package validator_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fettleops/fettle/validator"
)

const shortest = "drain(api)\nrestart(api)\ntake_lock(db)\nreadd(api)\ndrain(db)\nrevert(db)\nreadd(db)\nrelease(db)\n"

const swapped = "drain(api)\nrestart(api)\ntake_lock(db)\ndrain(db)\nreadd(api)\nrevert(db)\nreadd(db)\nrelease(db)\n"

func TestTheClassicPlanIsValid(t *testing.T) {
	r := validator.Validate(classic(t), plan(shortest))
	var b strings.Builder
	if err := r.WriteText(&b); err != nil || b.String() != "valid: 8 steps, cost 8, goal healthy reached\n" {
		t.Errorf("got %q, %v", b.String(), err)
	}
}

func TestTheSwappedPlanComesBackWithCauseAndCure(t *testing.T) {
	r := validator.Validate(classic(t), plan(swapped))
	const text = `step 4: drain(db) not applicable; missing capacity

  capacity = false since step 1: drain(api)
  would be restored by readd(api) (applicable now), readd(db)
  repair: move step 5, readd(api), before step 4
`
	var b strings.Builder
	if err := r.WriteText(&b); err != nil || b.String() != text {
		t.Errorf("got\n%s\nwant\n%s", b.String(), text)
	}
	const doc = `{"valid":false,"steps":8,"step":4,"action":"drain(db)","kind":"precondition",` +
		`"critique":"step 4: drain(db) not applicable; missing capacity",` +
		`"missing":[{"condition":"capacity","because":[{"fluent":"capacity","value":false,` +
		`"since":{"step":1,"action":"drain(api)"},"achievers":["readd(api)","readd(db)"]}]}],` +
		`"repair":"move step 5, readd(api), before step 4","cost":3,"goal":"healthy"}`
	if got, err := json.Marshal(r); err != nil || string(got) != doc {
		t.Errorf("got\n%s\nwant\n%s", got, doc)
	}
}
