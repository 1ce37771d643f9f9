package foundation_test

import (
	"strings"
	"testing"

	"docent/shared/app"
	"docent/shared/app/foundation"
	"docent/shared/llm"
	"docent/shared/llm/llmtest"
)

func TestTheModelsAddressGoesBeforeThatOfAWS(t *testing.T) {
	t.Parallel()
	server := llmtest.Start(t)
	server.Now(llmtest.Says, "Run undo [1].")
	c := app.Config{Region: "eu-central-1", Credentials: app.Credentials{KeyID: "test", Secret: "test"}, ModelProvider: app.ModelOfBedrock, Model: "m"}
	for name, change := range map[string]func(*app.Config){
		"its own":          func(c *app.Config) { c.ModelURL, c.AWSEndpoint = server.Bedrock(), "http://127.0.0.1:1" },
		"a local stand-in": func(c *app.Config) { c.AWSEndpoint = server.Bedrock() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := c
			change(&c)
			model, err := foundation.Open(c)
			if err != nil {
				t.Fatal(err)
			}
			if d, err := model.Compose(t.Context(), llm.Request{Question: "How?", Passages: []string{"Run undo."}}); err != nil || len(d.Parts) != 1 {
				t.Errorf("%+v, %v", d, err)
			}
		})
	}
}

func TestABuildRefusesWhatItHasNoClientOf(t *testing.T) {
	t.Parallel()
	if model, err := foundation.Open(app.Config{}); model != nil || err != nil {
		t.Errorf("no model: %v, %v", model, err)
	}
	_, err := foundation.Open(app.Config{ModelProvider: app.ModelOfOpenAI, Model: "m", ModelURL: "https://models.test/v1"})
	if err == nil || !strings.Contains(err.Error(), "Amazon Bedrock only") {
		t.Errorf("error %v", err)
	}
}
