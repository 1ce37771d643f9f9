// Command extracting is the Lambda function that reads the text of the files in its queue.
package main

import (
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"docent/shared/app"
	"docent/shared/app/parts/files"
)

func main() {
	config, err := app.ConfigFromEnv(os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(app.Extracting(config, app.Parts{Extract: files.Reader()}))
}
