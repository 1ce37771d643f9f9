// Command admin is the Lambda function behind /v1/me, /v1/team, /v1/api-keys,
// /v1/data-sources and /v1/webhooks.
package main

import (
	"log"
	"os"

	"docent/shared/app"
	"docent/shared/app/parts/saml"
	"docent/shared/app/parts/vault"
	"docent/shared/lambdahttp"
)

func main() {
	config, err := app.ConfigFromEnv(os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	lambdahttp.Start(app.Admin(config, app.Parts{Vault: vault.Open(config), ParseSAML: saml.Parse}))
}
