package main

import "docent/shared/app"

type openapiCmd struct{}

// Run prints the document.
func (c *openapiCmd) Run(con *console) error {
	document, err := app.OpenAPI()
	if err != nil {
		return err
	}
	_, err = con.out.Write(document)
	return err
}
