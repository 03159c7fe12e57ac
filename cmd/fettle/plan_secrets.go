package main

import (
	"slices"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/world"
)

// tellable is what may be told of an attempt: the values of sensitive variables
// are not, should whoever was asked have come by one, nor what looks like a secret. Of a plan that passed the
// steps are as they are: they name the model's own objects.
func (l *loaded) tellable(at planner.Attempt) planner.Attempt {
	hide := world.Hide(l.Secrets, l.Redact)
	at.Critique, at.Proposal.Reason = hide(at.Critique), hide(at.Proposal.Reason)
	at.Report.Critique, at.Report.Action = hide(at.Report.Critique), hide(at.Report.Action)
	at.Proposal.Notes = hidden(at.Proposal.Notes, hide)
	if at.Outcome == planner.Pass {
		return at
	}
	at.Steps = slices.Clone(at.Steps)
	for i, st := range at.Steps {
		at.Steps[i] = model.Step{Action: hide(st.Action), Args: hidden(st.Args, hide), Params: hidden(st.Params, hide), Line: st.Line}
	}
	return at
}

// tellableResult is what may be told of a round.
func (l *loaded) tellableResult(res planner.Result) planner.Result {
	hide := world.Hide(l.Secrets, l.Redact)
	res.Reason, res.Remarks = hide(res.Reason), hidden(res.Remarks, hide)
	res.Attempts = slices.Clone(res.Attempts)
	for i, at := range res.Attempts {
		res.Attempts[i] = l.tellable(at)
	}
	return res
}

func hidden(texts []string, hide func(string) string) []string {
	if texts == nil {
		return nil
	}
	out := make([]string, len(texts))
	for i, s := range texts {
		out[i] = hide(s)
	}
	return out
}
