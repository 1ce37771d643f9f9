package models_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/google/uuid"

	"docent/shared/app"
	"docent/shared/app/parts/models"
	"docent/shared/llm"
	"docent/shared/llm/llmtest"
	"docent/testkit/moto"
)

var request = llm.Request{Asked: llm.Asked{Question: "How?"}, Passages: []string{"Run undo."}}

// parameter is a value under a unique name on the protocol server.
type parameter struct {
	t      *testing.T
	client *ssm.Client
	name   string
	config app.Config
	clock  time.Time
}

func newParameter(t *testing.T, model *llmtest.Server) *parameter {
	t.Helper()
	endpoint := moto.Start(t)
	p := &parameter{t: t, client: ssm.NewFromConfig(moto.Config(endpoint)), name: "/docent/" + uuid.NewString(), clock: time.Unix(1_700_000_000, 0)}
	p.config = app.Config{Region: "us-east-1", AWSEndpoint: endpoint, Credentials: app.Credentials{KeyID: "test", Secret: "test"},
		ModelProvider: app.ModelOfOpenAI, Model: "m", ModelURL: model.OpenAI(), ModelKeyParameter: p.name, Now: func() time.Time { return p.clock }}
	return p
}

func (p *parameter) set(value string, kind types.ParameterType) {
	p.t.Helper()
	if _, err := p.client.PutParameter(p.t.Context(), &ssm.PutParameterInput{Name: &p.name, Value: &value, Type: kind, Overwrite: aws.Bool(true)}); err != nil {
		p.t.Fatal(err)
	}
}

func (p *parameter) remove() {
	p.t.Helper()
	if _, err := p.client.DeleteParameter(p.t.Context(), &ssm.DeleteParameterInput{Name: &p.name}); err != nil {
		p.t.Fatal(err)
	}
}

func (p *parameter) open() llm.Composer {
	p.t.Helper()
	model, err := models.OnAWS(p.config)
	if err != nil {
		p.t.Fatal(err)
	}
	return model
}

func TestAReplacedKeyIsSentWithinFiveMinutes(t *testing.T) {
	t.Parallel()
	server := llmtest.Start(t)
	server.Now(llmtest.Says, "Run undo [1].")
	p := newParameter(t, server)
	p.set("first", types.ParameterTypeSecureString)
	model := p.open()
	asks := func(key string) { // the server fails the test when another key comes
		t.Helper()
		server.Key = key
		if d, err := model.Compose(t.Context(), request); err != nil || len(d.Parts) != 1 {
			t.Fatalf("%+v, %v", d, err)
		}
	}
	asks("first")
	p.set("second\n", types.ParameterTypeSecureString)
	p.clock = p.clock.Add(5*time.Minute - time.Second)
	asks("first")
	p.clock = p.clock.Add(time.Second)
	asks("second")
	p.remove()
	p.clock = p.clock.Add(time.Hour)
	asks("second") // if the parameter cannot be read again, the old key is used
}

func TestWithoutItsSecretKeyNoModelIsAsked(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*parameter){
		"in clear": func(p *parameter) { p.set("SECRET", types.ParameterTypeString) },
		"missing":  func(*parameter) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := llmtest.Start(t)
			p := newParameter(t, server)
			prepare(p)
			model := p.open()
			_, err := model.Compose(t.Context(), request)
			if err == nil || strings.Contains(err.Error(), "SECRET") || server.Asked() > 0 {
				t.Errorf("asked %d times, %v", server.Asked(), err)
			}
			p.set("later", types.ParameterTypeSecureString) // it is looked at again with the next question
			server.Key = "later"
			if _, err := model.Compose(t.Context(), request); err != nil {
				t.Error(err)
			}
		})
	}
}
