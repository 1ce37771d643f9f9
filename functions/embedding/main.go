// Command embedding is the Lambda function that makes the vectors by which search finds what documents mean.
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
	embedder, wordsAlone, err := models.EmbedderOnAWS(config)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(app.EmbeddingDocuments(config, app.Parts{Embedder: embedder, WordsAlone: wordsAlone}))
}
