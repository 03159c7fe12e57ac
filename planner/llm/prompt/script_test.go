package prompt_test

import (
	"context"

	"github.com/fettleops/fettle/planner"
)

// script answers with its proposals in turn.
type script struct{ answers []planner.Proposal }

func (s *script) Name() string { return "script" }

func (s *script) Propose(context.Context, planner.Request) (planner.Proposal, error) {
	p := s.answers[0]
	s.answers = s.answers[1:]
	return p, nil
}
