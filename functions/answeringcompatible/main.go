// Command answeringcompatible is the build of the function answering that is deployed where a
// model of an OpenAI-compatible server is configured.
package main

import (
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"docent/shared/app"
	"docent/shared/app/compatible"
)

func main() {
	config, err := app.ConfigFromEnv(os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	model, err := compatible.OnAWS(config)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(app.Answering(config, model))
}
