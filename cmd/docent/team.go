package main

import (
	"context"
	"fmt"

	"docent/shared/team"
)

type teamCreateCmd struct {
	installationFlags
	Name  string `required:"" placeholder:"NAME" help:"Name of the team, 1 to 100 characters."`
	Admin string `required:"" placeholder:"USERNAME" help:"User name of its first user, an admin."`
	JSON  bool   `name:"json" help:"Print JSON: the team, the user, and the user's personal key with its secret."`
}

// Help is the long help of docent team create.
func (c *teamCreateCmd) Help() string {
	return `Examples:

    docent team create --name "Platform" --admin ada@example.com
    docent team create --data /var/lib/docent --name Platform --admin ada@example.com --json
    docent team create --aws --stack docent --name Platform --admin ada@example.com`
}

// madeTeam is the JSON of docent team create.
type madeTeam struct {
	Team struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"team"`
	User struct {
		ID       string `json:"id"`
		UserName string `json:"userName"`
	} `json:"user"`
	Key struct {
		ID     string `json:"id"`
		Kind   string `json:"kind"`
		Secret string `json:"secret"` // the whole key
	} `json:"key"`
}

// Run creates the team.
func (c *teamCreateCmd) Run(ctx context.Context, con *console) error {
	missing := !c.AWS && c.missing()
	return c.teams(ctx, func(teams *team.Service) error {
		if missing {
			if err := printf(con.err, "docent: made the data folder %s\n", c.Data); err != nil {
				return err
			}
		}
		t, u, err := teams.CreateTeam(ctx, c.Name, c.Admin)
		if err != nil {
			return err
		}
		k, secret, err := teams.CreateKey(ctx, t.ID, team.NewKey{
			Kind: team.KindPersonal, Name: "First admin key", UserID: u.ID,
		})
		if err != nil {
			return fmt.Errorf("the team %s was created, but its admin's key was not; create it with: "+
				"docent key create --team %s --kind personal --user %q --name NAME: %w", t.ID, t.ID, u.UserName, err)
		}
		var made madeTeam
		made.Team.ID, made.Team.Name = t.ID, t.Name
		made.User.ID, made.User.UserName = u.ID, u.UserName
		made.Key.ID, made.Key.Kind, made.Key.Secret = k.ID, string(k.Kind), secret
		if c.JSON {
			return printJSON(con.out, made)
		}
		return printf(con.out, "Team %s: %s\nAdmin %s: %s\nPersonal key %s, shown this once:\n%s\n",
			t.Name, t.ID, u.UserName, u.ID, k.ID, secret)
	})
}
