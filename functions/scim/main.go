// Command scim is the Lambda function behind /v1/scim/v2.
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
	lambdahttp.Start(app.SCIM(config))
}
