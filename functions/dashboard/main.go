// Command dashboard is the Lambda function behind /v1/dashboard, /v1/sessions and /v1/sso: the
// pages of the dashboard, and signing in to it.
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
