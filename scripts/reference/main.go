// Command reference prints the OpenAPI document as the JSON that the dashboard's API reference
// shows: smaller, without what a reader does not need.
package main

import (
	"encoding/json"
	"log"
	"os"

	"docent/shared/app"
	"docent/shared/httpapi"
)

func main() {
	log.SetFlags(0)
	text, err := json.Marshal(referenceOf(httpapi.OpenAPI(app.Providers())))
	if err != nil {
		log.Fatal(err)
	}
	if _, err := os.Stdout.Write(append(text, '\n')); err != nil {
		log.Fatal(err)
	}
}
