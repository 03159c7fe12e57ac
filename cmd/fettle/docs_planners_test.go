package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettleops/fettle/planner/llm/llmtest"
)

// TestBaseURLsAreThoseOfTheGuide: of an OpenAI-compatible server a base_url has
// its /v1, of Anthropic it has not; and with a base_url no key of the provider
// leaves the environment.
func TestBaseURLsAreThoseOfTheGuide(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, base, path string }{
		{"openai", "/v1", "/v1/chat/completions"},
		{"openai", "/team/v1/", "/team/v1/chat/completions"},
		{"anthropic", "", "/v1/messages"},
	} {
		server := llmtest.Start(t, llmtest.Text(goodReply))
		dir := t.TempDir()
		text := fmt.Sprintf(asked, c.kind, server.URL+c.base, "", 20)
		must(t, os.WriteFile(filepath.Join(dir, "door.fettle.hcl"), []byte(strings.Replace(text, `api_key  = "key"`, "", 1)+"\nstate \"shut\" {}\n"), 0o600))
		cmd := fettle(t, "plan", dir)
		cmd.Env = append(cmd.Env, "OPENAI_API_KEY=of-the-provider", "ANTHROPIC_API_KEY=of-the-provider")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		seen := server.Seen()
		if len(seen) != 1 || seen[0].Path != c.path {
			t.Fatalf("%s at %q was asked at %+v", c.kind, c.base, seen)
		}
		for name, values := range seen[0].Header {
			for _, v := range values {
				if v == "of-the-provider" || v == "Bearer of-the-provider" {
					t.Errorf("%s: the provider's key went elsewhere, as %s", c.kind, name)
				}
			}
		}
	}
}
