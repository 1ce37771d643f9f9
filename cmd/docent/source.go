package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"docent/cmd/docent/internal/client"
)

type sourceAddCmd struct {
	Provider string `arg:"" help:"github, slack, web, or one that docent source import fills, such as jira or notion."`
	serverFlags
	Name       string   `required:"" placeholder:"NAME" help:"Its name, 1 to 100 characters."`
	Repository []string `placeholder:"OWNER/NAME" help:"github: a repository; may be given up to 100 times."`
	TokenEnv   string   `default:"GITHUB_TOKEN" placeholder:"NAME" help:"github: environment variable with the access token, if one is needed (default ${default})."`
	BaseURL    string   `name:"base-url" placeholder:"URL" help:"github: API of your own GitHub server, by https, such as https://github.example/api/v3."`
	SecretEnv  string   `default:"SLACK_SIGNING_SECRET" placeholder:"NAME" help:"slack: environment variable with the signing secret of the app (default ${default})."`
	URL        []string `name:"url" placeholder:"URL" xor:"pages" help:"web: a page; may be given up to 100 times."`
	Sitemap    string   `placeholder:"URL" xor:"pages" help:"web: a sitemap or an index of sitemaps."`
	JSON       bool     `name:"json" help:"Print the data source as the API's JSON object."`
}

// Help is the long help of docent source add.
func (c *sourceAddCmd) Help() string {
	return `Requires a team admin's personal key. Secrets are read from the environment, so that no list of processes shows them. The server encrypts them and never returns them.

From then on the server syncs github and web automatically; docent source list shows the progress. For github this prints the URL and the secret of a webhook, once: in GitHub choose application/json and the events issues, pull requests, issue comments, review comments and pushes.

Examples:

    GITHUB_TOKEN=$(cat token) docent source add github --name api --repository acme/api --repository acme/web
    docent source add web --name guide --sitemap https://guide.example/sitemap.xml`
}

// settings returns the provider's own settings; the server refuses others.
func (c *sourceAddCmd) settings() map[string]any {
	s := map[string]any{}
	switch c.Provider {
	case "github":
		s["repositories"] = c.Repository
		if token := os.Getenv(c.TokenEnv); token != "" {
			s["accessToken"] = token
		}
		if c.BaseURL != "" {
			s["baseUrl"] = c.BaseURL
		}
	case "slack":
		s["signingSecret"] = os.Getenv(c.SecretEnv)
	case "web":
		if c.Sitemap != "" {
			s["sitemap"] = c.Sitemap
		} else {
			s["urls"] = c.URL
		}
	}
	return s
}

// Run connects the data source.
func (c *sourceAddCmd) Run(ctx context.Context, con *console) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	d, err := api.AddSource(ctx, client.NewSource{Provider: c.Provider, Name: c.Name, Settings: c.settings()})
	if err != nil {
		return err
	}
	if c.JSON {
		return printRaw(con, d.Raw)
	}
	if err := printf(con.out, "Data source %s\n", d.ID); err != nil {
		return err
	}
	switch d.Provider {
	case "github":
		return printf(con.out, "Webhook     %s/webhooks/github/%s\nSecret      %s\n", api.Base(), d.ID, d.WebhookSecret)
	case "slack":
		return printf(con.out, "Events URL  %s/webhooks/slack/%s\n", api.Base(), d.ID)
	}
	return nil
}

type sourceListCmd struct {
	serverFlags
	JSON bool `name:"json" help:"Print JSON."`
}

// Run lists the data sources.
func (c *sourceListCmd) Run(ctx context.Context, con *console) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	all, err := api.DataSources(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(con.out, all)
	}
	slices.Reverse(all) // the oldest first, as they were added
	w := tabwriter.NewWriter(con.out, 0, 0, 2, ' ', 0)
	_, err = fmt.Fprintln(w, "ID\tPROVIDER\tNAME\tSTATE\tLAST SYNC\tNOTE")
	for _, d := range all {
		last := "-"
		if d.LastSync != nil {
			last = d.LastSync.UTC().Format(time.RFC3339)
		}
		_, printed := fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", d.ID, d.Provider, oneLine(client.Printable(d.Name), 40), d.State, last, note(d))
		err = errors.Join(err, printed)
	}
	return errors.Join(err, w.Flush())
}

// note returns the state of a data source, or what went wrong with it.
func note(d client.DataSource) string {
	switch {
	case d.Sync != nil && d.Sync.State != "waiting":
		return oneLine(client.Printable(fmt.Sprintf("%s %s, %d read", d.Sync.State, d.Sync.Part, d.Sync.Read)), 120)
	case d.LastError != nil:
		return oneLine(client.Printable(d.LastError.Code+": "+d.LastError.Detail), 120)
	case d.Sync != nil && d.LastSync != nil:
		return fmt.Sprintf("%d read, %d removed", d.Sync.Read, d.Sync.Removed)
	default:
		return ""
	}
}

type sourceRemoveCmd struct {
	ID string `arg:"" help:"The data source."`
	serverFlags
}

// Help is the long help of docent source remove.
func (c *sourceRemoveCmd) Help() string {
	return `Disconnects the data source and removes all its items from Docent, at once and without confirmation. Requires a team admin's personal key.`
}

// Run removes the data source.
func (c *sourceRemoveCmd) Run(ctx context.Context, con *console) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	if err := api.RemoveSource(ctx, c.ID); err != nil {
		return err
	}
	return printf(con.out, "Removed.\n")
}
