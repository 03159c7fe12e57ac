package executor

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fettleops/fettle/world/redaction"
)

// TestARunIsReplayedAndGoneOnWithWhateverIsRedacted promises that no pattern of a
// model, be it one that finds every text, spoils what the run rests on: its plans,
// names, values and times.
func TestARunIsReplayedAndGoneOnWithWhateverIsRedacted(t *testing.T) {
	everything := redaction.Patterns{regexp.MustCompile(`(?s).+`)}
	r := newRig(t, setup{policy: []string{"mode", `"approve"`}})
	r.pupil()
	r.config.Redact = everything
	r.ends(r.run(), WaitingStatus, approvalWanted)
	c := r.config
	c.Ask = yes
	end, err := Resume(testCtx(t), c, r.journal(), r.events[0].Run)
	must(t, err)
	r.ends(end, Succeeded, "")
	r.replays()
	var plan []string
	redacted := 0
	for e, err := range r.journal().Events(testCtx(t), r.events[0].Run) {
		must(t, err)
		redacted += strings.Count(string(e.Data), redaction.Mark)
		if e.Kind == PlanAccepted {
			for _, s := range decoded[Plan](r, e).Steps {
				plan = append(plan, s.Action)
			}
		}
	}
	if want := []string{"stop(api)", "mend(api)", "start(api)"}; !slices.Equal(plan[:min(3, len(plan))], want) {
		t.Errorf("the plan is %v", plan)
	}
	if redacted == 0 {
		t.Error("nothing is redacted")
	}
}
