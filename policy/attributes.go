package policy

import "time"

// counts are the attributes that are whole numbers, with the least value that
// makes sense. A count of attempts below one would forbid the run itself; a
// limit of zero actions or calls is a way to say never.
var counts = []struct {
	name  string
	least int
	must  func(*Policy) *int        // of a required limit
	may   func(*Policy) *Limit[int] // of another
}{
	{"max_rounds", 1, func(p *Policy) *int { return &p.MaxRounds }, nil},
	{"max_attempts", 1, func(p *Policy) *int { return &p.MaxAttempts }, nil},
	{"max_plan_steps", 1, nil, func(p *Policy) *Limit[int] { return &p.MaxPlanSteps }},
	{"max_calls", 0, nil, func(p *Policy) *Limit[int] { return &p.MaxCalls }},
	{"max_tokens", 1, nil, func(p *Policy) *Limit[int] { return &p.MaxTokens }},
	{"context_tokens", 1, nil, func(p *Policy) *Limit[int] { return &p.ContextTokens }},
	{"max_actions", 0, func(p *Policy) *int { return &p.MaxActions }, nil},
	{"max_repeats", 1, func(p *Policy) *int { return &p.MaxRepeats }, nil},
	{"same_failure_retries", 1, func(p *Policy) *int { return &p.SameFailureRetries }, nil},
	{"no_evidence_rounds", 1, func(p *Policy) *int { return &p.NoEvidenceRounds }, nil},
	{"max_errors", 0, func(p *Policy) *int { return &p.MaxErrors }, nil},
	{"critic_rounds", 0, nil, func(p *Policy) *Limit[int] { return &p.CriticRounds }},
}

// durations are the attributes that are spans of time, deadline apart.
var durations = []struct {
	name  string
	zero  bool // whether zero makes sense
	field func(*Policy) *Limit[time.Duration]
}{
	{"max_wait", true, func(p *Policy) *Limit[time.Duration] { return &p.MaxWait }},
	{"approval_expires", false, func(p *Policy) *Limit[time.Duration] { return &p.ApprovalExpires }},
	{"retention", false, func(p *Policy) *Limit[time.Duration] { return &p.Retention }},
}

// order is the order in which required attributes are named and written.
var order = []string{
	"max_rounds", "max_attempts", "max_actions", "deadline",
	"max_repeats", "same_failure_retries", "no_evidence_rounds", "max_errors",
}

// usual are the values of the example, for a first run of a small model.
var usual = map[string]string{
	"max_rounds": "3", "max_attempts": "3", "max_actions": "30", "deadline": `"10m"`,
	"max_repeats": "2", "same_failure_retries": "2", "no_evidence_rounds": "2", "max_errors": "5",
}
