package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"docent/client"
	"docent/shared/apierr"
	"docent/shared/table"
	"docent/shared/team"
)

type teamFlag struct {
	Team string `required:"" placeholder:"ID" help:"The team."`
}

type keyCreateCmd struct {
	installationFlags
	teamFlag
	Kind       string   `required:"" enum:"team,personal,scim" placeholder:"KIND" help:"What the key may do: team, personal or scim."`
	Name       string   `required:"" placeholder:"NAME" help:"Name of the key, 1 to 100 characters."`
	User       string   `placeholder:"USERNAME" help:"The user of a personal key."`
	DataSource []string `placeholder:"ID" sep:"none" without:"all data sources" help:"Limit the key to this data source, such as a collection; may be repeated."`
	Scope      []string `placeholder:"SCOPE" without:"all scopes" enum:"read,ask,write,manage,audit" help:"What the key may do: read (documents and context), ask (questions and answers), write (documents), manage (collections, sources, keys, settings) or audit (security events, usage); may be repeated or separated by commas (default: all that its kind may do)."`
	ActFor     bool     `help:"Let a team key act for people of the team: with --as, or the header Docent-User, it reads what that person may read."`
	Expires    expiry   `placeholder:"TIME" help:"When it expires: after days or hours (90d, 12h), or at a date or RFC 3339 time (default: never)."`
	JSON       bool     `name:"json" help:"Print JSON with the id, kind, name, scopes and secret."`
}

// Help is the long help of docent key create.
func (c *keyCreateCmd) Help() string {
	return `Examples:

    docent key create --team ID --kind team --name "Support bot" --expires 90d
    docent key create --team ID --kind personal --user ada@example.com --name laptop
    docent key create --team ID --kind team --scope read,ask --name "Chat bot"
    docent key create --team ID --kind team --act-for --name "Chat program"
    docent key create --team ID --kind team --data-source COLLECTION --name "Handbook only" --json
    docent key create --aws --stack docent --team ID --kind team --name "Support bot"`
}

// Validate checks what the types of the flags cannot.
func (c *keyCreateCmd) Validate() error {
	if err := c.installationFlags.Validate(); err != nil {
		return err
	}
	if (c.Kind == string(team.KindPersonal)) != (c.User != "") {
		return errors.New("--user is for --kind personal only, which requires it")
	}
	return nil
}

// Run creates the key.
func (c *keyCreateCmd) Run(ctx context.Context, con *console) error {
	return c.existing(ctx, func(teams *team.Service) error {
		wanted := team.NewKey{Kind: team.Kind(c.Kind), Name: c.Name, DataSourceIDs: c.DataSource, ActFor: c.ActFor}
		for _, scope := range c.Scope {
			wanted.Scopes = append(wanted.Scopes, team.Scope(scope))
		}
		if at, ok := c.Expires.from(con.now()); ok {
			wanted.ExpiresAt = &at
		}
		if c.User != "" {
			u, err := teams.UserByName(ctx, c.Team, c.User)
			if err != nil {
				return err
			}
			wanted.UserID = u.ID
		}
		k, secret, err := teams.CreateKey(ctx, c.Team, wanted)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(con.out, struct {
				ID     string       `json:"id"`
				Kind   string       `json:"kind"`
				Name   string       `json:"name"`
				Scopes []team.Scope `json:"scopes"`
				Secret string       `json:"secret"`
			}{k.ID, string(k.Kind), k.Name, k.Scopes, secret})
		}
		return printf(con.out, "Key %s, shown this once:\n%s\n", k.ID, secret)
	})
}

type keyListCmd struct {
	installationFlags
	teamFlag
	JSON bool `name:"json" help:"Print JSON: the API's key objects, newest first."`
}

