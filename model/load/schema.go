package load

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// schema builds a body schema. Attributes end in ! where they are required;
// blocks are written with their labels, as in "planner KIND NAME".
func schema(attrs string, blocks ...string) *hcl.BodySchema {
	s := &hcl.BodySchema{}
	for _, a := range strings.Fields(attrs) {
		name, required := strings.CutSuffix(a, "!")
		s.Attributes = append(s.Attributes, hcl.AttributeSchema{Name: name, Required: required})
	}
	for _, b := range blocks {
		words := strings.Fields(b)
		s.Blocks = append(s.Blocks, hcl.BlockHeaderSchema{Type: words[0], LabelNames: words[1:]})
	}
	return s
}

// modelBlocks are the blocks of a model's files. Those of one body schema are
// listed with it.
var modelBlocks = []string{
	"type name", "fluent name", "action name", "invariant name", "goal name", "state name",
	"variable name", "locals", "model", "policy", "etcd",
	"provider kind", "planner kind name", "critic kind", "trigger kind name", "notify kind name", "test name",
}

// sortBlocks takes the files apart into blocks by type, in the order read.
func (ld *loader) sortBlocks() {
	ld.blocks = map[string]hcl.Blocks{}
	s := schema("", modelBlocks...)
	for _, body := range ld.bodies {
		content, diags := body.Content(s)
		ld.diags.extend(diags)
		for _, b := range content.Blocks {
			isTest := strings.HasSuffix(b.DefRange.Filename, testSuffix)
			switch {
			case b.Type == "test" && !isTest:
				ld.errorAt(b.TypeRange, "Test outside a test file", "Tests belong in a file that ends in %s.", testSuffix)
			case b.Type != "test" && isTest:
				ld.errorAt(b.TypeRange, "Unsupported block type", "A file that ends in %s holds test blocks only. Blocks of the model belong in a file that ends in %s.", testSuffix, modelSuffix)
			default:
				ld.blocks[b.Type] = append(ld.blocks[b.Type], b)
			}
		}
	}
}

// content decodes a body against a schema and reports what does not fit.
func (ld *loader) content(body hcl.Body, s *hcl.BodySchema) *hcl.BodyContent {
	content, diags := body.Content(s)
	ld.diags.extend(diags)
	return content
}

// single returns the one block of a type in a body, nil where there is none,
// and reports further ones.
func (ld *loader) single(blocks hcl.Blocks, kind string) *hcl.Block {
	var first *hcl.Block
	for _, b := range blocks {
		if b.Type != kind {
			continue
		}
		if first != nil {
			ld.errorAt(b.DefRange, "Duplicate "+kind+" block", "There is one already at %s; only one is allowed here.", place(first.DefRange))
			continue
		}
		first = b
	}
	return first
}

// newBlock keeps a block whose body is decoded elsewhere.
func newBlock(b *hcl.Block) *Block {
	out := &Block{Body: b.Body, Range: b.DefRange}
	if len(b.Labels) > 0 {
		out.Kind = b.Labels[0]
	}
	if len(b.Labels) > 1 {
		out.Name = b.Labels[1]
	}
	return out
}
