package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/alecthomas/kong"

	"docent/client"
	"docent/shared/source"
)

type sourceSetCmd struct {
	ID string `arg:"" help:"The data source."`
	serverFlags
	Name  *string      `placeholder:"NAME" help:"What to call it, 1 to 100 characters."`
	Flags kong.Plugins `embed:""` // of the providers' settings
	Unset []string     `placeholder:"SETTING" help:"A setting or secret to remove, by the name that the API has for it, such as baseUrl or accessToken; may be repeated."`

	providers []source.Provider
	flags     providerFlags
}

// setUp gives the command the flags of the providers; kong parses them.
func (c *sourceSetCmd) setUp(providers []source.Provider) {
	c.providers, c.flags = providers, newProviderFlags(providers)
	c.Flags = c.flags.plugins
}

// Help is the long help of docent source set.
func (c *sourceSetCmd) Help() string {
	return `Settings that no flag names stay as they are. A list, such as the repositories, replaces the one before: what stays in it is not read again, what is new is read, and the items of what is left out are removed. A secret is changed only if its flag names an environment variable. The server checks new settings at the provider before it stores them. Requires a team admin's personal key.

Examples:

    docent source set $SOURCE --repository acme/api --repository acme/web
    NEW_TOKEN=$(cat token) docent source set $SOURCE --token-env NEW_TOKEN`
}

// Run changes the data source.
func (c *sourceSetCmd) Run(ctx context.Context, con *console) error {
	api, err := c.client(con)
	if err != nil {
		return err
	}
	all, err := api.DataSources(ctx)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(all, func(d client.DataSource) bool { return d.ID == c.ID })
	if at < 0 {
		return errors.New("there is no such data source")
	}
	change, err := c.change(all[at].Provider)
	if err != nil {
		return err
	}
	if _, err := api.ChangeSource(ctx, c.ID, change); err != nil {
		p, _ := providerNamed(c.providers, all[at].Provider)
		return c.flags.explained(p, nil, err)
	}
	return printf(con.out, "Changed.\n")
}

// change returns the change that the flags describe.
func (c *sourceSetCmd) change(provider string) (client.SourceChange, error) {
	change := client.SourceChange{Name: c.Name, Settings: map[string]any{}}
	p, known := providerNamed(c.providers, provider)
	if err := c.flags.check(p); err != nil {
		return change, err
	}
	var err error
	if change.Settings, err = c.flags.changed(p); err != nil {
		return change, err
	}
	for _, name := range c.Unset {
		// Of a provider that only the server knows, the server decides.
		if known && !slices.ContainsFunc(p.Settings, func(s source.Setting) bool { return s.Name == name }) {
			return change, usageError{fmt.Errorf("--unset: %s is not a setting of %s", name, provider)}
		}
		if change.Settings[name] != nil {
			return change, usageError{fmt.Errorf("%s cannot be set and removed", name)}
		}
		change.Settings[name] = nil
	}
	if change.Name == nil && len(change.Settings) == 0 {
		return change, usageError{errors.New("nothing to change")}
	}
	return change, nil
}

type sourcePauseCmd struct {
	ID string `arg:"" help:"The data source."`
	serverFlags
}

// Help is the long help of docent source pause.
func (c *sourcePauseCmd) Help() string {
	return `A running sync stops with its next page. Items that were read stay, and can be searched. Deliveries of webhooks are acknowledged and change nothing: after the pause, a sync reads what has changed. Requires a team admin's personal key.`
}

// Run pauses the data source.
func (c *sourcePauseCmd) Run(ctx context.Context, con *console) error {
	return setPaused(ctx, con, c.serverFlags, c.ID, true)
}

type sourceResumeCmd struct {
	ID string `arg:"" help:"The data source."`
	serverFlags
}

// Help is the long help of docent source resume.
func (c *sourceResumeCmd) Help() string {
	return `A sync continues at once where the last one stopped. Requires a team admin's personal key.`
}

// Run resumes the data source.
func (c *sourceResumeCmd) Run(ctx context.Context, con *console) error {
	return setPaused(ctx, con, c.serverFlags, c.ID, false)
}

func setPaused(ctx context.Context, con *console, flags serverFlags, id string, paused bool) error {
	api, err := flags.client(con)
	if err != nil {
		return err
	}
	if !paused {
		all, err := api.DataSources(ctx)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(all, func(d client.DataSource) bool { return d.ID == id && d.State != string(source.Paused) }) {
			return printf(con.out, "It is not paused.\n")
		}
	}
	var refused *client.Error
	_, err = api.ChangeSource(ctx, id, client.SourceChange{Paused: &paused})
	switch {
	case errors.As(err, &refused) && len(refused.Fields) == 1 && refused.Fields[0].Pointer == "/paused":
		return errors.New("nothing syncs this data source, so it cannot be paused; docent source import or a webhook fills it")
	case err != nil:
		return err
	}
	if paused {
		return printf(con.out, "Paused.\n")
	}
	return printf(con.out, "Resumed.\n")
}
