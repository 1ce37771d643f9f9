package models_test

import (
	"fmt"
	"strings"
	"testing"

	"docent/shared/app"
	"docent/shared/app/parts/models"
	"docent/shared/llm"
	"docent/shared/llm/llmtest"
)

func TestTheModelsAddressPrecedesTheOneOfAWS(t *testing.T) {
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
			model, err := models.OnAWS(c)
			if err != nil {
				t.Fatal(err)
			}
			if d, err := model.Compose(t.Context(), llm.Request{Asked: llm.Asked{Question: "How?"}, Passages: []string{"Run undo."}}); err != nil || len(d.Parts) != 1 {
				t.Errorf("%+v, %v", d, err)
			}
		})
	}
}

func TestTheConfigurationChoosesTheModel(t *testing.T) {
	t.Parallel()
	bedrockModel := app.Config{ModelProvider: app.ModelOfBedrock, Model: "m", Region: "eu-central-1"}
	for name, c := range map[string]struct {
		config app.Config
		model  string // its type
		want   string // of the error; empty: there is none
	}{
		"no model":             {app.Config{}, "<nil>", ""},
		"Bedrock":              {bedrockModel, "*bedrock.Client", ""},
		"a server":             {app.Config{ModelProvider: app.ModelOfOpenAI, Model: "m", ModelURL: "https://models.test/v1"}, "*openai.Client", ""},
		"an address with more": {app.Config{ModelProvider: app.ModelOfOpenAI, Model: "m", ModelURL: "https://user:pass@models.test/v1"}, "<nil>", "plain http or https"},
		"its address, before its key": {app.Config{ModelProvider: app.ModelOfOpenAI, Model: "m", ModelURL: "models.test", ModelKeyParameter: "/key"},
			"<nil>", "plain http or https"},
		"another provider": {app.Config{ModelProvider: "other", Model: "m"}, "<nil>", `"other"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model, err := models.OnAWS(c.config)
			if fmt.Sprintf("%T", model) != c.model || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%T, %v", model, err)
			}
		})
	}
}
