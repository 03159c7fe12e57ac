package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/planner/llm"
	"github.com/fettleops/fettle/policy"
)

// recordFlag adds the flag that names where exchanges are written.
func recordFlag(fl *pflag.FlagSet, dir *string) {
	fl.StringVar(dir, "record", "", "write each exchange with a language model into this new `folder`, without secrets; a planner \"replay\" plays it back")
}

// recorder returns what writes exchanges into a folder; nil where none is named
// or nothing would be written.
func (a *app) recorder(l *loaded, dir string) (*llm.Recorder, error) {
	if dir == "" {
		return nil, nil
	}
	if !callsModels(l.Loaded) {
		a.say([]string{"Warning: nothing is recorded in " + dir + ": no planner and no critic of this model calls a language model"})
		return nil, nil
	}
	return llm.NewRecorder(dir, l.redact)
}

// say tells a person what to know before anything is done, a line each.
func (a *app) say(lines []string) {
	for _, s := range lines {
		fmt.Fprintln(a.err, plain(s))
	}
}

// tellUsed says what the calls of models used of the policy's limits.
func tellUsed(line *waitingLine, p *policy.Policy, u planner.Usage) {
	if p == nil {
		return
	}
	if s := usedSoFar(u, limited(p.MaxCalls), limited(p.MaxCost)); s != "" {
		line.println(s)
	}
}
