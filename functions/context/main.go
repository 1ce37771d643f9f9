// Command context is the Lambda function behind /v1/context and /v1/mcp.
package main

import (
	"log"
	"os"

	"docent/shared/app"
	"docent/shared/app/parts/agents"
	"docent/shared/app/parts/models"
	"docent/shared/app/parts/web"
	"docent/shared/lambdahttp"
)

func main() {
	config, err := app.ConfigFromEnv(os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	model, err := models.OnAWS(config)
	if err != nil {
		log.Fatal(err)
	}
	embedder, wordsAlone, err := models.EmbedderOnAWS(config)
	if err != nil {
		log.Fatal(err)
	}
	start := lambdahttp.Start
	if config.Streams {
		start = lambdahttp.StartStreaming
	}
	start(app.Context(config, app.Parts{Fetch: web.Fetcher(), Tools: agents.Tools, Model: app.WrittenBy(model),
		Embedder: embedder, WordsAlone: wordsAlone}))
}
