// Command indexing is the Lambda function that makes documents findable and cleans up
// after deleted ones.
package main

import (
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
	lambda.Start(app.Indexing(config))
}
