package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"unicode"

	"docent/dashboard"
	"docent/shared/app"
	"docent/shared/app/parts/agents"
	"docent/shared/app/parts/clients"
	"docent/shared/app/parts/connectors"
	"docent/shared/app/parts/files"
	"docent/shared/app/parts/hooks"
	"docent/shared/app/parts/identity"
	"docent/shared/app/parts/models"
	"docent/shared/app/parts/operator"
	"docent/shared/app/parts/probe"
	"docent/shared/app/parts/saml"
	"docent/shared/app/parts/vault"
	"docent/shared/app/parts/web"
	"docent/shared/rate"
)

type serveCmd struct {
	dataFlags
	Engine   string `default:"local" enum:"local,aws" placeholder:"NAME" help:"Where the data is: local, in the data folder (default), or aws, in DynamoDB, S3 and SQS."`
	Stack    string `placeholder:"NAME" without:"the stack of the environment, or docent" help:"With --engine aws: the stack that has the tables, bucket, queues and key (default: that of the environment's DOCENT_ variables, else docent)."`
	Addr     string `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Address to listen on (default ${default})."`
	BaseURL  string `name:"base-url" placeholder:"URL" help:"Address by which clients reach the API, ending in /v1 (default: made from --addr, or from 127.0.0.1 if --addr is every address of this machine)."`
	TeamRate int    `name:"team-rate" default:"10000" placeholder:"NUMBER" help:"Requests per second that a team may send, and each of its keys half of it; more get a 429 with Retry-After (default ${default}; 0: no limit)."`
	Demo     bool   `default:"true" negatable:"" help:"On the first start, make a demo team with keys and a sample collection (default; --no-demo leaves it out)."`

	Model         string `name:"model" env:"DOCENT_MODEL" placeholder:"NAME" help:"Model that writes answers: its name on the server, or the id of a model or an inference profile of Amazon Bedrock (default: answers are quoted)."`
	ModelProvider string `name:"model-provider" env:"DOCENT_MODEL_PROVIDER" placeholder:"NAME" help:"Where the model is: openai, on any server that speaks OpenAI's Chat Completions, or bedrock (default: openai with --model-url, bedrock without)."`
	ModelURL      string `name:"model-url" env:"DOCENT_MODEL_URL" placeholder:"URL" help:"Address of the model's server, before /chat/completions; with bedrock, a custom endpoint."`
	ModelKeyEnv   string `name:"model-key-env" default:"DOCENT_MODEL_KEY" placeholder:"NAME" help:"Environment variable that holds the key of an openai server, if it needs one (default ${default})."`
	ModelRequests int    `name:"model-requests" default:"16" placeholder:"NUMBER" help:"Maximum number of requests to the model in progress. Others wait for their turn, shared fairly among teams; after 10 seconds the answer is quoted instead (default ${default}; 0: no maximum)."`

	embeddingFlags
}

// Help is the long help of docent serve.
func (c *serveCmd) Help() string {
	return `The data is in one folder, which is created if it is missing. With --engine aws the data is that of a deployed stack, and this process does what the stack's functions do, next to them or instead of them; several such processes may run. The API is below /v1; GET /healthz returns 200 when the server is ready. An interrupt lets running requests end.

Examples:

    docent serve
    docent serve --data /var/lib/docent --addr 0.0.0.0:8080 --base-url https://docent.example/v1 --no-demo
    docent serve --model-url http://127.0.0.1:11434/v1 --model llama3.3
    AWS_REGION=eu-central-1 docent serve --engine aws --stack docent --addr 0.0.0.0:8080 --base-url https://docent.example/v1
    AWS_PROFILE=docs AWS_REGION=eu-central-1 docent serve --model eu.anthropic.claude-sonnet-4-5-20250929-v1:0
    docent serve --embedding-url http://127.0.0.1:11434/v1 --embedding-model nomic-embed-text --embedding-size 768

With bedrock, region and credentials are those of the AWS command line: the environment and its files.

A team may send --team-rate requests per second, each of its keys half of them, and ten seconds' worth at once. More get a 429 that says when to come back.

The passages found are sent to the model. A sentence is kept only if it cites passages that contain its numbers, names and quotations. If too little is left, or the model is late, the answer quotes instead.

Search goes by words and by meaning. The model for the meaning runs in this process, with the weights that docent model fetch has downloaded. Without them, and with --no-meaning, search goes by words alone. Another embedding model sees the text of all documents and questions.`
}

// Validate checks what the types of the flags cannot.
func (c *serveCmd) Validate() error {
	if c.Stack != "" && c.Engine != engineAWS {
		return errors.New("--stack requires --engine aws")
	}
	if _, port, err := net.SplitHostPort(c.Addr); err != nil || port == "" {
		return fmt.Errorf("--addr=%s is not HOST:PORT, such as 127.0.0.1:8080; :8080 is every address of this machine", c.Addr)
	} else if !isPort(port) {
		return fmt.Errorf("--addr=%s has no port from 0 to 65535", c.Addr)
	}
	if c.TeamRate < 0 || c.TeamRate > rate.MaxPerSecond {
		return fmt.Errorf("--team-rate is not a number from 0 to %d", rate.MaxPerSecond)
	}
	if c.ModelRequests < 0 {
		return errors.New("--model-requests is below 0")
	}
	if err := c.checkBaseURL(); err != nil {
		return err
	}
	_, err := c.provider()
	if err == nil {
		_, err = c.embedding()
	}
	return err
}

