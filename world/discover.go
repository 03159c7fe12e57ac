package world

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/fettleops/fettle/model"
)

// checkDiscover checks a discover body. Discovery is not yet served, which
// package load tells, so there is nothing to compile.
func (w *World) checkDiscover(t *model.Type, b Block) hcl.Diagnostics {
	k, diags := findKind("discover", b)
	if k == nil {
		return diags
	}
	d := w.newDecoder(fmt.Sprintf("discover %q of type %q", b.Kind, t.Name), nil)
	lists := k.name != "prometheus" // whose answer is a list of series
	attrs := []hcl.AttributeSchema{{Name: "object", Required: true}, {Name: "allow_empty"}}
	if lists {
		attrs = append(attrs, hcl.AttributeSchema{Name: "items", Required: true})
	}
	d.open(b, append(attrs, k.discoverAttributes...), nil)
	k.checkDiscover(d)
	d.fixed("allow_empty", cty.Bool)
	d.program("items", k.answers, nil, false)
	if p := d.program("object", k.answers, nil, lists); p != nil && !names(p) {
		d.errorf(d.attrs["object"].Expr.Range(), "Unsuitable value", "The object of %s must be a name, and this is %s.", d.what, typeWords(p.typ))
	}
	return d.diags
}

// names tells whether an expression can give the name of an object.
func names(p *program) bool {
	return fits(&model.Fluent{Kind: model.KindString}, p.typ) || fits(&model.Fluent{Kind: model.KindNumber}, p.typ)
}
