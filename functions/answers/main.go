// Command answers is the Lambda function behind /v1/answers.
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
	lambdahttp.Start(app.Answers(config))
}
