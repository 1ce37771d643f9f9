// Command delivering is the Lambda function that delivers events to the webhook endpoints of its
// queue.
package main

import (
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"docent/shared/app"
	"docent/shared/app/parts/hooks"
	"docent/shared/app/parts/vault"
)

func main() {
	config, err := app.ConfigFromEnv(os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(app.Delivering(config, app.Parts{Post: hooks.Public(), Vault: vault.Open(config)}))
}
