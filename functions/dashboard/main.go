// Command dashboard is the Lambda function behind /v1/dashboard, /v1/sessions, /v1/sso, /v1/oauth, /v1/agents
// and /v1/.well-known: the pages of the dashboard, signing in to it, and the access of agents.
package main

import (
	"context"
	"log"
	"os"

	"docent/dashboard"
	"docent/shared/app"
	"docent/shared/app/parts/clients"
	"docent/shared/app/parts/identity"
	"docent/shared/app/parts/vault"
	"docent/shared/lambdahttp"
)

func main() {
	config, err := app.ConfigFromEnv(os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	uploads, err := app.UploadOrigin(context.Background(), config)
	if err != nil {
		log.Fatal(err)
	}
	// Not compressed: the gateway does that.
	lambdahttp.Start(app.Dashboard(config, app.Parts{Pages: dashboard.Pages(false, uploads), Vault: vault.Open(config), SignOn: identity.Providers(), Clients: clients.Reader()}))
}
