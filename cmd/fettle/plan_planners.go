package main

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model/load"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/planner/search"
)

// builtin is the name and the kind of the built-in search.
const builtin = "search"

// plannersOf returns the model's planners in the order written, or the one that
// is named. Without any the built-in search plans, which can always be named.
// Passed tells of planners that this version does not serve and that others
// stand in for.
func plannersOf(l *loaded, name string, o search.Options) (proposers []planner.Proposer, passed []string, err error) {
	var names []string
	for _, b := range l.Planners {
		names = append(names, b.Name)
		switch {
		case name != "" && b.Name != name:
		case b.Kind != builtin && name != "":
			return nil, nil, notServed(b)
		case b.Kind != builtin:
			passed = append(passed, notServed(b).Error()+"; it is passed over")
		default:
			if err := noAttributes(b); err != nil {
				return nil, nil, err
			}
			proposers = append(proposers, planner.NewSearch(b.Name, o))
		}
	}
	switch {
	case len(proposers) > 0:
		return proposers, passed, nil
	case name == builtin, name == "" && len(l.Planners) == 0:
		return []planner.Proposer{planner.NewSearch(builtin, o)}, nil, nil
	case name != "":
		return nil, nil, unknownName("planner", name, append(names, builtin))
	}
	return nil, nil, fmt.Errorf("%w, and the model has no other; --planner %s asks the built-in search", notServed(l.Planners[0]), builtin)
}

func notServed(b *load.Block) error {
	return fmt.Errorf("planner %q (%s) is of the kind %q, which this version does not serve", b.Name, place(b.Range), b.Kind)
}

func place(r hcl.Range) string { return fmt.Sprintf("%s line %d", r.Filename, r.Start.Line) }

// noAttributes refuses what a search block says and nothing would obey: the
// search's limits are the policy's.
func noAttributes(b *load.Block) error {
	if _, diags := b.Body.Content(&hcl.BodySchema{}); diags.HasErrors() {
		return fmt.Errorf("planner %q (%s) takes no settings; the limits of the search stand in the policy: %s", b.Name, place(b.Range), diags[0].Detail)
	}
	return nil
}

func joinReasons(reasons []string) string { return strings.Join(reasons, "; ") }
