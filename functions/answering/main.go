// Command answering is the Lambda function that answers the questions of its queue.
package main

import (
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"docent/shared/app"
	"docent/shared/app/parts/models"
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
	lambda.Start(app.Answering(config, app.Parts{Model: app.WrittenBy(model), Embedder: embedder, WordsAlone: wordsAlone}))
}
