package world

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/types"
	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model"
)

// kind is one way to reach the world. A new kind is a file of its own and a
// line in kinds.
type kind struct {
	name string
	// Observing: the body's attributes, how it is decoded, and the names that
	// an answer offers to `value`.
	attributes []hcl.AttributeSchema
	observe    func(*decoder) asker
	answers    types.Map
	// verdict is the name by which an expression judges whether the answer is
	// an answer at all (status, exit_code). An answer that says of itself that
	// it failed is unknown unless the expression looks at that name.
	verdict string
	// judged: outside of lists, a failed answer may be judged by its content.
	judged bool
	// series: an answer is many series, each about one instance. Nil for the
	// kinds whose answer is about one object or has a list.
	series func(*decoder, *model.Fluent) *series

	runAttributes []hcl.AttributeSchema
	run           func(*decoder) actuator

	fenceAttributes []hcl.AttributeSchema
	fence           func(*decoder) raiser
	fenced          bool // by itself, without a fence block

	// Discovering: the attributes by which the world is asked, and how they are
	// decoded. The answers are those of observing.
	question []hcl.AttributeSchema
	discover func(*decoder) asker

	// What is checked and not carried out yet: observe and run bodies of a kind
	// that is not served.
	checkObserve func(*decoder, *model.Fluent)
	checkRun     func(*decoder)
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
		"exec":       execKind(),
		"http":       httpKind(),
		"lease":      leaseKind(),
		"prometheus": prometheusKind(),
	}
}

// capable tells whether the kind has blocks of a sort, and whether what they
// say is carried out or only checked.
func (k *kind) capable(block string) (has, served bool) {
	switch block {
	case "observe":
		return k.observe != nil || k.checkObserve != nil, k.observe != nil
	case "run":
		return k.run != nil || k.checkRun != nil, k.run != nil
	default:
		return k.discover != nil, k.discover != nil
	}
}

// findKind returns the kind of a block, or why there is none.
func findKind(block string, b Block) (*kind, hcl.Diagnostics) {
	all := kinds()
	var names, quoted []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		k := all[name]
		if has, _ := k.capable(block); !has {
			continue
		}
		if name == b.Kind {
			return &k, nil
		}
		names = append(names, name)
		quoted = append(quoted, strconv.Quote(name))
	}
	detail := fmt.Sprintf("There is no kind %q of %s blocks.", b.Kind, block)
	if near := didYouMean(b.Kind, names); near != "" {
		detail += near
	} else {
		detail += fmt.Sprintf(" There is %s and %s.", strings.Join(quoted[:len(quoted)-1], ", "), quoted[len(quoted)-1])
	}
	return nil, hcl.Diagnostics{{
		Severity: hcl.DiagError, Subject: b.Range.Ptr(), Summary: fmt.Sprintf("Unknown kind %q", b.Kind), Detail: detail,
	}}
}

// didYouMean returns a sentence with the candidate that is most likely meant,
// or nothing.
func didYouMean(name string, candidates []string) string {
	if near := model.Nearest(name, candidates); near != "" {
		return fmt.Sprintf(" Did you mean %q?", near)
	}
	return ""
}

// notServed warns that a block is of a kind that is only checked.
func (d *decoder) notServed(block string, b Block) {
	d.diags = append(d.diags, &hcl.Diagnostic{
		Severity: hcl.DiagWarning, Subject: b.Range.Ptr(),
		Summary: "Kind not served",
		Detail:  fmt.Sprintf("The kind %q of this %s block is not served by this version, so that the model can be checked and planned, but not run.", b.Kind, block),
	})
}
