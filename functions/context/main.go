// Command context is the Lambda function behind /v1/context and /v1/mcp.
package main

import (
	"log"
	"os"

	"docent/shared/app"
	"docent/shared/app/agents"
	"docent/shared/app/models"
	"docent/shared/app/web"
	"docent/shared/lambdahttp"
)

func main() {
	config, err := app.ConfigFromEnv(os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	model, err := models.OnAWS(config)
	if err != nil {
		log.Fatal(err)
	}
	lambdahttp.Start(app.Context(config, web.Fetcher(), agents.Tools, model))
}
