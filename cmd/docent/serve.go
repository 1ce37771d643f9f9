package main

import (
	"context"
	"log/slog"
	"os"

	"docent/shared/app"
)

type serveCmd struct {
	dataFlags
	Addr    string `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Address to listen on (default ${default})."`
	BaseURL string `name:"base-url" placeholder:"URL" help:"Address by which clients reach the API, ending in /v1 (default: made from --addr)."`
	Demo    bool   `default:"true" negatable:"" help:"On the first start, make a demo team with keys and a sample collection (default; --no-demo leaves it out)."`
}

// Help is the long help of docent serve.
func (c *serveCmd) Help() string {
	return `The data is kept in one folder, which is made if it is missing. The API is below /v1; GET /healthz answers 200 when the server is ready. An interrupt lets running requests end.

Examples:

    docent serve
    docent serve --data /var/lib/docent --addr 0.0.0.0:8080 --base-url https://docent.example/v1 --no-demo`
}

// Run serves until ctx ends.
func (c *serveCmd) Run(ctx context.Context, con *console) error {
	err := app.Serve(ctx, app.ServeConfig{
		DataDir: c.Data, Addr: c.Addr, Program: os.Args[0], BaseURL: c.BaseURL, Demo: c.Demo, Out: con.out,
		Log: slog.New(slog.NewJSONHandler(con.err, nil)),
	})
	return inUse(err, c.Data)
}
