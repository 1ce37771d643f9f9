// Command syncing is the Lambda function that reads the data sources of its queue from
// their providers.
package main

import (
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"docent/shared/app"
	"docent/shared/app/parts/connectors"
	"docent/shared/app/parts/vault"
)

func main() {
	config, err := app.ConfigFromEnv(os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(app.Syncing(config, app.Parts{Connect: connectors.Public, Vault: vault.Open(config)}))
}
