// Command answering is the Lambda function that answers the questions of its queue.
package main

import (
	"context"
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"docent/shared/app"
)

func main() {
	config, err := app.ConfigFromEnv(os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	work, err := app.Answering(context.Background(), config)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(work)
}
