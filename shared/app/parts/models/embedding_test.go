package models_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/google/uuid"

	"docent/shared/app"
	"docent/shared/app/parts/models"
	"docent/shared/embed"
	"docent/shared/embed/embedtest"
	"docent/testkit/moto"
	"docent/testkit/weights"
)

func TestTheConfigurationChoosesTheEmbeddingModel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config app.Embedding
		engine string // its type
		alone  string // part of why there is none
		want   string // of the error; empty: there is none
	}{
		"words alone":         {app.Embedding{Provider: app.NoEmbedding}, "<nil>", "no embedding model is to be used", ""},
		"no weights":          {app.Embedding{Provider: app.EmbeddingLocal}, "<nil>", filepath.Join("model", "model.onnx") + " is missing", ""},
		"Bedrock":             {app.Embedding{Provider: app.EmbeddingOfBedrock}, "*bedrock.Engine", "", ""},
		"Bedrock, by its id":  {app.Embedding{Provider: app.EmbeddingOfBedrock, Model: "m", Size: 256}, "*bedrock.Engine", "", ""},
		"Bedrock, wrong size": {app.Embedding{Provider: app.EmbeddingOfBedrock, Size: 384}, "<nil>", "", "[256 512 1024]"},
		"a server":            {app.Embedding{Provider: app.EmbeddingOfOpenAI, Model: "m", URL: "https://models.test", Size: 768}, "*openai.Engine", "", ""},
		"its address, before its key": {app.Embedding{Provider: app.EmbeddingOfOpenAI, Model: "m", URL: "models.test", Size: 768, KeyParameter: "/key"}, "<nil>", "",
			"plain http or https"},
		"another provider": {app.Embedding{Provider: "other"}, "<nil>", "", `"other"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			engine, alone, err := models.EmbedderOnAWS(app.Config{Region: "eu-central-1", Embedding: c.config})
			if fmt.Sprintf("%T", engine) != c.engine || (alone == "") != (c.alone == "") || !strings.Contains(alone, c.alone) ||
				(err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%T, %q, %v", engine, alone, err)
			}
			if engine != nil && engine.Model() != c.config.Vectors() {
				t.Errorf("the model is %+v, and other programs take it for %+v", engine.Model(), c.config.Vectors())
			}
		})
	}
}

func TestEmbeddingModelsAnswer(t *testing.T) {
	t.Parallel()
	server := embedtest.Serve(t, embedtest.New(embed.Model{Name: "words", Size: 512}))
	c := app.Config{Region: "eu-central-1", Credentials: app.Credentials{KeyID: "test", Secret: "test"}}
	for name, change := range map[string]func(*app.Config){
		"Bedrock at its own address":  func(c *app.Config) { c.Embedding.URL, c.AWSEndpoint = server.Bedrock(), "http://127.0.0.1:1" },
		"Bedrock of a local stand-in": func(c *app.Config) { c.AWSEndpoint = server.Bedrock() },
		"a server that speaks OpenAI's": func(c *app.Config) {
			c.Embedding = app.Embedding{Provider: app.EmbeddingOfOpenAI, Model: "m", URL: server.OpenAI(), Size: 512}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := c
			c.Embedding.Provider = app.EmbeddingOfBedrock
			change(&c)
			engine, _, err := models.EmbedderOnAWS(c)
			if err != nil {
				t.Fatal(err)
			}
			if v, err := engine.Embed(t.Context(), []string{"text"}, embed.Passage); err != nil || len(v) != 1 || len(v[0]) != engine.Model().Size {
				t.Errorf("%d vectors, %v", len(v), err)
			}
		})
	}
}

func TestTheKeyOfAnEmbeddingModelIsReadWithTheFirstText(t *testing.T) {
	t.Parallel()
	server := embedtest.Serve(t, embedtest.New(embed.Model{Name: "words", Size: 64}))
	endpoint := moto.Start(t)
	name, value, clock := "/docent/"+uuid.NewString(), "first\n", time.Unix(1_700_000_000, 0)
	parameters := ssm.NewFromConfig(moto.Config(endpoint))
	engine, _, err := models.EmbedderOnAWS(app.Config{Region: "us-east-1", AWSEndpoint: endpoint, Credentials: app.Credentials{KeyID: "test", Secret: "test"},
		Embedding: app.Embedding{Provider: app.EmbeddingOfOpenAI, Model: "m", URL: server.OpenAI(), Size: 64, KeyParameter: name}, Now: func() time.Time { return clock }})
	if err != nil || engine.Model() != (embed.Model{Name: "openai:m", Size: 64}) {
		t.Fatal(engine, err)
	}
	if _, err := engine.Embed(t.Context(), []string{"text"}, embed.Passage); err == nil {
		t.Error("embedded without a key")
	}
	if _, err := parameters.PutParameter(t.Context(), &ssm.PutParameterInput{Name: &name, Value: &value, Type: types.ParameterTypeSecureString}); err != nil {
		t.Fatal(err)
	}
	server.Key = "first"
	if v, err := engine.Embed(t.Context(), []string{"text"}, embed.Passage); err != nil || len(v) != 1 {
		t.Errorf("%d vectors, %v", len(v), err)
	}
}

// TestWeightsNameTheModel checks that the published weights are the same model wherever they are, and others another.
func TestWeightsNameTheModel(t *testing.T) {
	t.Parallel()
	folder := weights.Folder(t)
	open := func(e app.Embedding) embed.Model {
		t.Helper()
		engine, err := models.LocalEmbedder(e)
		if err != nil {
			t.Fatal(err)
		}
		return engine.Model()
	}
	published := open(app.Embedding{})
	if published != (app.Embedding{Provider: app.EmbeddingLocal}).Vectors() || open(app.Embedding{Model: folder}) != published {
		t.Errorf("%+v by default, %+v by its folder", published, open(app.Embedding{Model: folder}))
	}
	other := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(other, "model.onnx"), []byte("other"), 0o600), os.WriteFile(filepath.Join(other, "tokenizer.json"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if got := open(app.Embedding{Model: other, Size: 256}); got != (embed.Model{Name: "local:d9298a10d1b07358", Size: 256}) {
		t.Errorf("%+v", got)
	}
	engine, err := models.LocalEmbedder(app.Embedding{Model: other})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Embed(t.Context(), []string{"text"}, embed.Passage); !errors.Is(err, embed.ErrModel) {
		t.Errorf("error %v of damaged weights", err)
	}
}