// checkBaseURL checks --base-url. If it has no path, the API's path is added, as for --server of the other commands. Its host becomes as
// programs send it, in lower case and without the scheme's own port: browsers and clients of OAuth compare it with what they have.
func (c *serveCmd) checkBaseURL() error {
	if c.BaseURL == "" {
		return nil
	}
	u, err := url.Parse(c.BaseURL)
	if err == nil && strings.Trim(u.Path, "/") == "" {
		u.Path = "/v1"
	}
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
		!strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/v1") {
		return errors.New("--base-url must be an http or https URL that ends in /v1, such as https://docent.example/v1")
	}
	if strings.ContainsFunc(u.Host, func(r rune) bool { return r > unicode.MaxASCII }) {
		return fmt.Errorf("--base-url: write the host %s in ASCII, as it is in DNS, such as xn--bcher-kva.example for bücher.example", u.Hostname())
	}
	ownPort := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	u.Host = strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(u.Host), ownPort), ":")
	c.BaseURL = strings.TrimRight(u.String(), "/")
	return nil
}

// engineAWS is the --engine on AWS.
const engineAWS = "aws"

// provider returns where the model is, or "" if no model is named.
func (c *serveCmd) provider() (string, error) {
	return app.ProviderOf(c.ModelProvider, c.Model, c.ModelURL, func(setting string) string { return "--" + setting })
}

// isPort reports whether the text is the number or the name of a port.
func isPort(text string) bool {
	_, err := net.DefaultResolver.LookupPort(context.Background(), "tcp", text) // it asks no server
	return err == nil
}

// Run serves until ctx ends.
func (c *serveCmd) Run(ctx context.Context, con *console) error {
	model, err := c.openModel(ctx)
	if err != nil {
		return err
	}
	embedder, wordsAlone, err := c.openEmbedder(ctx)
	if err != nil {
		return err
	}
	signal.Ignore(syscall.SIGPIPE) // else a reader of the log that goes away ends the server
	log := newLogFile(con.err)
	defer log.Close()
	settings := app.ServeConfig{
		DataDir: c.Data, Addr: c.Addr, Program: os.Args[0], BaseURL: c.BaseURL, Demo: c.Demo, Alone: true, Out: con.out,
		Log: slog.New(slog.NewJSONHandler(log, nil)),
		Parts: app.Parts{Model: model, Fetch: web.Fetcher(), Tools: agents.Tools, Connect: connectors.Public, Extract: files.Reader(), Probe: probe.Public(), Post: hooks.Public(), PostLocal: hooks.Local(), ParseSAML: saml.Parse, FetchSAML: saml.Fetcher(), Clients: clients.Reader(), SignOn: identity.Providers(),
			Embedder: embedder, WordsAlone: wordsAlone, TeamRate: c.TeamRate, Pages: dashboard.Pages(true, "")},
	}
	if c.Engine == engineAWS {
		err = c.onAWS(ctx, settings)
	} else {
		err = app.Serve(ctx, settings)
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s is in use; choose another address with --addr (make run: ADDR=HOST:PORT)", c.Addr)
	}
	if failed := new(net.OpError); errors.As(err, &failed) && failed.Op == "listen" {
		return fmt.Errorf("cannot listen on %s: %w; choose another address with --addr", c.Addr, failed.Err)
	}
	return ofData(err, c.Data)
}

// onAWS serves the installation on AWS.
func (c *serveCmd) onAWS(ctx context.Context, settings app.ServeConfig) error {
	installation, where, err := operator.Standing(ctx, c.Stack, os.Getenv)
	if err != nil {
		return err
	}
	uploads, err := app.UploadOrigin(ctx, installation)
	if err != nil {
		return err
	}
	settings.Parts.Vault, settings.Parts.Pages = vault.Open(installation), dashboard.Pages(true, uploads)
	return app.ServeAWS(ctx, settings, installation, where)
}

// openModel returns the model that the flags name, or nil.
func (c *serveCmd) openModel(ctx context.Context) (app.Model, error) {
	provider, err := c.provider()
	switch {
	case err != nil:
		return nil, err
	case provider == app.ModelOfBedrock:
		model, err := operator.Model(ctx, c.Model, c.ModelURL)
		return app.WrittenInTurns(model, c.ModelRequests), err
	case provider == app.ModelOfOpenAI:
		model, err := models.OpenAI(c.ModelURL, c.Model, os.Getenv(c.ModelKeyEnv))
		return app.WrittenInTurns(model, c.ModelRequests), err
	default:
		return nil, nil
	}
}