// Run lists the keys.
func (c *keyListCmd) Run(ctx context.Context, con *console) error {
	return c.existing(ctx, func(teams *team.Service) error {
		if _, err := teams.Team(ctx, c.Team); err != nil {
			return err
		}
		keys := []team.APIKey{}
		for w := (table.Window{Limit: 200}); ; {
			page, err := teams.Keys(ctx, c.Team, w)
			if err != nil {
				return err
			}
			for _, e := range page.Entries {
				keys = append(keys, e.Value)
			}
			if !page.Next {
				break
			}
			w.After = page.Last
		}
		if c.JSON {
			return printJSON(con.out, keys)
		}
		names, err := userNames(ctx, teams, c.Team, keys)
		if err != nil {
			return err
		}
		return printKeys(con, keys, names)
	})
}

// userNames returns the names of the users that have or made keys, by id. A deleted user is not among them.
func userNames(ctx context.Context, teams *team.Service, teamID string, keys []team.APIKey) (map[string]string, error) {
	names := map[string]string{}
	for _, k := range keys {
		for _, id := range []string{k.CreatedBy, userOf(k)} {
			if id == "" || names[id] != "" {
				continue
			}
			u, err := teams.User(ctx, teamID, id)
			if err != nil && !apierr.IsCode(err, apierr.CodeNotFound) {
				return nil, err
			}
			names[id] = cmp.Or(u.UserName, id)
		}
	}
	return names, nil
}

// userOf returns the id of the user of a personal key, or "".
func userOf(k team.APIKey) string {
	if k.UserID == nil {
		return ""
	}
	return *k.UserID
}

func printKeys(con *console, keys []team.APIKey, names map[string]string) error {
	if len(keys) == 0 {
		return printf(con.out, "The team has no keys.\n")
	}
	w := tabwriter.NewWriter(con.out, 0, 0, 2, ' ', 0)
	rows := [][]string{{"ID", "KIND", "NAME", "MAY", "SOURCES", "USER", "BY", "ENDS IN", "CREATED", "EXPIRES", "LAST USED"}}
	for _, k := range keys {
		rows = append(rows, []string{
			k.ID, string(k.Kind), client.Printable(k.Name), scopesText(k), sourcesText(k),
			cmp.Or(client.Printable(names[userOf(k)]), "-"), cmp.Or(client.Printable(names[k.CreatedBy]), "-"), cmp.Or(k.Hint, "-"), date(&k.CreatedAt), date(k.ExpiresAt), date(k.LastUsedAt),
		})
	}
	for _, row := range rows {
		if err := printf(w, "%s\n", strings.Join(row, "\t")); err != nil {
			return err
		}
	}
	return w.Flush()
}

// scopesText returns the scopes of k, or all.
func scopesText(k team.APIKey) string {
	if k.Scopes == nil {
		return "all"
	}
	names := make([]string, len(k.Scopes))
	for i, scope := range k.Scopes {
		names[i] = string(scope)
	}
	return strings.Join(names, ",")
}

// sourcesText returns the data sources that k is restricted to: all, the id of one, or their number.
func sourcesText(k team.APIKey) string {
	switch {
	case k.DataSourceIDs == nil:
		return "all"
	case len(k.DataSourceIDs) == 1:
		return k.DataSourceIDs[0]
	}
	return strconv.Itoa(len(k.DataSourceIDs))
}

func date(t *time.Time) string {
	if t == nil {
		return "never"
	}
	return t.UTC().Format("2006-01-02 15:04")
}

type keyRevokeCmd struct {
	installationFlags
	teamFlag
	ID   string `arg:"" help:"The key's id, as docent key list shows it."`
	JSON bool   `name:"json" help:"Print JSON with the id."`
}

// Run revokes the key.
func (c *keyRevokeCmd) Run(ctx context.Context, con *console) error {
	return c.existing(ctx, func(teams *team.Service) error {
		if err := teams.RevokeKey(ctx, c.Team, c.ID); err != nil {
			return fmt.Errorf("revoke the key: %w", err)
		}
		if c.JSON {
			return printJSON(con.out, map[string]string{"id": c.ID})
		}
		return printf(con.out, "Key %s is revoked.\n", c.ID)
	})
}
