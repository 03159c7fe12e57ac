package main

import (
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// TestEveryActionOfTheModelsKeepsTheFence reads the models as plain HCL: an
// action of which the balancer would not hear the fence must not slip in.
func TestEveryActionOfTheModelsKeepsTheFence(t *testing.T) {
	for _, model := range []string{"fleet.fettle.hcl", "prometheus/fleet.fettle.hcl"} {
		t.Run(model, func(t *testing.T) { everyActionKeepsTheFence(t, model) })
	}
}

func everyActionKeepsTheFence(t *testing.T, model string) {
	t.Helper()
	file, diags := hclparse.NewParser().ParseHCLFile(model)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	actions := 0
	for _, block := range file.Body.(*hclsyntax.Body).Blocks {
		if block.Type != "action" {
			continue
		}
		actions++
		run := only(t, block, "run")
		fence := only(t, run, "fence")
		for _, name := range []string{"url", "reject"} {
			if fence.Body.Attributes[name] == nil {
				t.Errorf("%s: action %s: the fence has no %s", position(fence), block.Labels[0], name)
			}
		}
	}
	if actions != 6 {
		t.Errorf("%d actions, want drain, restart, take_lock, revert, readd and release", actions)
	}
}

func only(t *testing.T, in *hclsyntax.Block, kind string) *hclsyntax.Block {
	t.Helper()
	var found *hclsyntax.Block
	for _, b := range in.Body.Blocks {
		if b.Type == kind {
			found = b
		}
	}
	if found == nil {
		t.Fatalf("%s: no %s block", position(in), kind)
	}
	return found
}

func position(b *hclsyntax.Block) hcl.Range { return b.DefRange() }
