//go:build unix

package main_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"

	"docent/shared/llm/llmtest"
)

// TestServeAsksTheModelThatItIsGiven starts docent serve with a model of each
// provider, whose server then misbehaves.
func TestServeAsksTheModelThatItIsGiven(t *testing.T) {
	t.Parallel()
	const text = "To roll back a deployment, run `deployctl undo` within 24 hours."
	c := newCrash(t)
	server := llmtest.Start(t)
	for _, p := range []struct {
		name, key   string
		arguments   []string
		environment []string
	}{
		{"openai", "key", []string{"--model", "m", "--model-url", server.OpenAI(), "--model-key-env", "KEY_OF_THE_MODEL"}, []string{"KEY_OF_THE_MODEL=key"}},
		{"openai by the environment", "key", nil, []string{"DOCENT_MODEL=m", "DOCENT_MODEL_PROVIDER=openai", "DOCENT_MODEL_URL=" + server.OpenAI(), "DOCENT_MODEL_KEY=key"}},
		{"bedrock", "", []string{"--model", "m"}, []string{"AWS_ENDPOINT_URL=" + server.Bedrock()}},
		{"bedrock at another endpoint", "", []string{"--model", "m", "--model-provider", "bedrock", "--model-url", server.Bedrock()}, nil},
	} {
		server.Key, c.arguments = p.key, p.arguments
		c.environment = append([]string{"AWS_REGION=eu-north-1", "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_EC2_METADATA_DISABLED=true",
			"AWS_CONFIG_FILE=" + os.DevNull, "AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull}, p.environment...)
		c.start()
		c.until(200, "PUT", "/documents", c.page("runbook", text))
		c.indexed("runbook")
		for _, b := range []struct {
			name    string
			does    llmtest.Behaviour
			says    string
			written bool
		}{
			{"says", llmtest.Says, "Run `deployctl undo` within 24 hours [1].", true},
			{"invents", llmtest.Says, "Run `deployctl undo` within 48 hours [1].", false},
			{"throttles", llmtest.Throttles, "", false},
			{"cuts off", llmtest.CutsOff, "Run `deployctl undo` within 24 hours [1].", false},
		} {
			server.Now(b.does, b.says)
			var found struct{ Answer string }
			path := "/answers/" + uuid.NewString()
			c.until(204, "PUT", path, map[string]string{"question": "How do I roll back a deployment?"})
			if err := json.Unmarshal(c.until(200, "GET", path, nil), &found); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(found.Answer, "Written by a language model") != b.written || !strings.Contains(found.Answer, "deployctl undo") || server.Asked() == 0 {
				t.Errorf("%s, %s: asked %d times: %s", p.name, b.name, server.Asked(), found.Answer)
			}
		}
		c.kill()
	}
}
