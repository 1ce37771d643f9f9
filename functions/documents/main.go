// Command documents is the Lambda function behind /v1/documents and /v1/uploads.
package main

import (
	"log"
	"os"

	"docent/shared/app"
	"docent/shared/lambdahttp"
)

func main() {
	config, err := app.ConfigFromEnv(os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	lambdahttp.Start(app.Documents(config))
}
