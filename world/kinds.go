package world

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/expr-lang/expr/types"
	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model"
)

// kind is one way to reach the world. A new kind is a file of its own and a
// line in kinds.
type kind struct {
	name string
	// Observing: the body's attributes beside those of every observe block,
	// how it is decoded, and the names that an answer offers to `value`.
	attributes []hcl.AttributeSchema
	observe    func(*decoder) asker
	answers    types.Map
	// verdict is the name by which an expression judges whether the answer is
	// an answer at all (status, exit_code). An answer that says of itself that
	// it failed is unknown unless the expression looks at that name.
	verdict string
	// judged: outside of lists, a failed answer may be judged by its content.
	judged bool

	runAttributes []hcl.AttributeSchema
	run           func(*decoder) actuator

	fenceAttributes []hcl.AttributeSchema
	fence           func(*decoder) raiser
}

// asker evaluates an observe body to a query, for one ground fluent.
type asker interface {
	query(*ground) (query, error)
	expressions() []hcl.Expression
}

// query is one question to the world. Queries with the same key are asked once.
// What ask answers after the end of ctx is not looked at: it may have timed out
// for that reason alone.
type query interface {
	key() string
	source() Source
	ask(context.Context, *World) answer
}

// actuator carries out an action. It also returns the status or exit code with
// which the actuator answered, 0 where it did not.
type actuator interface {
	act(context.Context, *World, *ground, Call) (Outcome, int)
}

// raiser evaluates a fence body to the actuator that keeps the fence.
type raiser interface {
	target(*ground) (target, error)
	expressions() []hcl.Expression
	rejects() []int // statuses or exit codes by which a late act is told
}

// target is a keeper of fences. Targets with the same key are the same keeper.
type target interface {
	key() string
	raise(context.Context, *World, Fence) error
}

func kinds() map[string]kind {
	return map[string]kind{
		"exec": execKind(),
		"http": httpKind(),
	}
}

// planned kinds are part of the language and not served by this version.
var planned = map[string][]string{
	"observe": {"prometheus", "lease"},
	"run":     {"lease"},
}

// findKind returns the kind of a block, or why there is none.
func findKind(block string, b Block, serves func(kind) bool) (*kind, hcl.Diagnostics) {
	all := kinds()
	if k, ok := all[b.Kind]; ok && serves(k) {
		return &k, nil
	}
	if slices.Contains(planned[block], b.Kind) {
		return nil, hcl.Diagnostics{{
			Severity: hcl.DiagWarning, Subject: b.Range.Ptr(),
			Summary: "Kind not served",
			Detail:  fmt.Sprintf("The kind %q of this %s block is not served by this version, so that the model can be checked and planned, but not run.", b.Kind, block),
		}}
	}
	names := slices.Sorted(maps.Keys(all))
	detail := fmt.Sprintf("There is no kind %q of %s blocks.", b.Kind, block)
	if near := model.Nearest(b.Kind, append(names, planned[block]...)); near != "" {
		detail += fmt.Sprintf(" Did you mean %q?", near)
	} else {
		detail += fmt.Sprintf(" This version serves %q and %q.", names[0], names[1])
	}
	return nil, hcl.Diagnostics{{
		Severity: hcl.DiagError, Subject: b.Range.Ptr(), Summary: fmt.Sprintf("Unknown kind %q", b.Kind), Detail: detail,
	}}
}
