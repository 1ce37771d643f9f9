package main

import (
	"context"
	"log/slog"
	"os"

	"docent/shared/app"
	"docent/shared/app/agents"
	"docent/shared/app/compatible"
	"docent/shared/app/connectors"
	"docent/shared/app/web"
)

type serveCmd struct {
	dataFlags
	Addr    string `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Address to listen on (default ${default})."`
	BaseURL string `name:"base-url" placeholder:"URL" help:"Address by which clients reach the API, ending in /v1 (default: made from --addr)."`
	Demo    bool   `default:"true" negatable:"" help:"On the first start, make a demo team with keys and a sample collection (default; --no-demo leaves it out)."`

	ModelURL    string `name:"model-url" and:"model" env:"DOCENT_MODEL_URL" placeholder:"URL" help:"Have answers written by a model on this server, which speaks OpenAI's Chat Completions: its address before /chat/completions (default: answers are quoted)."`
	Model       string `name:"model" and:"model" env:"DOCENT_MODEL" placeholder:"NAME" help:"Name of that model."`
	ModelKeyEnv string `name:"model-key-env" default:"DOCENT_MODEL_KEY" placeholder:"NAME" help:"Environment variable that holds the key of that server, if it needs one (default ${default})."`
}

// Help is the long help of docent serve.
func (c *serveCmd) Help() string {
	return `The data is kept in one folder, which is made if it is missing. The API is below /v1; GET /healthz answers 200 when the server is ready. An interrupt lets running requests end.

Examples:

    docent serve
    docent serve --data /var/lib/docent --addr 0.0.0.0:8080 --base-url https://docent.example/v1 --no-demo
    docent serve --model-url http://127.0.0.1:11434/v1 --model llama3.3

What is found is sent to the model's server. A sentence that the model writes is kept only when it cites what was found and its numbers, names and quotations stand there; an answer of which too little is left, or that comes too late, is quoted instead.`
}

// Run serves until ctx ends.
func (c *serveCmd) Run(ctx context.Context, con *console) error {
	settings := app.ServeConfig{
		DataDir: c.Data, Addr: c.Addr, Program: os.Args[0], BaseURL: c.BaseURL, Demo: c.Demo, Out: con.out,
		Log: slog.New(slog.NewJSONHandler(con.err, nil)), Fetch: web.Fetcher(), Tools: agents.Tools, Connect: connectors.Public,
	}
	if c.ModelURL != "" {
		model, err := compatible.Open(c.ModelURL, c.Model, os.Getenv(c.ModelKeyEnv))
		if err != nil {
			return err
		}
		settings.Model = model
	}
	return inUse(app.Serve(ctx, settings), c.Data)
}
