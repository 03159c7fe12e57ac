package load

import (
	"math"
	"slices"
	"time"
)

const (
	maxCount = math.MaxInt32
	// shortest is the least of a time-out: none would never let anything end.
	shortest = time.Millisecond
)

// shapes are the bodies by block and kind.
var shapes = map[string]*shape{
	"planner openai":    {settings: slices.Concat(modelCall, proposing), blocks: []nested{price}},
	"planner anthropic": {settings: slices.Concat(modelCall, proposing), blocks: []nested{price}},
	"planner exec":      {settings: slices.Concat(program, proposing, []setting{{"max_output", integer(1, maxCount)}, {"notes", isText}})},
	"planner replay":    {settings: []setting{{"file!", isName}}},
	"planner search":    {},

	"critic openai":    {settings: modelCall, blocks: []nested{price}},
	"critic anthropic": {settings: modelCall, blocks: []nested{price}},
	"critic exec":      {settings: slices.Concat(program, []setting{{"max_output", integer(1, maxCount)}, {"notes", isText}})},

	"trigger alertmanager": {
		settings:  []setting{{"goal!", isGoalName}, {"match", isTextMap}, {"params", argumentsOf("labels", "annotations")}},
		relations: relations{argumentsFit(false)},
	},
	"trigger schedule": {
		settings: []setting{
			{"goal!", isGoalName}, {"params", argumentsOf()}, {"cron", isCron}, {"every", span(time.Second)}, {"timezone", isName},
		},
		relations: relations{exactlyOne("cron", "every"), needs("timezone", "cron"), argumentsFit(true)},
	},

	"notify http": {
		settings: slices.Concat([]setting{
			{"url!", isURL}, {"method", words("POST", "PUT", "PATCH")}, {"headers", isTextMap}, {"timeout", span(shortest)},
		}, telling),
		relations: relations{afterFits},
	},
	"notify exec": {settings: slices.Concat(program, telling), relations: relations{afterFits}},

	"provider prometheus": {settings: slices.Concat([]setting{{"address!", isURL}}, connection), relations: credentials},
	"provider http":       {settings: connection, relations: credentials},
}

// modelCall is what is said of a language model, whatever it is asked for.
var modelCall = []setting{
	{"model!", isName},
	{"base_url", isURL},
	{"api_key", isSecret},
	{"temperature", isAmount},
	{"max_tokens", integer(1, maxCount)},
	{"reasoning_effort", isName},
	{"timeout", span(shortest)},
	{"prompt", isTextOrMap},
	{"notes", isText},
	{"extra_body", isObject},
	{"headers", isTextMap},
}

// price is in USD per million tokens.
var price = nested{name: "price", shape: &shape{settings: []setting{
	{"input!", isAmount}, {"output!", isAmount}, {"cached", isAmount},
}}}

// proposing is what is said of any planner that is asked from outside.
var proposing = []setting{
	{"required", isFlag}, {"feedback", words("none", "binary", "first", "explained", "all")},
}

// program is a command that is run.
var program = []setting{
	{"command!", isCommand}, {"env", isTextMap}, {"dir", isName}, {"timeout", span(shortest)},
}

// telling is what is said of whomever a run's end and waits are told to.
var telling = []setting{{"on", someOf(occasions...)}, {"after", span(shortest)}}

// waitingLong is the occasion that after is about.
const waitingLong = "waiting_long"

// occasions are when somebody is told: a run's statuses, an action of unknown
// outcome, what a run left worse than it was, and a wait that lasts.
var occasions = []string{"waiting", "succeeded", "escalated", "failed", "cancelled", "in_doubt", "left_out", waitingLong}

// connection is how a server is reached.
var connection = []setting{
	{"timeout", span(shortest)},
	{"headers", isTextMap},
	{"user", isName},
	{"password", isSecret},
	{"bearer_token", isSecret},
	{"ca_file", isName},
	{"cert_file", isName},
	{"key_file", isName},
}

var credentials = relations{
	atMostOne("user", "bearer_token"), needs("password", "user"), needs("cert_file", "key_file"), needs("key_file", "cert_file"),
}
