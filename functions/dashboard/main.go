// Command dashboard is the Lambda function behind /v1/dashboard and /v1/sessions: the pages of
// the dashboard, and signing in to it.
package main

import (
	"log"
	"os"

	"docent/dashboard"
	"docent/shared/app"
	"docent/shared/lambdahttp"
)

func main() {
	config, err := app.ConfigFromEnv(os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	// Not compressed: the gateway does that.
	lambdahttp.Start(app.Dashboard(config, app.Parts{Pages: dashboard.Pages(false)}))
}
