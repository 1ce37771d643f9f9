// Command securityevents is the Lambda function behind /v1/security-events.
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
	lambdahttp.Start(app.SecurityEvents(config))
}
