package load

import (
	"fmt"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"
)

var (
	modelSchema = schema("scope doc redact")
	etcdSchema  = schema("endpoints ca_file cert_file key_file user password prefix")
)

// The kinds of each block, in the order in which they are named.
var kinds = map[string][]string{
	"provider": {"prometheus", "http"},
	"planner":  {"openai", "anthropic", "exec", "replay", "search"},
	"critic":   {"openai", "anthropic", "exec"},
	"trigger":  {"alertmanager", "schedule"},
	"notify":   {"http", "exec"},
}

// settings reads the blocks around the action model.
func (ld *loader) settings() {
	ld.modelBlock()
	if b := ld.only("policy"); b != nil {
		ld.l.Policy = newBlock(b)
	}
	if b := ld.only("etcd"); b != nil {
		ld.l.Etcd = ld.etcd(b)
	}
	for _, list := range []struct {
		kind string
		to   *[]*Block
	}{
		{"provider", &ld.l.Providers},
		{"planner", &ld.l.Planners},
		{"critic", &ld.l.Critics},
		{"trigger", &ld.l.Triggers},
		{"notify", &ld.l.Notifies},
		{"test", &ld.l.Tests},
	} {
		for _, b := range ld.blocks[list.kind] {
			if ld.kept(b) {
				*list.to = append(*list.to, newBlock(b))
			}
		}
	}
}

// only returns the one block of a type that a model may have.
func (ld *loader) only(kind string) *hcl.Block { return ld.single(ld.blocks[kind], kind) }

// kept reports a block of an unknown kind or with a name that is taken.
func (ld *loader) kept(b *hcl.Block) bool {
	if known := kinds[b.Type]; known != nil {
		found := false
		for _, k := range known {
			found = found || k == b.Labels[0]
		}
		if !found {
			ld.errorAt(b.LabelRanges[0], fmt.Sprintf("Unknown kind of %s", b.Type), "There is no %s of the kind %q; there is %s.%s", b.Type, b.Labels[0], quotedList(known), ld.near(b.Labels[0], known))
			return false
		}
	}
	name := b.Labels[len(b.Labels)-1]
	key := b.Type + " " + name
	if d, taken := ld.names[key]; taken {
		ld.taken(b.Type, name, b.LabelRanges[len(b.Labels)-1], d)
		return false
	}
	ld.names[key] = declared{b.Type, b.DefRange}
	return true
}

// modelBlock reads the scope, which is the folder's base name by default.
func (ld *loader) modelBlock() {
	if abs, err := filepath.Abs(ld.l.Folder); err == nil {
		ld.l.Scope = filepath.Base(abs)
	}
	b := ld.only("model")
	if b == nil {
		return
	}
	attrs := ld.content(b.Body, modelSchema).Attributes
	ld.l.Doc = ld.text(attrs, "doc")
	ld.l.Redact = ld.patterns(attrs["redact"])
	if attr := attrs["scope"]; attr != nil {
		if s := ld.text(attrs, "scope"); s != "" {
			ld.l.Scope = s
		} else if literalEmpty(attr.Expr) {
			ld.errorAt(attr.Expr.Range(), "Empty scope", "Leases and journal are kept under the scope; give it a name.")
		}
	}
}

func literalEmpty(e hcl.Expression) bool { return isTemplate(e) && literal(e) == "" }

func (ld *loader) etcd(b *hcl.Block) *Etcd {
	attrs := ld.content(b.Body, etcdSchema).Attributes
	e := &Etcd{
		Endpoints: ld.texts(attrs["endpoints"]), CAFile: ld.file(attrs, "ca_file"), CertFile: ld.file(attrs, "cert_file"),
		KeyFile: ld.file(attrs, "key_file"), User: ld.text(attrs, "user"), Password: ld.text(attrs, "password"),
		Prefix: ld.text(attrs, "prefix"), Range: b.DefRange,
	}
	if (attrs["cert_file"] == nil) != (attrs["key_file"] == nil) {
		ld.errorAt(b.DefRange, "Half a certificate", "cert_file and key_file are given together.")
	}
	if attr := attrs["endpoints"]; attr != nil && isEmptyList(attr.Expr) {
		ld.errorAt(attr.Expr.Range(), "No endpoints", `Give the cluster's endpoints, as in ["https://etcd-1:2379"], or leave the attribute out for an embedded etcd.`)
	}
	return e
}

// file reads a path, relative to the model's folder.
func (ld *loader) file(attrs hcl.Attributes, name string) string {
	p := ld.text(attrs, name)
	if p != "" && !filepath.IsAbs(p) {
		p = filepath.Join(ld.l.Folder, p)
	}
	return p
}
