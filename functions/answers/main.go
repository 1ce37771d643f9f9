// Command answers is the Lambda function behind /v1/answers, /v1/chat, /v1/responses and /v1/models.
package main

import (
	"log"
	"os"

	"docent/shared/app"
	"docent/shared/app/parts/models"
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
	start(app.Answers(config, app.Parts{Model: app.WrittenBy(model), Embedder: embedder, WordsAlone: wordsAlone}))
}
