package main

import (
	"context"
	"errors"
	"os/exec"
	"runtime"
	"strings"

	"docent/client"
	"docent/shared/apierr"
	"docent/shared/app"
	"docent/shared/app/parts/operator"
	"docent/shared/team"
)

// signinFlags name the user to sign in, and the server.
type signinFlags struct {
	installationFlags
	Team   string `placeholder:"ID" without:"the only team" help:"The team (default: the only one). On this machine it is checked when the link is used."`
	User   string `placeholder:"USERNAME" without:"the team's first admin" help:"The user, on AWS only (default: the team's first admin)."`
	Server string `default:"${server}" env:"DOCENT_SERVER" placeholder:"URL" help:"Address of the API, ending in /v1 (default ${default}; on AWS: the stack's)."`
}

// Validate checks what the types of the flags cannot. If the server's address has no path, the API's path is added, as for other commands.
func (c *signinFlags) Validate() (err error) {
	if c.Server, err = client.BaseURL(c.Server); err != nil {
		return err
	}
	if c.User != "" && !c.AWS {
		return errors.New("--user requires --aws: on this machine the link is for the team's first admin")
	}
	return c.installationFlags.Validate()
}

// link makes a one-time link and returns it.
func (c *signinFlags) link(ctx context.Context, con *console) (string, error) {
	if c.AWS {
		return c.linkOnAWS(ctx)
	}
	// The data is in use while the server runs, so the link is a file next to it.
	if err := c.exists(); err != nil {
		return "", err
	}
	code, err := app.Invite(c.Data, team.Invitation{TeamID: c.Team, ExpiresAt: con.now().Add(team.LinkLife)})
	return app.SignInURL(c.Server, code), ofData(err, c.Data)
}

func (c *signinFlags) linkOnAWS(ctx context.Context) (string, error) {
	stack, err := operator.Open(ctx, stackName(c.Stack))
	if err != nil {
		return "", err
	}
	teamID := c.Team
	if teamID == "" {
		ids, err := stack.Teams.IDs(ctx, "", 2)
		if err != nil {
			return "", err
		}
		if len(ids) != 1 {
			return "", errors.New("the installation does not have exactly one team; name one with --team")
		}
		teamID = ids[0]
	}
	user, err := stack.Teams.FirstAdmin(ctx, teamID)
	if c.User != "" {
		user, err = stack.Teams.UserByName(ctx, teamID, c.User)
	}
	if apierr.IsCode(err, apierr.CodeNotFound) {
		return "", errors.New("the team has no such active user")
	}
	if err != nil {
		return "", err
	}
	code, _, err := stack.Teams.Invite(ctx, teamID, user.ID)
	server := c.Server
	if server == client.DefaultServer {
		server = stack.BaseURL
	}
	return app.SignInURL(server, code), err
}

type signinCmd struct {
	signinFlags
	JSON bool `name:"json" help:"Print JSON with the URL."`
}

// Help is the long help of docent signin.
func (c *signinCmd) Help() string {
	return `The link signs a browser in once, within 15 minutes. It works also if the team requires single sign-on. The server may be running.

Examples:

    docent signin
    docent signin --data /var/lib/docent --server https://docent.example/v1
    docent signin --aws --stack docent --user ada@example.com`
}

// Run prints the link.
func (c *signinCmd) Run(ctx context.Context, con *console) error {
	url, err := c.link(ctx, con)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(con.out, map[string]string{"url": url})
	}
	return printf(con.out, "%s\n", url)
}

type openCmd struct{ signinFlags }

// Help is the long help of docent open.
func (c *openCmd) Help() string {
	return `Opens the dashboard in the browser of this machine, signed in.

Examples:

    docent open
    docent open --aws --stack docent`
}

// Run opens the link, or prints it if no browser can be started.
func (c *openCmd) Run(ctx context.Context, con *console) error {
	url, err := c.link(ctx, con)
	if err != nil {
		return err
	}
	name, args := opener(runtime.GOOS, url)
	//nolint:gosec // the program is a constant, and the argument is the link
	if err := exec.CommandContext(ctx, name, args...).Run(); err != nil {
		return printf(con.out, "No browser could be started. Open this link:\n%s\n", url)
	}
	return printf(con.out, "Opened %s\n", strings.SplitN(url, "#", 2)[0])
}

// opener returns the command that opens url on an operating system.
func opener(system, url string) (string, []string) {
	switch system {
	case "darwin":
		return "open", []string{url}
	case "windows":
		return "rundll32", []string{"url.dll,FileProtocolHandler", url}
	default:
		return "xdg-open", []string{url}
	}
}
