// Command admin is the Lambda function behind /v1/me, /v1/team, /v1/api-keys,
// /v1/data-sources, /v1/webhooks and /v1/webhook-endpoints.
package main

import (
	"log"
	"os"

	"docent/shared/app"
	"docent/shared/app/parts/probe"
	"docent/shared/app/parts/saml"
	"docent/shared/app/parts/vault"
	"docent/shared/lambdahttp"
)

func main() {
	config, err := app.ConfigFromEnv(os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	lambdahttp.Start(app.Admin(config, app.Parts{Probe: probe.Public(), Vault: vault.Open(config), ParseSAML: saml.Parse, FetchSAML: saml.Fetcher()}))
}
