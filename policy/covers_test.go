package policy

import (
	"strings"
	"testing"

	"github.com/fettleops/fettle/docs"
)

// coversOf decodes a policy whose block approval_covers is the one given.
func coversOf(t *testing.T, block string) (*Covers, string) {
	t.Helper()
	src := "policy {\n"
	for name, value := range usual {
		src += name + " = " + value + "\n"
	}
	p, diags := decode(t, "covers", []byte(src+block+"\n}\n"))
	var said []string
	for _, d := range diags {
		said = append(said, d.Summary+": "+d.Detail)
	}
	return p.ApprovalCovers, strings.Join(said, "\n")
}

func TestTheBoundsOfAnApprovalAreRead(t *testing.T) {
	for block, want := range map[string]Covers{
		"approval_covers { same_actions = true }":                                      {SameActions: true},
		"approval_covers {\nmax_steps = 3\nmax_cost = 1.5\nmax_risk = medium\n}":       {MaxSteps: AtMost(3), MaxCost: AtMost(1.5), MaxRisk: "medium"},
		"approval_covers {\nsame_actions = false\nmax_risk = \"low\"\n}":               {MaxRisk: "low"},
		"approval_covers {\nmax_cost = 0\n}":                                           {MaxCost: AtMost(0.0)},
		"approval_covers {\nsame_actions = true\nmax_steps = null\nmax_risk = high\n}": {SameActions: true, MaxRisk: "high"},
	} {
		got, said := coversOf(t, block)
		if said != "" || got == nil || *got != want {
			t.Errorf("%s: %+v, %s", block, got, said)
		}
	}
	if got, said := coversOf(t, ""); got != nil || said != "" {
		t.Errorf("without a block: %+v, %s", got, said)
	}
	for block, want := range map[string]string{
		"approval_covers {\n}":                                                     "No bounds: This would have the approval of one plan hold for any other. Write at least one of same_actions = true, max_steps, max_cost, max_risk.",
		"approval_covers {\nsame_actions = false\n}":                               "No bounds: ",
		"approval_covers {\nsame_actions = \"perhaps\"\n}":                         "Invalid same_actions: same_actions must be true or false.",
		"approval_covers {\nmax_steps = 0\n}":                                      "Invalid max_steps: max_steps must be a whole number of at least 1, got 0.",
		"approval_covers {\nmax_cost = -1\n}":                                      "Invalid max_cost: max_cost is the cost of a plan and cannot be negative, got -1.",
		"approval_covers {\nmax_risk = \"grave\"\n}":                               `Invalid max_risk: max_risk is one of low, medium, high, got "grave".`,
		"approval_covers {\nmin_steps = 1\n}":                                      "Unsupported argument: ",
		"approval_covers {\nmax_steps = 1\n}\napproval_covers {\nmax_steps = 1\n}": "Duplicate approval_covers block: ",
	} {
		if _, said := coversOf(t, block); !strings.HasPrefix(said, want) || strings.Contains(said, "\n") {
			t.Errorf("%s: said %q, want %q", block, said, want)
		}
	}
}

func TestAnApprovalCoversWhatIsWithinItsBoundsAlone(t *testing.T) {
	approved := CoveredPlan{
		Steps: []string{"stop(a)", "mend(a)", "start(a)"}, Risks: []string{"low", "high", "low"}, Cost: 3,
		Unprotected: []string{"mend(a)"}, Asked: []string{"rule r: why"},
	}
	later := func(change func(*CoveredPlan)) CoveredPlan {
		p := CoveredPlan{Steps: []string{"mend(a)", "start(a)"}, Risks: []string{"medium", "low"}, Cost: 2}
		if change != nil {
			change(&p)
		}
		return p
	}
	same, any := Covers{SameActions: true}, Covers{MaxSteps: AtMost(99)}
	for name, tt := range map[string]struct {
		bounds Covers
		plan   CoveredPlan
		want   string
	}{
		"what is left of it":          {same, later(nil), ""},
		"the same again":              {same, approved, ""},
		"one of its actions, often":   {same, CoveredPlan{Steps: []string{"stop(a)", "stop(a)"}, Risks: []string{"", ""}}, ""},
		"another object":              {same, later(func(p *CoveredPlan) { p.Steps[0] = "mend(b)" }), "mend(b) is no action of the approved plan"},
		"another action, not bounded": {any, later(func(p *CoveredPlan) { p.Steps[0] = "mend(b)" }), ""},
		"as many steps":               {Covers{MaxSteps: AtMost(2)}, later(nil), ""},
		"one more step":               {Covers{MaxSteps: AtMost(1)}, later(nil), "it has 2 steps, max_steps = 1"},
		"as dear":                     {Covers{MaxCost: AtMost(2.0)}, later(nil), ""},
		"dearer":                      {Covers{MaxCost: AtMost(1.5)}, later(nil), "it costs 2, max_cost = 1.5"},
		"as risky":                    {Covers{MaxRisk: "medium"}, later(nil), ""},
		"riskier":                     {Covers{MaxRisk: "low"}, later(nil), "the risk of mend(a) is medium, max_risk = low"},
		"of a risk that nobody says":  {Covers{MaxRisk: "high"}, later(func(p *CoveredPlan) { p.Risks[1] = "" }), "start(a) states no risk, max_risk = high"},
		"every bound counts":          {Covers{SameActions: true, MaxRisk: "low"}, later(nil), "the risk of mend(a) is medium, max_risk = low"},
		"unprotected as before":       {any, later(func(p *CoveredPlan) { p.Unprotected = []string{"mend(a)"} }), ""},
		"unprotected, and was not":    {any, later(func(p *CoveredPlan) { p.Unprotected = []string{"start(a)"} }), "start(a) is unprotected, and was not in the approved plan"},
		"asked for the same reason":   {any, later(func(p *CoveredPlan) { p.Asked = []string{"rule r: why"} }), ""},
		"asked for another reason":    {any, later(func(p *CoveredPlan) { p.Asked = []string{"rule s: why"} }), "it was not asked about this: rule s: why"},
	} {
		why, ok := tt.bounds.Covered(approved, tt.plan)
		if why != tt.want || ok != (tt.want == "") {
			t.Errorf("%s: %v %q, want %q", name, ok, why, tt.want)
		}
	}
}

// TestReferenceNamesEveryBound promises that the language reference names what
// the block may say, and no other.
func TestReferenceNamesEveryBound(t *testing.T) {
	same(t, "approval_covers", docs.Tables()["approval_covers"], coversSchema)
}
