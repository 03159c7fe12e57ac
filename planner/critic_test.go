package planner

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// reader answers with its opinions in turn, the last one for ever.
type reader struct {
	opinions []Opinion
	err      error
	read     []Review
}

func (r *reader) Name() string { return "reader" }

func (r *reader) Review(_ context.Context, v Review) (Opinion, error) {
	r.read = append(r.read, v)
	if r.err != nil {
		return Opinion{}, r.err
	}
	o := r.opinions[min(len(r.read), len(r.opinions))-1]
	o.Usage = Usage{Calls: 1}
	return o, nil
}

var (
	fine    = Opinion{Accept: true}
	tidy    = Opinion{Changes: []Change{{2, "turn it off again"}}}
	gloves  = Opinion{Changes: []Change{{1, "wear gloves"}}}
	shining = []Proposal{proposal("fit on"), proposal("fit on off on"), proposal("on")}
)

func TestCritic(t *testing.T) {
	for _, tt := range []struct {
		name     string
		critic   *reader
		rounds   int
		attempts int
		want     []string // attempts
		status   Status
		plan     int // steps
		remarks  []string
		read     int
	}{
		{"accepts", &reader{opinions: []Opinion{fine}}, 3, 5, []string{"pass"}, Valid, 2, nil, 1},
		{"is not asked where it has no rounds", &reader{opinions: []Opinion{tidy}}, 0, 5, []string{"pass"}, Valid, 2, nil, 0},
		{
			"sends a plan back, then accepts", &reader{opinions: []Opinion{tidy, fine}}, 3, 5,
			[]string{"fail critic: a critic requires: step 2: turn it off again", "pass"},
			Valid, 4, nil, 2,
		},
		{
			"requires the same again: it stays a remark", &reader{opinions: []Opinion{tidy}}, 3, 5,
			[]string{"fail critic: a critic requires: step 2: turn it off again", "pass"},
			Valid, 4,
			[]string{"step 2: turn it off again"},
			2,
		},
		{
			"is heard as often as its rounds say", &reader{opinions: []Opinion{tidy, gloves}}, 1, 5,
			[]string{"fail critic: a critic requires: step 2: turn it off again", "pass"},
			Valid, 4,
			[]string{"not read by a critic: critic_rounds = 1 used"},
			1,
		},
		{
			"a plan that only it objects to is not lost to a worse one", &reader{opinions: []Opinion{tidy, gloves}}, 3, 3,
			[]string{
				"fail critic: a critic requires: step 2: turn it off again", "fail critic: a critic requires: step 1: wear gloves",
				"fail precondition: step 1: on not applicable; missing bulb",
			},
			Valid, 4,
			[]string{"step 1: wear gloves"},
			2,
		},
		{"cannot be asked", &reader{err: errors.New("no key")}, 3, 5, []string{"pass"}, Valid, 2, []string{"not read by reader: no key"}, 1},
		{
			"has no budget left", &reader{err: &StopError{errors.New("max_calls = 2 reached")}}, 3, 5,
			[]string{"pass"},
			Valid, 2,
			[]string{"not read by reader: max_calls = 2 reached"},
			1,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res, err := Round(t.Context(), newLamp().problem(), []Proposer{says("m", shining...)},
				Limits{MaxAttempts: tt.attempts, CriticRounds: tt.rounds}, Unlimited{}, NewTried(), nil, tt.critic)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, a := range res.Attempts {
				got = append(got, strings.TrimSuffix(fmt.Sprintf("%s %s: %s", a.Outcome, a.Kind, a.Critique), " : "))
			}
			if !reflect.DeepEqual(got, tt.want) || res.Status != tt.status || len(res.Plan) != tt.plan || !reflect.DeepEqual(res.Remarks, tt.remarks) {
				t.Errorf("got  %q\n%s, %d steps, remarks %q\nwant %q\n%s, %d steps, remarks %q", got, res.Status, len(res.Plan), res.Remarks, tt.want, tt.status, tt.plan, tt.remarks)
			}
			if len(tt.critic.read) != tt.read {
				t.Errorf("it read %d plans, want %d", len(tt.critic.read), tt.read)
			}
		})
	}
}

// TestCriticSeesNoInvalidPlan: what the validator rejects never gets to it, and
// its calls are counted.
func TestCriticSeesNoInvalidPlan(t *testing.T) {
	c := &reader{opinions: []Opinion{fine}}
	res, err := Round(t.Context(), newLamp().problem(), []Proposer{says("m", proposal("on"), proposal("fit on"))},
		Limits{MaxAttempts: 5, CriticRounds: 2}, Unlimited{}, nil, nil, c)
	if err != nil || len(c.read) != 1 || len(c.read[0].Steps) != 2 || res.Usage.Calls != 1 {
		t.Errorf("read %+v, %d calls, %v", c.read, res.Usage.Calls, err)
	}
}
