// Command sweeping is the Lambda function that every minute sends again what a crash left behind.
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
	lambda.Start(app.Sweeping(config))
}
