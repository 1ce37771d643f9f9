package functions_test

import (
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/google/uuid"

	"docent/shared/deployed"
	"docent/shared/llm/llmtest"
	"docent/testkit/lambdarun"
	"docent/testkit/moto"
)

// modelTime is the timeout of a function whose model hangs. It is the sum of the margin, the time to record, the
// minimum time for the model, and a few seconds for the rest of the call. A busy machine often needs these to start the
// function.
const modelTime = 10 * time.Second

// asking returns a cloud whose functions call a provider's model, with a timeout for each call of a function.
func asking(t *testing.T, provider string, model *llmtest.Server, timeout time.Duration) *cloud {
	t.Helper()
	c := newCloud(t)
	c.env = maps.Clone(c.env)
	c.env[deployed.ModelProvider], c.env[deployed.Model], c.env[deployed.ModelURL] = provider, "m", model.Bedrock()
	if provider == "openai" {
		model.Key = "key-" + uuid.NewString()
		name := "/docent/" + uuid.NewString()
		if _, err := ssm.NewFromConfig(moto.Config(c.config.AWSEndpoint)).PutParameter(t.Context(), &ssm.PutParameterInput{
			Name: &name, Value: &model.Key, Type: types.ParameterTypeSecureString}); err != nil {
			t.Fatal(err)
		}
		c.env[deployed.ModelURL], c.env[deployed.ModelKey] = model.OpenAI(), name
	}
	variable := slices.IndexFunc(deployed.Environment, func(v deployed.Variable) bool { return v.Name == deployed.Model })
	for _, f := range deployed.Functions {
		if !deployed.Environment[variable].ReadBy(f.Name) {
			continue
		}
		started, err := lambdarun.Start(t.Context(), binary(t, f.Name), lambdarun.Options{Name: f.Name, Env: c.env, Log: c.log, Timeout: timeout})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(started.Close)
		c.functions[f.Name] = started
		for _, root := range f.Roots {
			c.gateway.Functions[root] = started.Invoke
		}
	}
	return c
}

// TestModelsThroughTheBinaries lets both functions that call a model call one of each provider, whose server
// misbehaves. Whatever the model does not write is quoted, in time.
func TestModelsThroughTheBinaries(t *testing.T) {
	t.Parallel()
	const question = "How do I roll back a deployment?"
	for _, provider := range []string{"openai", "bedrock"} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			model := llmtest.Start(t)
			c := asking(t, provider, model, modelTime)
			c.want(c.put(c.newCollection("wiki"), "runbook", rollback), 200)
			c.drain()
			for _, b := range []struct {
				name    string
				does    llmtest.Behaviour
				text    string
				written bool
				asked   int
			}{
				{"says", llmtest.Says, "Run `deployctl undo` within 24 hours [1].", true, 1},
				{"invents", llmtest.Says, "Run `deployctl undo` within 48 hours [1].", false, 1},
				{"ignores its instructions", llmtest.Says, "See https://evil.test for more [7].", false, 1},
				{"throttles", llmtest.Throttles, "", false, 3},
				{"fails", llmtest.Fails, "", false, 3},
				{"cuts off", llmtest.CutsOff, "Run `deployctl undo` within 24 hours [1].", false, 0},
				{"hangs", llmtest.Hangs, "", false, 1},
			} {
				wrong := func(n int) bool {
					// A busy machine may leave no time to ask a model that hangs.
					return b.asked > 0 && n != b.asked && (b.does != llmtest.Hangs || n > 0)
				}
				model.Now(b.does, b.text)
				said := []string{c.answer(question).body}
				if n := model.Asked(); wrong(n) {
					t.Errorf("%s: asked %d times for an answer", b.name, n)
				}
				model.Now(b.does, b.text)
				said = append(said, c.want(c.do("POST", "/context/research", map[string]string{"query": question}), 200).body)
				if n := model.Asked(); wrong(n) {
					t.Errorf("%s: asked %d times for research", b.name, n)
				}
				for _, body := range said {
					if strings.Contains(body, "Written by a language model") != b.written || !strings.Contains(body, "deployctl undo") || strings.Contains(body, "evil") {
						t.Errorf("%s: %s", b.name, body)
					}
				}
			}
			model.Now(llmtest.Says, "Run `deployctl undo` within 24 hours [1].")
			streamed := httptest.NewRecorder()
			r := httptest.NewRequestWithContext(t.Context(), "PUT", "/v1/answers/"+uuid.NewString(), strings.NewReader(`{"question":"`+question+`"}`))
			r.Header.Set("Authorization", "Bearer "+c.key)
			r.Header.Set("Accept", "text/event-stream")
			c.gateway.ServeHTTP(streamed, r)
			if body := streamed.Body.String(); !strings.Contains(body, "event: answer.completed") || !strings.Contains(body, "Written by a language model") || model.Asked() != 1 {
				t.Errorf("asked %d times for a stream: %s", model.Asked(), body)
			}
			if log := c.log.String(); strings.Contains(log, "roll back") || strings.Contains(log, "hours") || model.Key != "" && strings.Contains(log, model.Key) {
				t.Errorf("log: %s", log)
			}
		})
	}
}
