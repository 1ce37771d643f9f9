package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/alecthomas/kong"

	"docent/client"
	"docent/shared/source"
)

type sourceAddCmd struct {
	Provider string `arg:"" help:"The provider: one that has settings or a webhook (${configured}), or one that is filled by docent source import, such as linear or coda."`
	serverFlags
	Name  string       `placeholder:"NAME" help:"What to call it, 1 to 100 characters."`
	Flags kong.Plugins `embed:""` // of the providers' settings
	JSON  bool         `name:"json" help:"Print the data source as the API's JSON object."`

	providers []source.Provider
	flags     providerFlags
}

// setUp gives the command the flags of the providers; kong parses them.
func (c *sourceAddCmd) setUp(providers []source.Provider) {
	c.providers, c.flags = providers, newProviderFlags(providers)
	c.Flags = c.flags.plugins
}

// providerNamed returns the provider with that name, and whether this program knows it. For an unknown one, which the
// server may know, only the name is set.
func providerNamed(providers []source.Provider, name string) (source.Provider, bool) {
	for _, p := range providers {
		if string(p.Name) == name {
			return p, true
		}
	}
	return source.Provider{Name: source.ProviderName(name)}, false
}

// Help is the long help of docent source add.
func (c *sourceAddCmd) Help() string {
	var guides strings.Builder
	for _, p := range c.providers {
		if p.Webhook != nil {
			fmt.Fprintf(&guides, " For %s: %s.", p.Name, p.Webhook.Guide)
		}
	}
	return `Requires a team admin's personal key. Secrets are read from environment variables, so that no process list shows them; the server encrypts them and never returns them. On a terminal the command asks for the settings that no flag and no variable gives, without showing secrets.

The server asks the provider at once whether it can read what the settings name. What it cannot, such as a rejected token, a missing scope or a repository that is not there, is an error, and nothing is connected.

From then on a server syncs sources of ` + providerNames(c.providers, func(p source.Provider) bool { return p.Opener != nil }) + `: docent source list shows progress and errors. If the provider sends webhooks, the command prints their URL and, this once, the secret that Docent makes to sign them.` + guides.String() + `

Examples:

    GITHUB_TOKEN=$(cat token) docent source add github --name api --repository acme/api --repository acme/web
    docent source add web --name guide --sitemap https://guide.example/sitemap.xml`
}

// Run connects the data source.
func (c *sourceAddCmd) Run(ctx context.Context, con *console) error {
	api, err := c.client(con)
	if err != nil {
		return err
	}
	p, known := providerNamed(c.providers, c.Provider)
	if err := c.flags.check(p); err != nil {
		return err
	}
	d, sent, err := c.add(ctx, con, api, p)
	if err != nil {
		return c.flags.explained(p, sent, err)
	}
	if c.JSON {
		return printRaw(con, d.Raw)
	}
	if err := printf(con.out, "Data source %s\n", d.ID); err != nil {
		return err
	}
	if hook := p.Webhook; hook != nil {
		if err := printf(con.out, "%-11s %s/webhooks/%s/%s\n", hook.Label, api.Base(), d.Provider, d.ID); err != nil {
			return err
		}
	}
	if d.WebhookSecret != "" {
		if err := printf(con.out, "Secret      %s\n", d.WebhookSecret); err != nil {
			return err
		}
	}
	if known && !p.IsSynced(source.NewSettings(sent), secretsOf(p, sent)) {
		also := ""
		if p.Webhook != nil {
			also = ", or by its webhook"
		}
		if err := printf(con.out, "It reads nothing itself: fill it with docent source import %s FILE%s\n", d.ID, also); err != nil {
			return err
		}
	}
	if d.LastError != nil {
		return printf(con.err, "docent: it was connected, but could not be checked now: %s\n", client.Printable(d.LastError.Detail))
	}
	return nil
}

// secretsOf returns the secrets among the settings that were sent.
func secretsOf(p source.Provider, sent map[string]any) source.Secrets {
	secrets := source.Secrets{}
	for _, s := range p.Settings {
		if text, ok := sent[s.Name].(string); ok && s.Kind == source.Secret {
			secrets[s.Name] = text
		}
	}
	return secrets
}

type sourceListCmd struct {
	serverFlags
	JSON bool `name:"json" help:"Print JSON."`
}

// Run lists the data sources.
func (c *sourceListCmd) Run(ctx context.Context, con *console) error {
	api, err := c.client(con)
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
	case d.LastError != nil: // also while another sync runs
		return oneLine(client.Printable(d.LastError.Code+": "+d.LastError.Detail), 120)
	case d.Sync != nil && d.Sync.State != "waiting":
		return oneLine(client.Printable(fmt.Sprintf("%s, %d read", strings.TrimSpace(d.Sync.State+" "+d.Sync.Part), d.Sync.Read)), 120)
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
	api, err := c.client(con)
	if err != nil {
		return err
	}
	if err := api.RemoveSource(ctx, c.ID); err != nil {
		return err
	}
	return printf(con.out, "Removed.\n")
}
