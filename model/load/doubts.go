package load

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/fettleops/fettle/model"
)

// Doubts returns a warning for each thing in a model without errors that is
// most likely not meant: what is never used, what can never apply or be
// reached, what a run would lack, an undo that does not undo, a counter kept
// by hand. A warning is given only for what follows from the model itself; the
// price is that much goes unnoticed.
func (l *Loaded) Doubts() hcl.Diagnostics {
	d := &doubter{l: l, places: l.Places(), blocks: map[string]*hclsyntax.Block{}, dead: map[any]bool{}}
	for _, f := range l.Files {
		body, ok := f.Body.(*hclsyntax.Body)
		if !ok {
			continue
		}
		for _, b := range body.Blocks {
			if len(b.Labels) == 1 {
				d.blocks[b.Type+" "+b.Labels[0]] = b
			}
		}
	}
	d.diags.extend(l.noted)
	d.unused()
	d.unserved()
	d.contradictions()
	d.unreachable()
	d.opposed()
	d.conflicts()
	d.idle()
	d.fractions()
	d.undos()
	d.toggles()
	return d.diags.sorted()
}

// doubter gathers warnings.
type doubter struct {
	l      *Loaded
	places *Places
	blocks map[string]*hclsyntax.Block // of one label, by type and label
	dead   map[any]bool                // actions and goals of which it was told that they can never be
	diags  collector
}

func (d *doubter) warn(rng hcl.Range, summary, detail string, args ...any) {
	if len(args) > 0 {
		detail = fmt.Sprintf(detail, args...)
	}
	d.diags.add(&hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: summary, Detail: detail, Subject: rng.Ptr()})
}

// header is where a block is declared.
func (d *doubter) header(kind, name string) hcl.Range {
	if b := d.blocks[kind+" "+name]; b != nil {
		return b.DefRange()
	}
	return hcl.Range{}
}

// attribute is where the value of a block's attribute stands, or its header.
func (d *doubter) attribute(kind, name, attr string) hcl.Range {
	if b := d.blocks[kind+" "+name]; b != nil && b.Body.Attributes[attr] != nil {
		return b.Body.Attributes[attr].Expr.Range()
	}
	return d.header(kind, name)
}

// opposed warns of a fact that an action deletes in one effect block and
// surely adds in another: what is both added and deleted holds afterwards.
// Within one block the loader tells it.
func (d *doubter) opposed() {
	for _, a := range d.l.Model.Actions {
		places := d.places.Effects[a]
		for i, del := range a.Effects {
			if del.Op != model.Del {
				continue
			}
			for k, add := range a.Effects {
				if add.Op == model.Add && add.When == nil && places[k].Block != places[i].Block && sameHead(add, del) {
					d.warn(places[i].Range, "Added and deleted", "Another effect of the action adds this always, at %s, and what is both added and deleted holds afterwards: it is never deleted here.", place(places[k].Range))
					break
				}
			}
		}
	}
}

// written writes an expression in the model language.
func (l *Loaded) written(e *model.Expr) string {
	return e.Text(model.NewUniverse(l.Model), nil)
}

// listed joins words: a, b and c.
func listed(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
