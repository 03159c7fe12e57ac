package audit

import "time"

// Settings are what the model says now of an action's time limits. Runs may have
// been carried out with others.
type Settings struct {
	Timeout time.Duration
	Settle  time.Duration // how long its effects may take to be seen
}

// Report is what the journals tell.
type Report struct {
	Runs     Runs       `json:"runs"`
	Actions  []*Action  `json:"actions"`  // the worst first
	Planners []*Planner `json:"planners"` // by name
}

// Runs counts the runs that were looked at.
type Runs struct {
	Total    int            `json:"total"`
	ByStatus map[string]int `json:"by_status"`
	First    *time.Time     `json:"first,omitempty"` // when the earliest began
	Last     *time.Time     `json:"last,omitempty"`  // when the latest began
	// OtherModels counts those that were carried out with another model than the
	// present one, at least in part.
	OtherModels int `json:"other_models"`
	// Unreadable counts events that could not be read, those of other kinds than
	// the audit looks at not included.
	Unreadable int `json:"unreadable_events"`
}

// Action is what became of an action of the model.
type Action struct {
	Name string `json:"name"`
	// Gone is set where the model has no such action any more.
	Gone       bool           `json:"gone,omitempty"`
	Executions int            `json:"executions"`
	Outcomes   map[string]int `json:"outcomes"` // applied, not_applied, diverged, unknown
	// Unannounced counts executions that failed by what the actuator said, though
	// all their effects were seen.
	Unannounced int            `json:"unannounced"`
	TimedOut    int            `json:"timed_out"`  // ran as long as its timeout allows
	Unfinished  int            `json:"unfinished"` // begun, and their run tells of no end
	Resolved    map[string]int `json:"resolved"`   // in doubt, and found out later: by outcome
	ByHand      int            `json:"by_hand"`    // those of Resolved that a person said, and nobody observed
	Skipped     int            `json:"skipped"`    // because all effects held already
	Refused     map[string]int `json:"refused"`    // before anything was done, by kind
	Failure     string         `json:"failure"`    // what the actuator said when it failed last
	ActS        Spread         `json:"act_s"`      // how long the actuator took, in seconds
	TimeoutS    float64        `json:"timeout_s"`  // by the model; 0 where it has no such action
	SettleS     float64        `json:"settle_s"`   // likewise
	Effects     []*Effect      `json:"effects"`    // the worst first
	Changes     []string       `json:"changes"`    // what to change, a sentence each
	Disagreed   int            `json:"disagreed"`  // executions in which the model and the world did
	// Example is the run in which the action disagreed last; "" for none.
	Example string `json:"example_run,omitempty"`
	last    time.Time
}

// Effect is a fluent that an action declares to change, over the executions that
// the actuator called done.
type Effect struct {
	Fluent   string `json:"fluent"`
	Declared int    `json:"declared"` // so many instances were to change
	Seen     int    `json:"seen"`     // within settle
	Assumed  int    `json:"assumed"`  // beliefs, which nothing observes
	Other    int    `json:"other"`    // something else was seen until settle was over
	Unknown  int    `json:"unknown"`  // nothing could be seen of it
	// Later counts those of the two that came true later in the run, before any
	// other action wrote them.
	Later int `json:"later"`
	// Again counts those of the two that came true once the same ground action had
	// been done again: late, or in need of a second try.
	Again  int    `json:"again"`
	AfterS Spread `json:"after_s"` // when it was seen, in seconds after the action ended
	LaterS Spread `json:"later_s"` // when it was first seen too late, an upper bound
	AgainS Spread `json:"again_s"` // likewise of those done again, from the end of the first
	// Example is the last one not seen: what was wanted, and what was seen.
	Example string `json:"example,omitempty"`
	Error   string `json:"error,omitempty"` // why it was not known, the last time
}

// Planner is what became of a planner's proposals.
type Planner struct {
	Name      string         `json:"name"`
	Model     string         `json:"model,omitempty"` // the language model that it asks
	Attempts  int            `json:"attempts"`
	Valid     int            `json:"valid"`
	Proofs    int            `json:"proofs"`    // that there is no plan
	Errors    int            `json:"errors"`    // it could not be asked
	Failed    map[string]int `json:"failed"`    // by kind
	Critiques int            `json:"critiques"` // followed by another proposal of its own
	Used      int            `json:"used"`      // after which the proposal no longer had the failure
	Calls     int            `json:"calls"`
	Tokens    int            `json:"tokens"`
	CostUSD   float64        `json:"cost_usd"`
	TookS     Spread         `json:"took_s"` // of an attempt
}
