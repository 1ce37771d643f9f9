// Command providers prints what the dashboard makes its forms of data sources from: the
// providers and their settings, as JSON.
package main

import (
	"bytes"
	"encoding/json"
	"log"
	"os"

	"docent/shared/app"
	"docent/shared/source"
)

func main() {
	log.SetFlags(0)
	text, err := formsOf(app.Providers())
	if err != nil {
		log.Fatal(err)
	}
	if _, err := os.Stdout.Write(text); err != nil {
		log.Fatal(err)
	}
}

// formsOf returns the JSON that the dashboard bundles.
func formsOf(providers []source.Provider) ([]byte, error) {
	forms := make([]form, 0, len(providers))
	for _, p := range providers {
		forms = append(forms, formOf(p))
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "\t")
	err := e.Encode(forms)
	return text.Bytes(), err
}
