// Command contextcompatible is the build of the function context that is deployed where a
// model of an OpenAI-compatible server is configured.
package main

import (
	"log"
	"os"

	"docent/shared/app"
	"docent/shared/app/agents"
	"docent/shared/app/compatible"
	"docent/shared/app/web"
	"docent/shared/lambdahttp"
)

func main() {
	config, err := app.ConfigFromEnv(os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	model, err := compatible.OnAWS(config)
	if err != nil {
		log.Fatal(err)
	}
	lambdahttp.Start(app.Context(config, web.Fetcher(), agents.Tools, model))
}
